//! What must hold of a ledger that was opened again after a loss of power (I1 to I9).

use std::collections::BTreeMap;

use keyledger::{Decision, Fingerprint, KeyId, Outcome, StateName};
use keyledger_harness::disk::FakeDisk;

use super::commands::acquired;
use super::names::{self, CHARGE, LEASE_MS, MAIL, RETENTION_MS, TOMBSTONE_MS, WALLET};
use super::world::{Start, World};

/// Opens the ledger as the next process does, and looks at everything. I9: what a loss of power leaves is no damage.
pub(crate) fn hold_after_power_loss(left: Start) {
    let mut world = World::open(&FakeDisk::of(left.image), left.wall_ms, left.journal).expect("I9: it is not refused");
    world.compare().expect("it can be read");
    sweep_all(&mut world);
    world.compare().expect("it can be read");
    let ids: Vec<KeyId> = world.journal.records.keys().cloned().collect();
    for id in &ids {
        answers(&world, id);
    }
    goes_on(&mut world);
    owners_are_found(&mut world);
    released_ones_run_again(&mut world);
    time_takes_all_but_the_parked(&mut world);
}

/// I7: counters, index rows and records agree.
fn sweep_all(world: &mut World) {
    let (due, mut swept) = (world.ledger.stats().expect("stats").due.count, 0);
    loop {
        let batch = world.ledger.sweep(5).expect("a sweep");
        swept += batch.tombstoned + batch.removed;
        if !batch.more {
            break;
        }
    }
    // One that is past retention and tombstone at once may be met once more on its way.
    assert_eq!(swept, due, "I7: a sweep does what stats said was due");
    counts_agree(world);
}

fn counts_agree(world: &World) {
    let stats = world.ledger.stats().expect("stats");
    assert_eq!(stats.due.count, 0);
    let now = world.now();
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    for sketch in world.journal.records.values().filter_map(|sketch| sketch.aged(now)) {
        let counts_as = if sketch.waits_for_a_person(now) { StateName::Parked } else { sketch.state };
        *counted.entry(counts_as.as_str()).or_default() += 1;
    }
    let told = [
        ("in_progress", stats.in_progress),
        ("released", stats.released),
        ("completed", stats.completed),
        ("failed", stats.failed),
        ("parked", stats.parked),
        ("tombstone", stats.tombstones),
    ];
    assert_eq!(counted, told.into_iter().filter(|(_, count)| *count > 0).collect(), "I7: stats tell what there is");
}

/// I1, I2, I3, I8: a key that has an outcome, an owner, or a person to wait for is not granted.
fn answers(world: &World, id: &KeyId) {
    let sketch = world.journal.records[id].clone();
    let held = sketch.lease_ends.iter().min().is_some_and(|end| *end > world.now());
    if sketch.state == StateName::Released || (sketch.state == StateName::InProgress && !held) {
        return;
    }
    let decision = world.ask_about(id).expect("an answer");
    let fits = match (&decision, sketch.state) {
        (Decision::Replay(replay), StateName::Completed) => {
            Some(&replay.response) == sketch.response.as_ref() && replay.outcome == Outcome::Completed
        }
        (Decision::Replay(replay), StateName::Failed) => {
            Some(&replay.response) == sketch.response.as_ref() && replay.outcome == Outcome::Failed
        }
        (Decision::Parked(parked), StateName::Parked) => Some(parked.reason.as_str()) == sketch.reason.as_deref(),
        (Decision::InProgress(_), StateName::InProgress) | (Decision::Gone, StateName::Tombstone) => true,
        _ => false,
    };
    assert!(fits, "{id}: {sketch:?} answers {decision:?}");
    let other = Fingerprint::of_bytes(&[b"something else"]);
    let decision = world.ledger.begin(names::operation_of(id), id.scope(), id.key(), other).expect("an answer");
    let refused = matches!(decision, Decision::Mismatch | Decision::Gone);
    assert!(refused, "{id}: another request under the same key is told {decision:?}");
}

/// I5: whatever is granted now has a fence above all that were granted before. The ledger is of use.
fn goes_on(world: &mut World) {
    for (operation, name) in [(&WALLET, "after 1"), (&CHARGE, "after 2"), (&MAIL, "after 3")] {
        world.begin(operation, name, b"life goes on").expect("a claim");
        world.complete(name, "and on").expect("an outcome");
    }
    world.compare().expect("it can be read");
}

/// Every owner that is lost is found by recovery, once; its record has memo and steps still.
fn owners_are_found(world: &mut World) {
    world.pass(2 * LEASE_MS);
    let now = world.now();
    for operation in names::ALL {
        let ours = |id: &KeyId| id.operation().as_str() == operation.name();
        let aged = world.journal.records.iter().filter_map(|(id, sketch)| Some((id.clone(), sketch.aged(now)?)));
        let lost: BTreeMap<KeyId, _> = aged.filter(|(id, sketch)| ours(id) && sketch.is_open_to_recovery()).collect();
        let claims = world.ledger.recover(operation, 100).expect("claims");
        let found: Vec<&KeyId> = claims.iter().map(keyledger::Claim::key_id).collect();
        assert_eq!(found.len(), lost.len(), "{found:?}");
        assert!(found.iter().all(|id| lost.contains_key(id)), "I7: recovery finds the lost ones: {found:?}");
        for claim in claims {
            let (id, old) = (claim.key_id().clone(), &lost[claim.key_id()]);
            assert_eq!((claim.memo(), claim.attempt()), (old.memo.as_slice(), old.attempt + 1));
            assert_eq!(claim.steps().len(), old.steps.len());
            let taken = super::journal::Change::record(&id, old.granted_again(b"", now));
            world.journal.expect(vec![taken]);
            world.journal.acknowledge();
            world.keep("lost", claim);
            world.complete("lost", "found").expect("an outcome");
        }
    }
    world.compare().expect("it can be read");
}

fn released_ones_run_again(world: &mut World) {
    let now = world.now();
    let aged = world.journal.records.iter().filter_map(|(id, sketch)| Some((id.clone(), sketch.aged(now)?)));
    let released: Vec<_> = aged.filter(|(_, sketch)| sketch.state == StateName::Released).collect();
    for (id, old) in released {
        let claim = acquired(world.ask_about(&id).expect("an answer"));
        assert_eq!((claim.attempt(), claim.memo()), (old.attempt + 1, old.memo.as_slice()), "{id}");
        world.journal.told_fence(&id, claim.fence());
        claim.complete(keyledger::Response::text("run again")).expect("an outcome");
    }
}

/// I6: in the end a sweep leaves what is parked, and nothing else.
fn time_takes_all_but_the_parked(world: &mut World) {
    world.pass(RETENTION_MS + TOMBSTONE_MS);
    while world.ledger.sweep(50).expect("a sweep").more {}
    let stats = world.ledger.stats().expect("stats");
    let parked = world.journal.records.values().filter(|sketch| sketch.state == StateName::Parked).count() as u64;
    let others = stats.in_progress + stats.released + stats.completed + stats.failed + stats.tombstones;
    assert_eq!((stats.parked, others, stats.due.count), (parked, 0, 0), "I6");
    assert_eq!(world.ledger.list(&keyledger::Filter::all()).expect("a page").records.len() as u64, parked);
}
