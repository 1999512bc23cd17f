//! What a ledger holds, in words that mean the same forever: no type of the library's prints them.

use std::fmt::Write;

use keyledger::{Body, Filter, Fingerprint, Ledger, RecordView, Response};

use super::write::TABLE;

/// Every record and every row.
pub(crate) fn all(ledger: &Ledger) -> String {
    let page = ledger.list(&Filter::all().limit(1_000)).expect("records");
    let mut records: Vec<String> = page.records.iter().map(record).collect();
    records.sort();
    let rows = ledger.scan(TABLE, &[], None, usize::MAX).expect("rows");
    let rows = rows.into_iter().map(|(key, value)| format!("row {TABLE} {} {}\n", text(&key), text(&value)));
    records.into_iter().chain(rows).collect()
}

fn record(view: &RecordView) -> String {
    let id = view.key_id();
    let (scope, operation, key) = (id.scope().as_str(), id.operation().as_str(), id.key().as_str());
    let mut told = format!("record {scope} {operation} {key}\n");
    let mut line = |words: String| writeln!(told, "  {words}").expect("a string takes every line");
    line(format!("state {}", view.state().as_str()));
    line(format!("effect {}", view.effect().as_str()));
    line(format!("attempt {}, fence {}", view.attempt(), view.fence()));
    line(format!("fingerprint {}", fingerprint(&view.fingerprint())));
    line(format!("memo {}", text(view.memo())));
    line(format!("first granted at {}", view.first_granted_at_ms()));
    line(format!("lease ends at {}", instant(view.lease_end_ms())));
    let kept = [view.settled_at_ms(), view.retained_until_ms(), view.gone_at_ms()].map(instant);
    line(format!("settled at {}, kept until {}, gone at {}", kept[0], kept[1], kept[2]));
    if let Some(given) = view.response() {
        line(format!("response {}", response(given)));
    }
    if let Some((reason, since)) = view.parked() {
        line(format!("parked {}, since {since}", reason.as_str()));
    }
    for step in view.steps() {
        line(format!("step {} {}", step.name, text(&step.value)));
    }
    for entry in view.audit() {
        line(format!("audit at {} {} by {}: {}", entry.at_ms, entry.outcome, entry.who, entry.note));
    }
    told
}

pub(crate) fn response(response: &Response) -> String {
    let body = match response.body() {
        Body::Stored(bytes) => text(bytes),
        Body::Omitted { length, sha256 } => format!("omitted {length} {}", hex(sha256)),
    };
    format!("{} {body}", response.media_type())
}

pub(crate) fn fingerprint(fingerprint: &Fingerprint) -> String {
    match fingerprint {
        Fingerprint::Unchecked => "unchecked".to_owned(),
        Fingerprint::Value { version, sha256 } => format!("{version} {}", hex(sha256)),
    }
}

pub(crate) fn instant(at: Option<u64>) -> String {
    at.map_or_else(|| "-".to_owned(), |at| at.to_string())
}

pub(crate) fn text(bytes: &[u8]) -> String {
    format!("[{}]", String::from_utf8_lossy(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}
