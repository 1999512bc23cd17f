//! Every operation is a span of `tracing`, and none of them tells a secret.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::{Begin, Claim, Decision, Error, Filter, Fingerprint, Key, Ledger, Operation, Resolution, Response, Scope};

/// Writes down every span and event with its fields.
#[derive(Clone, Default)]
struct Scribe {
    text: Arc<Mutex<String>>,
}

impl Scribe {
    fn write(&self, what: &str) {
        self.text.lock().unwrap().push_str(what);
    }
}

impl Visit for &Scribe {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = self.text.lock().unwrap();
        write!(text, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Scribe {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("keyledger")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.write(&format!("\n{}", span.metadata().name()));
        span.record(&mut &*self);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut &*self);
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut &*self);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

static CHARGE: Operation = Operation::repeatable("POST /v1/charges");
static MAIL: Operation = Operation::at_most_once("mail");

fn acquired(decision: Decision) -> Claim {
    match decision {
        Decision::Acquired(claim) => claim,
        other => panic!("{other:?}"),
    }
}

fn a_day_of_calls(ledger: &Ledger) -> Result<(), Error> {
    let (scope, key) = (Scope::new("secret-scope")?, Key::new("secret-key")?);
    let begin = Begin::new(&CHARGE, &scope, &key, Fingerprint::unchecked()).memo("secret-memo");
    let mut claim = acquired(ledger.begin_with(&begin)?);
    claim.record_step("secret-step", "secret-value")?;
    claim.heartbeat()?;
    claim.complete_with(|tx| {
        tx.put("secret-table", b"secret-row", "secret-row-value")?;
        Ok::<_, Error>(Response::text("secret-response"))
    })?;
    let parked = acquired(ledger.begin(&MAIL, &scope, &key, Fingerprint::unchecked())?);
    let (id, fence) = (parked.key_id().clone(), parked.fence());
    parked.park("secret-reason")?;
    ledger.resolve(&id, fence, Resolution::NotDone, "secret-person", "secret-note")?;
    ledger.resolve_many(&Filter::all(), &Resolution::NotDone, "secret-person", "secret-note")?;
    drop(ledger.recover(&MAIL, 1)?);
    ledger.sweep(10)?;
    ledger.forget(&id, false)?;
    ledger.forget_scope(&scope, false)?;
    ledger.suspend()?;
    ledger.resume()?;
    ledger.close()
}

#[test]
fn i10_no_span_tells_a_key_a_scope_or_what_was_asked_or_answered() {
    let scribe = Scribe::default();
    let ledger = Ledger::in_memory().unwrap();
    tracing::subscriber::with_default(scribe.clone(), || a_day_of_calls(&ledger)).unwrap();
    let text = scribe.text.lock().unwrap();
    assert!(!text.contains("secret"), "{text}");
    for span in ["begin", "record_step", "heartbeat", "complete_with", "settle", "resolve", "recover", "sweep", "close"]
    {
        assert!(text.contains(&format!("\nkeyledger.{span}")), "{span}: {text}");
    }
    assert!(text.contains("operation=\"POST /v1/charges\"") && text.contains("decision=\"acquired\""), "{text}");
}
