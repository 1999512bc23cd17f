//! Power fails at every sync of a story; another process goes on, and the effect happens once (O1, O2, O4, O5, O9).

use std::collections::BTreeMap;
use std::time::Duration;

use keyledger::{DeliveryOutcome, EntryFilter, EntryStateName, Response, Result};
use keyledger_harness::disk::{Crash, FakeDisk};

use crate::stage::Stage;

/// How far the story got before the power failed.
#[derive(Debug, Default)]
struct Told {
    /// Purposes whose `enqueue` returned, and their keys.
    enqueued: BTreeMap<String, String>,
    /// Keys that the server acted on, and how often it was asked.
    acted: BTreeMap<String, u32>,
    /// Keys whose answer was stored.
    answered: Vec<String>,
}

const PURPOSES: [&str; 3] = ["one", "two", "three"];

/// Three requests are stored, and sent; the first answer of each is lost, the second one is told.
fn story(stage: &Stage, told: &mut Told) -> Result<()> {
    for purpose in PURPOSES {
        let enqueued = stage.outbox.enqueue(&stage.request(purpose))?;
        told.enqueued.insert(purpose.to_owned(), enqueued.entry.key().as_str().to_owned());
    }
    for _ in 0..2 * PURPOSES.len() {
        stage.pass(Duration::from_mins(2));
        for delivery in stage.outbox.lease_due(&stage.scope, 2)? {
            // The bytes leave only when `lease_due` has returned.
            let key = delivery.key().as_str().to_owned();
            let asked = told.acted.entry(key.clone()).or_insert(0);
            *asked += 1;
            if *asked == 1 {
                delivery.settle(DeliveryOutcome::retry("timeout"))?;
            } else {
                delivery.settle(DeliveryOutcome::yes(Response::text("done")))?;
                told.answered.push(key);
            }
        }
    }
    Ok(())
}

fn syncs_of_the_story() -> u64 {
    let stage = Stage::new();
    let before = stage.disk.counts().syncs;
    let mut told = Told::default();
    story(&stage, &mut told).unwrap();
    assert_eq!(told.answered.len(), PURPOSES.len(), "the story is told to its end");
    stage.disk.counts().syncs - before
}

#[test]
fn i4_the_power_fails_at_every_sync_and_the_effect_happens_once() {
    let syncs = syncs_of_the_story();
    assert!(syncs >= 12, "{syncs} syncs");
    for number in 1..=syncs {
        for crash in [Crash::LosesAll, Crash::KeepsAll, Crash::KeepsSome(number)] {
            after_a_failure(number, crash);
        }
    }
}

fn after_a_failure(number: u64, crash: Crash) {
    let stage = Stage::new();
    stage.disk.stop_at_sync(number);
    let mut told = Told::default();
    story(&stage, &mut told).expect_err("the story ends when the power fails");
    let stage = Stage::on(FakeDisk::of(stage.disk.crash(crash)), stage.clock.clone());
    let at = format!("sync {number}, {crash:?}, {told:?}");
    let found = stage.outbox.list(&EntryFilter::all()).unwrap().entries;
    for (purpose, key) in &told.enqueued {
        let entry = found.iter().find(|entry| entry.purpose() == Some(purpose)).expect("O1: it was stored");
        assert_eq!(entry.key().as_str(), key, "O2: {at}");
        let request = stage.outbox.request(entry.id()).unwrap().unwrap();
        assert_eq!(request, ("text/plain".into(), format!("request of {purpose}").into_bytes()), "O2: {at}");
    }
    for entry in &found {
        let asked = told.acted.get(entry.key().as_str()).copied().unwrap_or(0);
        // A lease is on disk before the bytes leave: whoever cancels after them is told the truth.
        assert!(asked == 0 || entry.may_have_taken_effect() || entry.is_settled(), "O4: {at}");
        if told.answered.contains(&entry.key().as_str().to_owned()) {
            assert_eq!(entry.state(), EntryStateName::Answered, "O5: {at}");
        }
    }
    story(&stage, &mut told).unwrap();
    let found = stage.outbox.list(&EntryFilter::all()).unwrap().entries;
    assert_eq!(found.len(), PURPOSES.len(), "O3: {at}");
    assert!(found.iter().all(keyledger::EntryView::is_yes), "{at}");
    assert_eq!(told.acted.len(), PURPOSES.len(), "one key for each purpose: {at}");
    assert!(stage.ledger.check().unwrap().is_well(), "I7: {at}");
}

/// Every call of the disk fails once: no answer is told that is not stored, and nothing is lost.
#[test]
fn s6_any_call_of_the_disk_fails_once_and_the_story_goes_on() {
    let calls = {
        let stage = Stage::new();
        let before = stage.disk.counts().calls;
        story(&stage, &mut Told::default()).unwrap();
        stage.disk.counts().calls - before
    };
    let mut failed = 0;
    for number in 1..=calls {
        let stage = Stage::new();
        stage.disk.fail_call(number);
        let mut told = Told::default();
        if story(&stage, &mut told).is_err() {
            failed += 1;
            stage.disk.heal();
            stage.ledger.reopen().unwrap();
            story(&stage, &mut told).unwrap();
        }
        let found = stage.outbox.list(&EntryFilter::all()).unwrap().entries;
        assert_eq!(found.len(), PURPOSES.len(), "call {number}");
        assert!(found.iter().all(keyledger::EntryView::is_yes), "call {number}: {told:?}");
        assert_eq!(told.acted.len(), PURPOSES.len(), "call {number}");
    }
    assert!(failed > 10, "{failed} of {calls} calls were noticed");
}
