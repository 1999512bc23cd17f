//! The operations of the workload, and how its keys are named.

use std::time::Duration;

use keyledger::{Fingerprint, Key, KeyId, Operation, Scope};

pub(crate) const LEASE_MS: u64 = 30_000;
pub(crate) const RETENTION_MS: u64 = 3_600_000;
pub(crate) const TOMBSTONE_MS: u64 = 3_600_000;
pub(crate) const OWNER_LOST: &str = "owner lost";

pub(crate) static WALLET: Operation = declared(Operation::in_ledger("wallet"));
pub(crate) static CHARGE: Operation = declared(Operation::repeatable("charge"));
pub(crate) static MAIL: Operation = declared(Operation::at_most_once("mail"));
/// Leaves no tombstone.
pub(crate) static NOTE: Operation = declared(Operation::repeatable("note")).tombstone(Duration::ZERO);
pub(crate) static ALL: [&Operation; 4] = [&WALLET, &CHARGE, &MAIL, &NOTE];

/// The tables that the workload writes to.
pub(crate) const TABLES: [&str; 3] = ["accounts", "grants", "orders"];

const fn declared(operation: Operation) -> Operation {
    let operation = operation.lease(Duration::from_millis(LEASE_MS)).retention(Duration::from_millis(RETENTION_MS));
    operation.tombstone(Duration::from_millis(TOMBSTONE_MS))
}

pub(crate) fn tombstone_ms(operation: &Operation) -> u64 {
    if operation.name() == NOTE.name() { 0 } else { TOMBSTONE_MS }
}

pub(crate) fn operation_of(id: &KeyId) -> &'static Operation {
    ALL.into_iter().find(|operation| operation.name() == id.operation().as_str()).expect("one of ours")
}

/// The scope is part of a key's name here: `cafe-1` is a key of the scope `cafe`, any other one of the scope `shop`.
pub(crate) fn scope_of(key: &str) -> Scope {
    Scope::new(if key.starts_with("cafe-") { "cafe" } else { "shop" }).expect("a scope")
}

pub(crate) fn key(key: &str) -> Key {
    Key::new(key).expect("a key")
}

pub(crate) fn id(operation: &Operation, name: &str) -> KeyId {
    KeyId::new(scope_of(name), operation.name(), key(name)).expect("a key id")
}

/// What is asked under a key is always the same.
pub(crate) fn fingerprint(key: &str) -> Fingerprint {
    Fingerprint::of_bytes(&[b"please do", key.as_bytes()])
}
