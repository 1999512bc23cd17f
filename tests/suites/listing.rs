//! The order of `list`: what waits for somebody first; and its pages, whatever their length (contract section 4).

use keyledger::{
    Begin, Claim, Decision, Filter, Fingerprint, Key, Ledger, ManualClock, Operation, OperationName, Response, Scope,
    StateName,
};
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(30);

static CHARGE: Operation = Operation::repeatable("charge").lease(LEASE);
static MAIL: Operation = Operation::at_most_once("mail").lease(LEASE);
static WALLET: Operation = Operation::in_ledger("wallet").lease(LEASE);

fn begin(ledger: &Ledger, operation: &Operation, scope: &str, key: &str) -> Claim {
    let (scope, key) = (Scope::new(scope).expect("a scope"), Key::new(key).expect("a key"));
    match ledger.begin_with(&Begin::new(operation, &scope, &key, Fingerprint::unchecked())).expect("an answer") {
        Decision::Acquired(claim) => claim,
        other => panic!("not granted: {other:?}"),
    }
}

/// Some of everything, in the scopes `a` and `b`; the claims that go on.
fn filled() -> (Ledger, Vec<Claim>) {
    let clock = ManualClock::new(1_800_000_000_000);
    let ledger = Ledger::builder().clock(clock.clone()).in_memory().expect("a ledger");
    let mut claims = Vec::new();
    for scope in ["a", "b"] {
        for number in 0..3 {
            claims.push(begin(&ledger, &CHARGE, scope, &format!("lapsed {number}")));
            claims.push(begin(&ledger, &MAIL, scope, &format!("lost {number}")));
        }
    }
    clock.advance(LEASE);
    for scope in ["a", "b"] {
        for number in 0..3 {
            let done = begin(&ledger, &CHARGE, scope, &format!("done {number}"));
            done.complete(Response::text("done")).expect("it completes");
            let parked = begin(&ledger, &CHARGE, scope, &format!("parked {number}"));
            parked.park("the bank said nothing").expect("it is parked");
            drop(begin(&ledger, &MAIL, scope, &format!("dropped {number}")));
            claims.push(begin(&ledger, &CHARGE, scope, &format!("running {number}")));
            claims.push(begin(&ledger, &WALLET, scope, &format!("in memory {number}")));
        }
    }
    (ledger, claims)
}

/// The keys of all pages of one length, in order.
fn keys(ledger: &Ledger, filter: &Filter, limit: usize) -> Vec<String> {
    let (mut filter, mut keys) = (filter.clone().limit(limit), Vec::new());
    loop {
        let page = ledger.list(&filter).expect("a page");
        let id = |record: &keyledger::RecordView| format!("{} {}", record.key_id().key(), record.key_id().scope());
        keys.extend(page.records.iter().map(id));
        match page.next {
            Some(next) => filter = filter.after(next),
            None => return keys,
        }
    }
}

fn is_of(key: &str, kinds: &[&str]) -> bool {
    kinds.iter().any(|kind| key.starts_with(kind))
}

#[test]
fn what_waits_for_somebody_is_listed_first_then_what_runs_then_what_is_settled() {
    let (ledger, _claims) = filled();
    for filter in [Filter::all(), Filter::all().scope(Scope::new("a").expect("a scope"))] {
        let listed = keys(&ledger, &filter, 100);
        let parts = [&["lapsed", "lost", "parked", "dropped"][..], &["running", "in memory"], &["done"]];
        let in_order: Vec<usize> =
            listed.iter().map(|key| parts.iter().position(|part| is_of(key, part)).expect("a known key")).collect();
        assert!(in_order.is_sorted(), "{listed:?}");
    }
}

#[test]
fn pages_of_any_length_show_each_record_once() {
    let (ledger, _claims) = filled();
    let charge = OperationName::new("charge").expect("a name");
    let filters = [
        (Filter::all(), 42),
        (Filter::all().parked(), 18),
        (Filter::all().state(StateName::Completed), 6),
        (Filter::all().state(StateName::InProgress), 18),
        (Filter::all().operation(charge), 24),
        (Filter::all().scope(Scope::new("b").expect("a scope")), 21),
    ];
    for (filter, expected) in filters {
        let whole = keys(&ledger, &filter, 1000);
        assert_eq!(whole.len(), expected, "{filter:?}: {whole:?}");
        let mut once = whole.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), expected, "{filter:?}: {whole:?}");
        for limit in [1, 2, 5, 7, 41, 42] {
            assert_eq!(keys(&ledger, &filter, limit), whole, "{filter:?}, {limit} to a page");
        }
    }
}

#[test]
fn a_record_whose_lease_ends_between_two_pages_is_on_one_of_them_by_place() {
    let clock = ManualClock::new(1_800_000_000_000);
    let ledger = Ledger::builder().clock(clock.clone()).in_memory().expect("a ledger");
    let claims: Vec<Claim> = (0..9).map(|number| begin(&ledger, &CHARGE, "a", &number.to_string())).collect();
    let first = ledger.list(&Filter::all().by_place().limit(1)).expect("a page");
    clock.advance(LEASE);
    drop(claims);
    let rest = Filter::all().by_place().after(first.next.expect("there is more"));
    assert_eq!(keys(&ledger, &rest, 2).len(), 8);
}

/// More than memory is asked for at once.
const MANY: usize = 600;

#[test]
fn many_reservations_and_many_dropped_claims_are_listed_each_once_and_a_filter_finds_the_last_of_them() {
    let ledger = Ledger::builder().in_memory().expect("a ledger");
    let claims = |operation: &Operation| -> Vec<Claim> {
        (0..MANY).map(|number| begin(&ledger, operation, "a", &number.to_string())).collect()
    };
    let reserved = claims(&WALLET);
    drop(claims(&MAIL));
    let one = begin(&ledger, &Operation::in_ledger("one").lease(LEASE), "b", "reserved");
    for limit in [7, 256, 10_000] {
        let mut listed = keys(&ledger, &Filter::all(), limit);
        assert_eq!(listed.len(), 2 * MANY + 1);
        assert!(listed[..MANY].iter().all(|key| is_of(key, &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"])));
        listed.sort();
        listed.dedup();
        // Both operations have keys of the same names.
        assert_eq!(listed.len(), MANY + 1);
    }
    let operation = OperationName::new("one").expect("a name");
    assert_eq!(keys(&ledger, &Filter::all().operation(operation), 1), ["reserved b"]);
    assert_eq!(keys(&ledger, &Filter::all().parked(), 100).len(), MANY);
    drop((reserved, one));
    assert_eq!(keys(&ledger, &Filter::all().parked(), 100).len(), MANY);
}
