//! The outbox of the file: an entry in every state, and what each holds, in words.

use std::fmt::Write;
use std::time::Duration;

use keyledger::{
    Delivery, DeliveryOutcome, Enqueue, EntryFilter, EntryResolution, EntryView, Error, Lane, Ledger, OnStuckHead,
    Outbox, Response, Scope,
};

use super::tell::{fingerprint, instant, response, text};

/// What every file with an outbox has to hold, in the words of `all`.
pub(crate) const HELD: [&str; 12] = [
    "state pending",
    "state sending",
    "state held",
    "state unknown",
    "state answered",
    "state dead",
    "state cancelled",
    "held 401, with its lane true",
    "unknown 409 parked",
    "successor",
    "error timeout",
    "lane strict held 401",
];

fn open(ledger: &Ledger) -> Result<Outbox, Error> {
    let lanes = [Lane::ordered("strict"), Lane::ordered("lax").on_stuck_head(OnStuckHead::Skip)];
    lanes.into_iter().fold(ledger.outbox(), keyledger::OutboxBuilder::lane).open()
}

fn leased(outbox: &Outbox, scope: &Scope, purpose: &str, lane: &str) -> Result<Delivery, Error> {
    outbox.enqueue(
        &Enqueue::new(scope, "pay", "text/plain", format!("request of {purpose}")).purpose(purpose).lane(lane),
    )?;
    Ok(outbox.lease_due(scope, 1)?.pop().expect("nothing else is due"))
}

/// Writes an entry in every state.
pub(crate) fn write(ledger: &Ledger, now_ms: u64) -> Result<Vec<Delivery>, Error> {
    let (outbox, scope) = (open(ledger)?, Scope::new("shop")?);
    leased(&outbox, &scope, "yes", "default")?.settle(DeliveryOutcome::yes(Response::text("done")))?;
    leased(&outbox, &scope, "no", "lax")?.settle(DeliveryOutcome::no(Response::bytes(vec![7; 65])))?;
    leased(&outbox, &scope, "dead", "default")?.settle(DeliveryOutcome::dead("no such host"))?;
    leased(&outbox, &scope, "unknown", "default")?.settle(DeliveryOutcome::unknown("409 parked"))?;
    leased(&outbox, &scope, "superseded", "default")?.settle(DeliveryOutcome::unknown("who knows"))?;
    let old = outbox.find(&scope, "default", "superseded")?.expect("it is there");
    let successor = outbox.resolve(old.id(), EntryResolution::Resend, "ada", "asked the bank")?;
    outbox.cancel(successor.id())?;
    let later = DeliveryOutcome::retry("timeout").not_before(Duration::from_mins(30));
    leased(&outbox, &scope, "pending", "default")?.settle(later)?;
    leased(&outbox, &scope, "held", "strict")?.settle(DeliveryOutcome::hold_lane("401"))?;
    let sending = leased(&outbox, &scope, "sending", "lax")?;
    let enqueue = Enqueue::new(&scope, "pay", "", "never sent").send_by_ms(now_ms + 60_000).lane("strict");
    outbox.enqueue(&enqueue)?;
    Ok(vec![sending])
}

/// Every entry and every lane; nothing, where there is no outbox.
pub(crate) fn all(ledger: &Ledger) -> String {
    let outbox = open(ledger).expect("an outbox");
    let page = outbox.list(&EntryFilter::all().limit(1_000)).expect("entries");
    let mut told: String = page.entries.iter().map(|entry| words(&outbox, entry)).collect();
    for lane in outbox.stats().expect("stats").lanes {
        let (held, at) = lane.held.unwrap_or_default();
        writeln!(told, "lane {} held {held}, since {at}, of {}", lane.lane, lane.scope).expect("a string takes it");
    }
    told
}

fn words(outbox: &Outbox, entry: &EntryView) -> String {
    let mut told = format!("entry {} {} {} {}\n", entry.id(), entry.scope(), entry.lane(), entry.operation());
    let mut line = |words: String| writeln!(told, "  {words}").expect("a string takes every line");
    let (media_type, request) = outbox.request(entry.id()).expect("a request").expect("every entry has one");
    line(format!("state {}", entry.state().as_str()));
    line(format!("key {}, purpose {}", entry.key(), entry.purpose().unwrap_or("-")));
    line(format!("request {media_type} {}", text(&request)));
    line(format!("fingerprint {}", fingerprint(&entry.fingerprint())));
    line(format!("tries {}, given back {}, fence {}", entry.tries(), entry.given_back(), entry.fence()));
    line(format!("created at {}, settled at {}", entry.created_at_ms(), instant(entry.settled_at_ms())));
    line(format!("first unknown at {}, send by {}", instant(entry.first_unknown_at_ms()), instant(entry.send_by_ms())));
    if let Some(given) = entry.response() {
        line(format!("response {} {}", if entry.is_yes() { "yes" } else { "no" }, response(given)));
    }
    if let Some((reason, with_lane)) = entry.held() {
        line(format!("held {reason}, with its lane {with_lane}"));
    }
    if let Some(reason) = entry.unknown() {
        line(format!("unknown {}", reason.as_str()));
    }
    if let Some(reason) = entry.dead() {
        line(format!("dead {}", reason.as_str()));
    }
    if let Some(successor) = entry.successor() {
        line(format!("successor {successor}"));
    }
    for error in entry.errors() {
        line(format!("error {} at {}", error.error, error.at_ms));
    }
    for decided in entry.audit() {
        line(format!("audit at {} {} by {}: {}", decided.at_ms, decided.outcome, decided.who, decided.note));
    }
    told
}

/// What is pending is sent after all, with the request that was stored.
pub(crate) fn is_of_use(ledger: &Ledger, pass: impl FnOnce(Duration)) {
    let (outbox, scope) = (open(ledger).expect("an outbox"), Scope::new("shop").expect("a scope"));
    pass(Duration::from_hours(1));
    let due = outbox.lease_due(&scope, 10).expect("a lease");
    let sent: Vec<Vec<u8>> = due.iter().map(|delivery| delivery.request().to_vec()).collect();
    for request in ["request of pending", "request of sending"] {
        assert!(sent.iter().any(|sent| sent == request.as_bytes()), "{request} is not sent: {sent:?}");
    }
    for delivery in due {
        delivery.settle(DeliveryOutcome::yes(Response::text("at last"))).expect("settled");
    }
    assert!(ledger.check().expect("a check").is_well());
}
