//! Whoever only looks leaves the file as it is, to the byte, and needs no right to write to it (P8).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use keyledger::{
    Begin, Decision, Enqueue, ErrorCode, Fingerprint, Key, KeyId, Ledger, Operation, Resolution, Response, Scope,
};

use super::stage::{CHARGE, MAIL, Said, Stage, claim, said};

static IN_LEDGER: Operation = Operation::in_ledger("count");

/// Every command that only looks, on a ledger with an entry in its outbox.
const LOOKS: [&[&str]; 13] = [
    &["stats"],
    &["stats", "--sizes"],
    &["list"],
    &["list", "--all", "--json"],
    &["list", "--state", "parked"],
    &["show", "user-17", "POST /v1/charges", "asked-the-bank"],
    &["check"],
    &["export"],
    &["watch", "--times", "2", "--every", "10ms"],
    &["outbox", "list"],
    &["outbox", "show", "1"],
    &["show", "nobody", "POST /v1/charges", "nothing"],
    &["snapshot", "copy.kl"],
];

/// A record in each state, and an entry; open.
fn filled() -> (Stage, Ledger) {
    let stage = Stage::filled();
    let ledger = stage.open();
    let scope = Scope::new("user-17").expect("a scope");
    let outbox = ledger.outbox().open().expect("an outbox");
    outbox.enqueue(&Enqueue::new(&scope, "send", "text/plain", "please")).expect("it is enqueued");
    (stage, ledger)
}

fn state_of(file: &Path) -> (Vec<u8>, SystemTime) {
    (fs::read(file).expect("the file"), fs::metadata(file).and_then(|metadata| metadata.modified()).expect("a time"))
}

/// Runs all that only looks; what each said, and that the file is as it was.
fn looked(stage: &Stage) -> Vec<(&'static [&'static str], Said)> {
    let before = state_of(&stage.file);
    let all = LOOKS.map(|arguments| {
        let said = stage.run(arguments);
        assert!(state_of(&stage.file) == before, "{arguments:?} has changed the file: {said:?}");
        let _ = fs::remove_file(stage.beside("copy.kl"));
        (arguments, said)
    });
    all.into()
}

fn all_is_told(stage: &Stage) {
    for (arguments, said) in looked(stage) {
        let wanted = if arguments.contains(&"nobody") { 3 } else { 0 };
        assert_eq!(said.exit, Some(wanted), "{arguments:?}: {said:?}");
    }
    assert_eq!(stage.answer(&["export"]).lines().count(), 7);
}

#[test]
fn a_look_changes_not_a_byte_of_a_file_that_was_closed() {
    let (stage, ledger) = filled();
    ledger.close().expect("it closes");
    all_is_told(&stage);
    assert!(super::stage::is_well(&stage.file), "and whoever writes next goes on");
}

#[test]
fn a_look_changes_not_a_byte_of_a_file_that_a_kill_has_left() {
    let (stage, ledger) = filled();
    // What lies on the disk while it is open is what a kill leaves: much of it in the log alone.
    for number in 0..2 {
        let claim = claim(&ledger, &CHARGE, "user-9", &format!("long {number}"));
        claim.complete(Response::bytes(vec![7; 400_000])).expect("it completes");
    }
    let left = stage.beside("left.kl");
    fs::copy(&stage.file, &left).expect("a copy");
    ledger.close().expect("it closes");
    fs::rename(&left, &stage.file).expect("it is as a kill has left it");
    for (arguments, said) in looked(&stage) {
        let wanted = if arguments.contains(&"nobody") { 3 } else { 0 };
        assert_eq!(said.exit, Some(wanted), "{arguments:?}: {said:?}");
    }
    assert_eq!(stage.answer(&["export"]).lines().count(), 9, "what was in the log alone is shown");
    assert!(super::stage::is_well(&stage.file), "and whoever writes next goes on");
}

#[test]
fn a_look_changes_not_a_byte_of_a_damaged_file() {
    let (stage, ledger) = filled();
    ledger.close().expect("it closes");
    stage.answer(&["compact", "--even-with-claims", "--yes"]);
    let mut bytes = fs::read(&stage.file).expect("the file");
    let answer = b"Content-Type: application/json\r\n\r\n{\"id\":7}";
    let at = bytes.windows(answer.len()).rposition(|window| window == answer).expect("an answer");
    bytes[at] ^= 1;
    fs::write(&stage.file, bytes).expect("it is damaged");
    let ended: Vec<_> = looked(&stage).into_iter().map(|(arguments, said)| (arguments[0], said.exit)).collect();
    assert!(ended.contains(&("check", Some(1))) && ended.contains(&("export", Some(9))), "{ended:?}");
}

/// The program as somebody who may only read: modes mean nothing to the owner of the machine.
fn as_nobody(stage: &Stage, arguments: &[&str]) -> Said {
    let program = stage.beside("keyledger");
    let mut command = Command::new(program);
    command.arg(&stage.file).args(arguments).current_dir("/").env_remove("KEYLEDGER_FILE");
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    said(command.output().expect("it runs"))
}

#[test]
fn a_file_that_may_only_be_read_is_looked_at_in_a_folder_that_may_only_be_read() {
    let (stage, ledger) = filled();
    ledger.close().expect("it closes");
    let program = stage.beside("keyledger");
    fs::copy(env!("CARGO_BIN_EXE_keyledger"), &program).expect("a copy that everybody may run");
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    set(&program, 0o755);
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&stage.file, Some(65_534), Some(65_534)).expect("another owner");
    }
    set(&stage.file, 0o400);
    set(stage.folder.path(), 0o555);
    let before = state_of(&stage.file);
    for arguments in LOOKS.iter().filter(|arguments| arguments[0] != "snapshot" && !arguments.contains(&"nobody")) {
        let said = as_nobody(&stage, arguments);
        assert_eq!(said.exit, Some(0), "{arguments:?}: {said:?}");
    }
    let refused = as_nobody(&stage, &["sweep", "--yes"]);
    assert!(state_of(&stage.file) == before);
    set(stage.folder.path(), 0o755);
    assert_eq!(refused.exit, Some(7), "{refused:?}");
    assert!(refused.err.contains("it may only be read"), "{refused:?}");
}

fn key_id(key: &str) -> KeyId {
    let (scope, key) = (Scope::new("user-17").expect("a scope"), Key::new(key).expect("a key"));
    KeyId::new(scope, "POST /v1/charges", key).expect("a key id")
}

#[test]
fn a_ledger_that_is_opened_read_only_tells_all_and_grants_nothing() {
    let (stage, ledger) = filled();
    ledger.close().expect("it closes");
    let before = state_of(&stage.file);
    let ledger = Ledger::builder().read_only().open(&stage.file).expect("a look");
    assert_eq!(Ledger::open(&stage.file).expect_err("it is locked").code(), ErrorCode::AlreadyOpen);
    let asked = |operation: &Operation, key: &str| {
        let (scope, key) = (Scope::new("user-17").expect("a scope"), Key::new(key).expect("a key"));
        ledger.begin_with(&Begin::new(operation, &scope, &key, Fingerprint::of_bytes(&[b"asked"])))
    };
    assert!(matches!(asked(&CHARGE, "done"), Ok(Decision::Replay(_))), "an answer is told");
    for operation in [&CHARGE, &MAIL, &IN_LEDGER] {
        let refused = asked(operation, "new").expect_err("nothing is granted, not even in memory");
        assert_eq!(refused.code(), ErrorCode::Unavailable, "{refused}");
        assert!(refused.to_string().contains("read_only"), "{refused}");
    }
    let view = ledger.inspect(&key_id("asked-the-bank")).expect("an answer").expect("a record");
    let refusals = [
        ledger.resolve(&key_id("asked-the-bank"), view.fence(), Resolution::NotDone, "ann", "it is so").err(),
        ledger.forget(&key_id("done"), false).err(),
        ledger.compact(true).err(),
    ];
    for refused in refusals {
        assert_eq!(refused.expect("it is refused").code(), ErrorCode::Unavailable);
    }
    assert!(ledger.check().expect("a check").is_well());
    assert_eq!(ledger.outbox().open().and_then(|outbox| outbox.stats()).expect("an outbox").unsettled, 1);
    ledger.suspend().expect("it lets go");
    drop(Ledger::builder().read_only().open(&stage.file).expect("and another one looks"));
    ledger.resume().expect("it looks again");
    ledger.reopen().expect("it looks again");
    assert_eq!(ledger.stats().expect("counts").completed, 1);
    ledger.close().expect("it closes");
    assert!(state_of(&stage.file) == before);
}

#[test]
fn a_look_makes_no_file_and_is_no_other_kind_of_opening() {
    let stage = Stage::empty();
    let look = || Ledger::builder().read_only();
    assert_eq!(look().open(&stage.file).expect_err("nothing is there").code(), ErrorCode::Unavailable);
    assert!(!stage.file.exists());
    assert_eq!(look().shared().open(&stage.file).expect_err("not both").code(), ErrorCode::InvalidArgument);
    assert_eq!(look().admin_socket().open(&stage.file).expect_err("not both").code(), ErrorCode::InvalidArgument);
}
