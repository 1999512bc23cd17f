//! What the tests of the driver stand on.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use keyledger::{
    AsyncDriver, Driver, Enqueue, EntryStateName, EntryView, Ledger, ManualClock, Outbox, OutboxBuilder, Scope,
    SeededEntropy,
};
use keyledger_harness::scripted::ScriptedTransport;

/// Far above what anything here takes, far below a test that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Stage {
    pub(crate) ledger: Ledger,
    pub(crate) outbox: Outbox,
    pub(crate) scope: Scope,
    pub(crate) transport: Arc<ScriptedTransport>,
}

impl Stage {
    /// An outbox in memory, by the system's clock.
    pub(crate) fn new() -> Self {
        Self::with(|outbox| outbox)
    }

    pub(crate) fn with(settings: impl FnOnce(OutboxBuilder) -> OutboxBuilder) -> Self {
        Self::of(Ledger::in_memory().unwrap(), settings)
    }

    /// The same with the clock in the test's hand.
    pub(crate) fn by_clock(clock: &ManualClock, settings: impl FnOnce(OutboxBuilder) -> OutboxBuilder) -> Self {
        let ledger = Ledger::builder().clock(clock.clone()).entropy(SeededEntropy::new(7)).in_memory().unwrap();
        Self::of(ledger, settings)
    }

    pub(crate) fn of(ledger: Ledger, settings: impl FnOnce(OutboxBuilder) -> OutboxBuilder) -> Self {
        let outbox = settings(ledger.outbox()).open().unwrap();
        let (scope, transport) = (Scope::new("ada").unwrap(), Arc::new(ScriptedTransport::new()));
        Self { ledger, outbox, scope, transport }
    }

    pub(crate) fn driver(&self) -> Driver {
        Driver::new(&self.outbox, &self.scope, self.transport.clone())
    }

    pub(crate) fn async_driver(&self) -> AsyncDriver {
        AsyncDriver::new(&self.outbox, &self.scope, self.transport.clone())
    }

    pub(crate) fn enqueue(&self, what: &str) -> EntryView {
        self.outbox.enqueue(&self.request(what)).unwrap().entry
    }

    pub(crate) fn enqueue_in(&self, lane: &str, what: &str) -> EntryView {
        self.outbox.enqueue(&self.request(what).lane(lane)).unwrap().entry
    }

    /// So many of them, each with its number.
    pub(crate) fn enqueue_all(&self, count: usize) -> Vec<EntryView> {
        let requests: Vec<Enqueue> = (0..count).map(|number| self.request(&format!("request {number}"))).collect();
        self.outbox.enqueue_many(&requests).unwrap().into_iter().map(|enqueued| enqueued.entry).collect()
    }

    fn request(&self, what: &str) -> Enqueue {
        Enqueue::new(&self.scope, "charge", "text/plain", what)
    }

    pub(crate) fn count(&self, state: EntryStateName) -> u64 {
        self.outbox.stats().unwrap().count(state)
    }

    /// Waits until each is settled with a yes.
    pub(crate) fn all_answered<'a>(&self, entries: impl IntoIterator<Item = &'a EntryView>) {
        for entry in entries {
            self.answered(entry);
        }
    }

    /// Waits until the entry is settled with a yes.
    pub(crate) fn answered(&self, entry: &EntryView) {
        let entry = self.outbox.wait(entry.id(), PATIENCE).unwrap();
        assert!(entry.is_yes(), "{entry:?}");
    }

    /// The requests in the order in which they were sent.
    pub(crate) fn sent(&self) -> Vec<String> {
        self.transport.sent().into_iter().map(|sent| String::from_utf8(sent.bytes).unwrap()).collect()
    }

    /// How often each entry was sent.
    pub(crate) fn sends_of(&self, entries: &[EntryView]) -> Vec<usize> {
        entries.iter().map(|entry| self.transport.sends_of(entry.key().as_str())).collect()
    }
}

/// Waits until it is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let give_up_at = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < give_up_at, "never: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Lets others get to where they wait.
pub(crate) fn a_moment() {
    thread::sleep(Duration::from_millis(50));
}
