//! An outbox with the clock in the test's hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use keyledger::{Clock, Delivery, Enqueue, Ledger, ManualClock, Outbox, Scope, SeededEntropy};
use keyledger_harness::disk::FakeDisk;

/// When every story here begins: milliseconds since 1970-01-01 UTC.
pub(crate) const START_MS: u64 = 1_000_000_000;

pub(crate) struct Stage {
    pub(crate) clock: ManualClock,
    pub(crate) disk: FakeDisk,
    pub(crate) ledger: Ledger,
    pub(crate) outbox: Outbox,
    pub(crate) scope: Scope,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::on(FakeDisk::new(), ManualClock::new(START_MS))
    }

    /// Another process that opens what is on the disk.
    pub(crate) fn on(disk: FakeDisk, clock: ManualClock) -> Self {
        let ledger = open(&disk, &clock).unwrap();
        let outbox = ledger.outbox().open().unwrap();
        Self { clock, disk, ledger, outbox, scope: Scope::new("ada").unwrap() }
    }

    pub(crate) fn request(&self, purpose: &str) -> Enqueue {
        Enqueue::new(&self.scope, "pay", "text/plain", format!("request of {purpose}")).purpose(purpose)
    }

    pub(crate) fn lease_one(&self) -> Delivery {
        self.outbox.lease_due(&self.scope, 1).unwrap().pop().expect("something is due")
    }

    /// What the wall clock shows.
    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.wall_ms()
    }

    pub(crate) fn pass(&self, span: Duration) {
        self.clock.advance(span);
    }
}

/// Every process has dice of its own: with the same they would make the same keys.
fn open(disk: &FakeDisk, clock: &ManualClock) -> keyledger::Result<Ledger> {
    static PROCESSES: AtomicU64 = AtomicU64::new(1);
    let seed = PROCESSES.fetch_add(1, Ordering::Relaxed);
    Ledger::builder().clock(clock.clone()).entropy(SeededEntropy::new(seed)).open_disk(Arc::new(disk.clone()))
}
