//! A grant whose commit failed has granted nothing, and has changed nothing about the owner before it (S2, S6).

use keyledger::{Decision, Error, Operation};
use keyledger_harness::disk::FakeDisk;

use super::commands::{acquired, ask};
use super::journal::Journal;
use super::names::{CHARGE, LEASE_MS, MAIL, OWNER_LOST, id};
use super::world::World;

const START_MS: u64 = 1_800_000_000_000;

fn world() -> World {
    World::open(&FakeDisk::new(), START_MS, Journal::new()).expect("it opens")
}

/// The sync of the next commit fails. What it was to sync is shown all the same: opened again, the commit has landed.
fn fail_next_sync(world: &World) {
    world.disk.stop_at_sync(1);
}

fn reopen(world: &World) {
    world.disk.heal();
    world.ledger.reopen().expect("it opens again");
}

fn begin(world: &World, operation: &'static Operation) -> Result<Decision, Error> {
    world.ledger.begin_with(&ask(operation, "key"))
}

fn recovery_fails(world: &World, operation: &'static Operation) {
    fail_next_sync(world);
    assert!(matches!(world.ledger.recover(operation, 1), Err(Error::Ambiguous(_))));
    reopen(world);
}

#[test]
fn s6_a_begin_whose_commit_failed_is_granted_when_it_is_asked_again() {
    for operation in [&CHARGE, &MAIL] {
        let world = world();
        fail_next_sync(&world);
        assert!(matches!(begin(&world, operation), Err(Error::Ambiguous(_))));
        reopen(&world);
        drop(acquired(begin(&world, operation).expect("an answer")));
    }
}

#[test]
fn s6_a_recovery_whose_commit_failed_leaves_an_at_most_once_record_parked_for_a_person() {
    let world = world();
    let owner = acquired(begin(&world, &MAIL).expect("an answer"));
    world.pass(LEASE_MS);
    recovery_fails(&world, &MAIL);
    let decision = begin(&world, &MAIL).expect("an answer");
    let lost = matches!(&decision, Decision::Parked(parked) if parked.reason.as_str() == OWNER_LOST);
    assert!(lost, "the mail may have been sent, and nobody has looked: {decision:?}");
    drop(owner);
}

#[test]
fn s6_a_record_whose_recovery_failed_is_handed_out_again() {
    let world = world();
    let owner = acquired(begin(&world, &CHARGE).expect("an answer"));
    world.pass(LEASE_MS);
    recovery_fails(&world, &CHARGE);
    assert_eq!(world.ledger.recover(&CHARGE, 9).expect("claims").len(), 1);
    drop(owner);
}

#[test]
fn s2_a_dropped_claim_stays_dropped_whichever_call_of_its_recovery_fails() {
    for call in 1..200 {
        let world = world();
        drop(acquired(begin(&world, &CHARGE).expect("an answer")));
        world.disk.fail_call(call);
        let recovered = world.ledger.recover(&CHARGE, 9);
        if !world.disk.has_failed() {
            return assert_eq!(recovered.expect("claims").len(), 1);
        }
        reopen(&world);
        drop(recovered);
        let record = world.ledger.inspect(&id(&CHARGE, "key")).expect("an answer").expect("a record");
        assert!(record.is_lapsed(), "call {call}: its owner is gone: {record:?}");
        drop(acquired(begin(&world, &CHARGE).expect("an answer")));
    }
    panic!("recovery takes too many calls");
}

#[test]
fn s6_what_a_failed_begin_stored_is_released_although_the_first_reopen_fails_too() {
    for call in 1..200 {
        let world = world();
        fail_next_sync(&world);
        assert!(matches!(begin(&world, &MAIL), Err(Error::Ambiguous(_))));
        world.disk.heal();
        world.disk.fail_call(call);
        let reopened = world.ledger.reopen();
        if !world.disk.has_failed() {
            return reopened.expect("nothing fails");
        }
        reopen(&world);
        drop(acquired(begin(&world, &MAIL).expect("an answer")));
    }
    panic!("opening again takes too many calls");
}
