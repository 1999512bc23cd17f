//! An outbox whose clock stands still, a transport without patience, and one try after the other.

use std::time::Duration;

use keyledger::{
    Builder, Clock, DeliveryOutcome, EntryId, EntryView, Ledger, ManualClock, Outbox, Scope, SeededEntropy, Transport,
};
use keyledger_http::client::{HttpTransport, HttpTransportBuilder, Request};
use keyledger_http::message::Fields;

pub(crate) const NOW_MS: u64 = 784_111_777_000;

pub(crate) struct Stage {
    pub(crate) clock: ManualClock,
    pub(crate) outbox: Outbox,
    pub(crate) scope: Scope,
}

impl Stage {
    pub(crate) fn in_memory() -> Self {
        Self::of(|ledger| ledger.in_memory().unwrap())
    }

    /// Tries are a millisecond apart, unless the server asks for more.
    pub(crate) fn of(open: impl FnOnce(Builder) -> Ledger) -> Self {
        let clock = ManualClock::new(NOW_MS);
        let ledger = open(Ledger::builder().clock(clock.clone()).entropy(SeededEntropy::new(1)));
        let moment = Duration::from_millis(1);
        let outbox = ledger.outbox().backoff(moment, moment, 1).open().unwrap();
        Self { clock, outbox, scope: Scope::new("ada").unwrap() }
    }

    pub(crate) fn enqueue(&self, http: &HttpTransport, url: &str) -> EntryId {
        let request = Request::post(url).with_body("application/octet-stream", *b"\x00\r\n\xff ten euros");
        self.outbox.enqueue(&http.enqueue(&self.scope, "charge", &request).unwrap()).unwrap().entry.id()
    }

    /// One try, at the time when it is due; what came of it, and the entry after it.
    pub(crate) fn try_once(&self, http: &HttpTransport) -> (DeliveryOutcome, EntryView) {
        let due = self.outbox.next_wakeup(&self.scope).unwrap().expect("nothing is to be sent");
        self.clock.advance(Duration::from_millis(due.saturating_sub(self.clock.wall_ms())));
        let delivery = self.outbox.lease_due(&self.scope, 1).unwrap().pop().expect("nothing is due");
        let (id, outcome) = (delivery.id(), http.send(&delivery));
        delivery.settle(outcome.clone()).unwrap();
        (outcome, self.outbox.get(id).unwrap().unwrap())
    }
}

pub(crate) fn impatient() -> HttpTransportBuilder {
    HttpTransport::builder().timeout(Duration::from_millis(300))
}

pub(crate) fn bearer(token: &str) -> Fields {
    vec![("Authorization".to_owned(), format!("Bearer {token}").into_bytes())]
}
