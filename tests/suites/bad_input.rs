//! Bad input is refused at the door with the contract's code, and not a byte of the file changes (L1, L4, L5).

use std::path::PathBuf;
use std::time::Duration;

use keyledger::options::{
    MEDIA_TYPE_BYTES_MAX, MEMO_BYTES_MAX, NOTE_BYTES_MAX, PARK_REASON_BYTES_MAX, RESPONSE_BYTES_MAX, ROW_KEY_BYTES_MAX,
    WHO_BYTES_MAX,
};
use keyledger::{
    Batch, Begin, Body, Claim, Decision, Effect, Error, Filter, Fingerprint, Key, KeyId, Ledger, Operation, Resolution,
    Response, Scope, Settlement,
};

static CHARGE: Operation = Operation::repeatable("charge");

/// What L1 refuses as a scope, an operation's name, a key, or a table's name.
fn refused_parts() -> Vec<String> {
    let control = ["a\0b", "a\nb", "\r", "a\u{1f}", "\u{7f}", "\t"].map(str::to_owned);
    let long = [String::new(), "k".repeat(256), "ü".repeat(128), "k".repeat(100_000)];
    long.into_iter().chain(control).collect()
}

/// What L1 lets through.
fn accepted_parts() -> [String; 5] {
    ["k".to_owned(), "k".repeat(255), "ü".repeat(127), " spaces stay ".to_owned(), "\u{80}\u{2028}".to_owned()]
}

/// A ledger in a file, with something in it, and two claims that are held.
struct Shop {
    _folder: tempfile::TempDir,
    path: PathBuf,
    ledger: Ledger,
    charge: Claim,
    wallet: Claim,
}

fn ask(operation: &Operation, key: &str) -> Begin {
    Begin::new(operation, &Scope::single(), &Key::new(key).expect("a key"), Fingerprint::of_bytes(&[b"asked"]))
}

fn acquired(decision: Decision) -> Claim {
    match decision {
        Decision::Acquired(claim) => claim,
        other => panic!("not granted: {other:?}"),
    }
}

impl Shop {
    fn open() -> Shop {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.kl");
        let ledger = Ledger::open(&path).expect("a ledger");
        ledger.apply(&Batch::new().put("orders", "1", "open")).expect("a row");
        let claim = |operation| acquired(ledger.begin_with(&ask(operation, "held")).expect("an answer"));
        let (charge, wallet) = (claim(&CHARGE), claim(&Operation::in_ledger("wallet")));
        Shop { _folder: folder, path, ledger, charge, wallet }
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).expect("the file")
    }

    /// The call is refused with this code, and the file is as it was, byte for byte.
    fn refuses<T: std::fmt::Debug>(&mut self, code: &str, call: impl FnOnce(&mut Shop) -> Result<T, Error>) {
        let before = self.bytes();
        let error = call(self).expect_err("it is refused");
        assert_eq!(error.code().as_str(), code, "{error}");
        assert!(self.bytes() == before, "the file has changed at {error}");
    }
}

#[test]
fn l1_a_bad_scope_or_key_never_becomes_one() {
    for bad in refused_parts() {
        let refused = [Scope::new(&bad).map(drop), Key::new(&bad).map(drop)];
        for error in refused.map(|made| Error::from(made.expect_err("it is refused"))) {
            assert_eq!(error.code().as_str(), "invalid_key");
        }
        let id = KeyId::new(Scope::single(), &bad, Key::new("k").expect("a key"));
        assert_eq!(Error::from(id.expect_err("it is refused")).code().as_str(), "invalid_key");
    }
    for good in accepted_parts() {
        assert_eq!(Scope::new(&good).expect("a scope").as_str(), good, "byte for byte");
        assert_eq!(Key::new(&good).expect("a key").as_str(), good, "byte for byte");
    }
}

#[test]
fn l1_an_operation_with_a_bad_name_is_refused_wherever_it_is_named() {
    let mut shop = Shop::open();
    for bad in refused_parts() {
        let operation = Operation::new(Effect::Repeatable, bad);
        shop.refuses("invalid_key", |shop| shop.ledger.begin_with(&ask(&operation, "k")));
        shop.refuses("invalid_key", |shop| shop.ledger.recover(&operation, 1));
        shop.refuses("invalid_key", |shop| shop.ledger.declare(&operation));
    }
    for good in accepted_parts() {
        let operation = Operation::new(Effect::Repeatable, good);
        drop(acquired(shop.ledger.begin_with(&ask(&operation, "k")).expect("an answer")));
    }
}

#[test]
fn l1_a_bad_tables_name_is_refused_wherever_it_is_named() {
    let mut shop = Shop::open();
    for bad in refused_parts() {
        shop.refuses("invalid_key", |shop| shop.ledger.get(&bad, b"1"));
        shop.refuses("invalid_key", |shop| shop.ledger.scan(&bad, b"1", None, 1));
        shop.refuses("invalid_key", |shop| shop.ledger.apply(&Batch::new().put(bad.as_str(), "1", "x")));
        shop.refuses("invalid_key", |shop| shop.ledger.apply(&Batch::new().delete(bad.as_str(), "1")));
        shop.refuses("invalid_key", |shop| shop.ledger.apply(&Batch::new().insert_unique(bad.as_str(), "1", "x")));
        let compared = Batch::new().compare_and_set(bad.as_str(), "1", None, Some(b"x".to_vec()));
        shop.refuses("invalid_key", |shop| shop.ledger.apply(&compared));
    }
}

#[test]
fn l5_a_lease_of_zero_and_no_attempts_are_refused() {
    let mut shop = Shop::open();
    for operation in [CHARGE.clone().lease(Duration::ZERO), CHARGE.clone().max_attempts(0)] {
        shop.refuses("invalid_argument", |shop| shop.ledger.begin_with(&ask(&operation, "k")));
        shop.refuses("invalid_argument", |shop| shop.ledger.recover(&operation, 1));
        shop.refuses("invalid_argument", |shop| shop.ledger.declare(&operation));
    }
    // Less than a millisecond is none.
    let operation = CHARGE.clone().lease(Duration::from_micros(999));
    shop.refuses("invalid_argument", |shop| shop.ledger.begin_with(&ask(&operation, "k")));
    shop.refuses("invalid_argument", |shop| shop.charge.heartbeat_for(Duration::ZERO));
    let (id, fence) = (shop.charge.key_id().clone(), shop.charge.fence());
    shop.refuses("invalid_argument", |shop| shop.ledger.heartbeat(&id, fence, Duration::ZERO));
}

#[test]
fn l5_for_retention_tombstone_and_wait_zero_is_a_value_and_sums_saturate() {
    let shop = Shop::open();
    let short = CHARGE.clone().retention(Duration::ZERO).tombstone(Duration::ZERO).remembered_for(Duration::MAX);
    let claim = acquired(shop.ledger.begin_with(&ask(&short, "short").wait(Duration::ZERO)).expect("an answer"));
    claim.complete(Response::empty()).expect("an outcome");
    drop(acquired(shop.ledger.begin_with(&ask(&short, "short")).expect("it was forgotten at once")));
    let long = CHARGE.clone().lease(Duration::MAX).retention(Duration::MAX).tombstone(Duration::MAX);
    let claim = acquired(shop.ledger.begin_with(&ask(&long, "long")).expect("an answer"));
    claim.complete(Response::empty()).expect("an outcome");
    assert!(matches!(shop.ledger.begin_with(&ask(&long, "long")), Ok(Decision::Replay(_))));
}

#[test]
fn l4_what_is_longer_than_its_limit_is_refused_and_what_is_as_long_is_not() {
    let mut shop = Shop::open();
    let memo = vec![7; MEMO_BYTES_MAX + 1];
    shop.refuses("too_large", |shop| shop.ledger.begin_with(&ask(&CHARGE, "k").memo(memo.clone())));
    let key = vec![7; ROW_KEY_BYTES_MAX + 1];
    let value = vec![7; RESPONSE_BYTES_MAX + 1];
    shop.refuses("too_large", |shop| shop.ledger.get("orders", &key));
    shop.refuses("too_large", |shop| shop.ledger.apply(&Batch::new().put("orders", key.clone(), "x")));
    shop.refuses("too_large", |shop| shop.ledger.apply(&Batch::new().delete("orders", key.clone())));
    shop.refuses("too_large", |shop| shop.ledger.apply(&Batch::new().put("orders", "2", value.clone())));
    shop.refuses("too_large", |shop| shop.charge.record_step("step", value.clone()));
    shop.ledger.apply(&Batch::new().put("orders", &key[1..], &value[1..])).expect("it is not too long");
    drop(acquired(shop.ledger.begin_with(&ask(&CHARGE, "k").memo(&memo[1..])).expect("it is not too long")));
}

/// As long as a limit, and a byte longer.
fn around(max: usize) -> (String, String) {
    ("x".repeat(max), "x".repeat(max + 1))
}

#[test]
fn l4_a_media_type_and_a_reason_over_their_limits_are_refused_and_the_claim_is_given_back() {
    let mut shop = Shop::open();
    let (fits, long) = around(MEDIA_TYPE_BYTES_MAX);
    let (reason, long_reason) = around(PARK_REASON_BYTES_MAX);
    let (id, fence) = (shop.charge.key_id().clone(), shop.charge.fence());
    let response = |media_type: &str| Response::new(media_type, "body");
    for settlement in
        [Settlement::Complete(response(&long)), Settlement::Fail(response(&long)), Settlement::Park(long_reason)]
    {
        shop.refuses("too_large", |shop| shop.ledger.settle(&id, fence, settlement));
    }
    shop.refuses("too_large", |shop| shop.charge.complete_with(|_| Ok::<_, Error>(response(&long))));
    shop.refuses("too_large", |shop| shop.ledger.transaction(|tx| tx.complete(&id, fence, response(&long))));
    let given_back = shop.charge.complete(response(&long)).expect_err("it is refused");
    assert_eq!(given_back.source.code().as_str(), "too_large");
    given_back.claim.complete(response(&fits)).expect("it is as long as the limit");
    shop.wallet.park(reason).expect("it is as long as the limit");
}

#[test]
fn s4_an_outcome_that_run_cannot_store_releases_nothing() {
    let shop = Shop::open();
    let long = "x".repeat(MEDIA_TYPE_BYTES_MAX + 1);
    let mut runs = 0;
    for _ in 0..2 {
        let key = Key::new("run").expect("a key");
        let ran = shop.ledger.run(&CHARGE, &Scope::single(), &key, Fingerprint::unchecked(), |_| {
            runs += 1;
            Ok::<_, Error>(Response::new(long.as_str(), "charged"))
        });
        assert!(ran.is_err());
    }
    assert_eq!(runs, 1, "it was charged: nobody may charge it again");
}

#[test]
fn l4_who_resolves_and_why_have_limits() {
    let mut shop = Shop::open();
    let (id, fence) = (shop.charge.key_id().clone(), shop.charge.fence());
    shop.ledger.settle(&id, fence, Settlement::Park("who knows".into())).expect("parked");
    let ((who, long_who), (note, long_note)) = (around(WHO_BYTES_MAX), around(NOTE_BYTES_MAX));
    let media_type = "x".repeat(MEDIA_TYPE_BYTES_MAX + 1);
    for (who, note) in [(&long_who, &note), (&who, &long_note)] {
        shop.refuses("too_large", |shop| shop.ledger.resolve(&id, fence, Resolution::NotDone, who, note));
        shop.refuses("too_large", |shop| shop.ledger.resolve_many(&Filter::all(), &Resolution::NotDone, who, note));
    }
    let found = Resolution::Completed(Response::new(media_type, "body"));
    shop.refuses("too_large", |shop| shop.ledger.resolve(&id, fence, found, &who, &note));
    shop.ledger.resolve(&id, fence, Resolution::NotDone, &who, &note).expect("they are as long as their limits");
}

#[test]
fn l4_the_steps_of_a_record_together_are_as_long_as_a_response_at_the_most() {
    let mut shop = Shop::open();
    let half = vec![7; RESPONSE_BYTES_MAX / 2 - 1];
    shop.charge.record_step("1", half.clone()).expect("half of it");
    shop.refuses("too_large", |shop| shop.charge.record_step("22", half.clone()));
    shop.charge.record_step("2", half.clone()).expect("all of it");
    shop.charge.record_step("2", half).expect("it is recorded already");
    shop.refuses("too_large", |shop| shop.charge.record_step("3", ""));
}

#[test]
fn s7_one_bad_row_refuses_everything_that_was_to_be_stored_with_it() {
    let mut shop = Shop::open();
    let batch = Batch::new().put("orders", "2", "open").put("a\0b", "1", "x");
    shop.refuses("invalid_key", |shop| shop.ledger.apply(&batch));
    shop.refuses("invalid_key", |shop| shop.wallet.complete_batch(&batch, Response::empty()));
    let long = Batch::new().put("orders", "2", "open").put("orders", "3", vec![7; RESPONSE_BYTES_MAX + 1]);
    shop.refuses("too_large", |shop| shop.wallet.complete_batch(&long, Response::empty()));
    let bad = ask(&CHARGE.clone().lease(Duration::ZERO), "second");
    shop.refuses("invalid_argument", |shop| shop.ledger.begin_many(&[ask(&CHARGE, "first"), bad]));
    let id = KeyId::new(Scope::single(), "charge", Key::new("first").expect("a key")).expect("a key id");
    assert_eq!(shop.ledger.inspect(&id).expect("an answer"), None);
    shop.wallet.complete_batch(&Batch::new().put("orders", "2", "open"), Response::empty()).expect("it is held still");
}

#[test]
fn e2_a_step_of_an_in_ledger_operation_is_refused() {
    let mut shop = Shop::open();
    shop.refuses("invalid_argument", |shop| shop.wallet.record_step("step", "done"));
    shop.refuses("invalid_argument", |shop| shop.charge.record_step("", "done"));
}

#[test]
fn a_claim_that_nobody_has_is_lost_and_changes_nothing() {
    let mut shop = Shop::open();
    let (id, fence) = (shop.charge.key_id().clone(), shop.charge.fence());
    let settlements =
        [Settlement::Complete(Response::empty()), Settlement::Fail(Response::empty()), Settlement::Release];
    for settlement in settlements.into_iter().chain([Settlement::Park("who knows".into())]) {
        shop.refuses("claim_lost", |shop| shop.ledger.settle(&id, fence + 1, settlement));
    }
    shop.refuses("claim_lost", |shop| shop.ledger.heartbeat(&id, fence + 1, Duration::from_secs(1)));
    shop.refuses("claim_lost", |shop| shop.ledger.record_step(&id, fence + 1, "step", "done"));
    let resolution = keyledger::Resolution::NotDone;
    shop.refuses("not_parked", |shop| shop.ledger.resolve(&id, fence, resolution, "ada", ""));
}

#[test]
fn l4_nobody_decides_nothing() {
    let mut shop = Shop::open();
    let (id, fence) = (shop.charge.key_id().clone(), shop.charge.fence());
    for nobody in ["", " \t"] {
        let resolution = keyledger::Resolution::NotDone;
        shop.refuses("invalid_argument", |shop| shop.ledger.resolve(&id, fence, resolution, nobody, "a note"));
    }
}

#[test]
fn s4_a_response_over_the_limit_is_completed_and_its_body_omitted() {
    let shop = Shop::open();
    for (key, length) in [("as long", RESPONSE_BYTES_MAX), ("too long", RESPONSE_BYTES_MAX + 1)] {
        let claim = acquired(shop.ledger.begin_with(&ask(&CHARGE, key)).expect("an answer"));
        claim.complete(Response::bytes(vec![7; length])).expect("it is completed");
        let Decision::Replay(replay) = shop.ledger.begin_with(&ask(&CHARGE, key)).expect("an answer") else {
            panic!("its length never releases a claim")
        };
        match replay.response.body() {
            Body::Stored(bytes) => assert_eq!(bytes.len(), RESPONSE_BYTES_MAX),
            Body::Omitted { length, .. } => assert_eq!(*length, RESPONSE_BYTES_MAX as u64 + 1),
        }
    }
}

#[test]
#[should_panic(expected = "the file has changed")]
fn a_refusal_that_has_written_something_before_is_found_out() {
    Shop::open().refuses("invalid_key", |shop| {
        shop.ledger.apply(&Batch::new().put("orders", "2", "open"))?;
        shop.ledger.apply(&Batch::new().put("", "1", "x"))
    });
}
