//! P3: a forked child has none of its parent's threads, and neither stops a driver of the parent's nor waits for it.

use super::forks::{NOT_WELL, WELL, status_of};
use fork::{Fork, fork};
use keyledger::{Delivery, DeliveryOutcome, Driver, Enqueue, Error, Ledger, Response, Scope};
use std::time::Duration;

#[test]
fn p3_a_child_neither_stops_its_parents_driver_nor_waits_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    for is_shared in [false, true] {
        let builder = if is_shared { Ledger::builder().shared() } else { Ledger::builder() };
        let ledger = builder.open(folder.path().join(is_shared.to_string())).expect("a ledger");
        let outbox = ledger.outbox().open().expect("an outbox");
        let scope = Scope::single();
        let send = |_: &Delivery| DeliveryOutcome::yes(Response::text("done"));
        let (dropped, stopped) =
            (Driver::new(&outbox, &scope, send).start().unwrap(), Driver::new(&outbox, &scope, send).start().unwrap());
        let (mut dropped, mut stopped) = (Some(dropped), Some(stopped));
        let enqueue = |what: &str| outbox.enqueue(&Enqueue::new(&scope, "pay", "", what)).expect("room").entry.id();
        let before = enqueue("before");
        assert!(outbox.wait(before, Duration::from_secs(20)).unwrap().is_yes());
        match fork().expect("a fork") {
            Fork::Child => {
                drop(dropped.take());
                let told = stopped.take().is_some_and(|handle| {
                    !handle.is_running() && handle.stop().is_err_and(|error| matches!(error.source, Error::Forked))
                });
                std::process::exit(if told { WELL } else { NOT_WELL });
            }
            Fork::Parent(pid) => assert_eq!(status_of(pid), Some(WELL), "shared: {is_shared}"),
        }
        assert!(outbox.wait(enqueue("after"), Duration::from_secs(20)).unwrap().is_yes());
        assert!(stopped.take().unwrap().is_running() && dropped.take().unwrap().stop().is_ok());
    }
}
