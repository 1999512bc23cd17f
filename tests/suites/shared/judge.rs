//! What the diaries of all processes must agree on.

use super::diary::Event;
use super::worker::{EFFECTS, LEASE, key_of, name_in, operation, scope};
use keyledger::{KeyId, Ledger, StateName};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of one claim.
#[derive(Debug)]
struct Span {
    /// When it may have been granted at the latest.
    told_ms: u64,
    /// Until when it was live for certain.
    live_until_ms: u64,
}

/// I1, I5: no claim was granted while another on the same key was live for certain; no fence was given out twice. Returns how
/// many claims there were.
pub(crate) fn one_claim_at_a_time(events: &[Event]) -> usize {
    let lease_ms = u64::try_from(LEASE.as_millis()).expect("a short lease");
    let mut spans: BTreeMap<u64, BTreeMap<u64, Span>> = BTreeMap::new();
    let mut fences = BTreeSet::new();
    for event in events {
        if let Event::Granted { key, fence, asked_ms, told_ms } = *event {
            assert!(fences.insert(fence), "fence {fence} was given out twice");
            let live_until_ms = asked_ms + lease_ms;
            spans.entry(key).or_default().insert(fence, Span { told_ms, live_until_ms });
        }
    }
    for event in events {
        match *event {
            Event::Renewed { key, fence, asked_ms } => {
                let span =
                    spans.get_mut(&key).and_then(|spans| spans.get_mut(&fence)).expect("what is renewed was granted");
                span.live_until_ms = asked_ms + lease_ms;
            }
            Event::Ending { key, fence, at_ms } => {
                let span = spans.get_mut(&key).and_then(|spans| spans.get_mut(&fence)).expect("what ends was granted");
                span.live_until_ms = span.live_until_ms.min(at_ms);
            }
            Event::Granted { .. } | Event::Completed { .. } | Event::Replayed { .. } => {}
        }
    }
    for (key, spans) in &spans {
        for ((fence, span), (next, next_span)) in spans.iter().zip(spans.iter().skip(1)) {
            assert!(
                next_span.told_ms >= span.live_until_ms,
                "key {key}: {next}, {next_span:?} while {fence}, {span:?}"
            );
        }
    }
    fences.len()
}

/// I2, I3, I4: whoever was told an answer was told the same one, and it is in the ledger still; each effect in the ledger
/// happened once. Returns how many keys were completed.
pub(crate) fn nothing_is_lost(ledger: &Ledger, events: &[Event]) -> usize {
    let mut answers: BTreeMap<u64, &str> = BTreeMap::new();
    for event in events {
        if let Event::Completed { key, answer } | Event::Replayed { key, answer } = event {
            let first = answers.entry(*key).or_insert(answer);
            assert_eq!(first, answer, "key {key} was answered in two ways");
        }
    }
    for (key, answer) in &answers {
        let id = KeyId::new(scope(), operation(*key).name(), key_of(*key)).expect("a key id");
        let record = ledger.inspect(&id).expect("the ledger is read").unwrap_or_else(|| panic!("key {key} is gone"));
        assert_eq!(record.state(), StateName::Completed, "key {key}");
        let stored = record.response().expect("a completed record has its answer");
        assert_eq!(name_in(stored), **answer, "key {key}");
        let row = ledger.get(EFFECTS, &key.to_be_bytes()).expect("the ledger is read");
        assert_eq!(row, (key % 3 == 0).then(|| vec![1]), "the effect of key {key}");
    }
    answers.len()
}
