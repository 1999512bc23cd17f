//! Files that are none, or no good: each is told for what it is, and not touched (I9).

use super::stage::{CHARGE, Said, Stage, claim, said};
use keyledger::Response;
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Runs a command that must fail, and leave the file as it was.
fn refused(stage: &Stage, arguments: &[&str]) -> Said {
    let before = fs::read(&stage.file).expect("the file");
    let said = stage.run(arguments);
    assert_eq!(fs::read(&stage.file).expect("the file"), before, "{said:?}");
    assert!(said.out.is_empty(), "{said:?}");
    said
}

fn error_code(said: &Said) -> String {
    let told: serde_json::Value = serde_json::from_str(&said.err).expect("JSON");
    told["error"]["code"].as_str().expect("a code").to_owned()
}

#[test]
fn a_missing_file_is_not_made() {
    let stage = Stage::empty();
    let said = stage.run(&["stats", "--json"]);
    assert_eq!((said.exit, error_code(&said).as_str()), (Some(3), "no_file"));
    assert!(!stage.file.exists());
}

#[test]
fn an_empty_file_and_a_text_and_a_database_are_no_ledgers() {
    for bytes in [&b""[..], b"hello, I am a letter\n", b"SQLite format 3\0 and so on"] {
        let stage = Stage::empty();
        stage.write("payments.kl", &[bytes, &vec![0; bytes.len() * 500]].concat());
        let said = refused(&stage, &["list", "--json"]);
        assert_eq!((said.exit, error_code(&said).as_str()), (Some(8), "wrong_format"), "{said:?}");
    }
}

#[test]
fn a_ledger_of_a_later_format_and_one_with_a_broken_header_are_told_apart() {
    let stage = Stage::filled();
    let mut bytes = fs::read(&stage.file).expect("the file");
    // docs/format.md: the version in four bytes, and the hash of what is before it.
    bytes[16..20].copy_from_slice(&2_u32.to_be_bytes());
    stage.write("payments.kl", &bytes);
    assert_eq!(refused(&stage, &["stats"]).exit, Some(9));
    let hash = Sha256::digest(&bytes[..40]);
    bytes[40..72].copy_from_slice(&hash);
    stage.write("payments.kl", &bytes);
    let said = refused(&stage, &["stats"]);
    assert_eq!(said.exit, Some(8));
    assert!(said.err.contains("format version 2"), "{said:?}");
}

#[test]
fn a_folder_is_no_ledger() {
    let stage = Stage::empty();
    fs::create_dir(&stage.file).expect("a folder");
    assert_eq!(stage.run(&["stats"]).exit, Some(8));
}

/// A compacted ledger with two hundred long answers, and the bytes of its file.
fn with_long_answers() -> (Stage, Vec<u8>) {
    let stage = Stage::empty();
    let ledger = stage.open();
    for number in 0..200 {
        let claim = claim(&ledger, &CHARGE, "user-17", &format!("key {number}"));
        claim.complete(Response::bytes(vec![7; 20_000])).expect("it completes");
    }
    ledger.close().expect("it closes");
    stage.answer(&["compact", "--yes"]);
    let bytes = fs::read(&stage.file).expect("the file");
    (stage, bytes)
}

#[test]
fn a_damaged_answer_is_a_finding_of_check_and_an_error_to_whoever_needs_it() {
    let (stage, mut bytes) = with_long_answers();
    let length = bytes.len();
    let middle = bytes[length / 2..].windows(1000).position(|window| window == [7; 1000]).expect("an answer");
    bytes[length / 2 + middle + 500] ^= 1;
    fs::write(&stage.file, &bytes).expect("it is damaged");
    let said = stage.run(&["check", "--json"]);
    assert_eq!((said.exit, error_code(&said).as_str()), (Some(1), "not_well"), "{said:?}");
    assert!(said.err.contains("snapshot"), "it says what to do: {said:?}");
    let said = stage.run(&["export", "--json"]);
    let last = Said { err: said.err.lines().last().unwrap_or_default().to_owned(), ..said };
    assert_eq!((last.exit, error_code(&last).as_str()), (Some(9), "corrupt"), "{last:?}");
    assert!(last.err.contains("snapshot"), "it says what to do: {last:?}");
}

#[test]
fn a_ledger_that_is_damaged_in_the_middle_is_told_and_not_repaired() {
    let (stage, mut bytes) = with_long_answers();
    let length = bytes.len();
    bytes[length / 2..length / 2 + length / 8].fill(0xaa);
    fs::write(&stage.file, bytes).expect("it is damaged");
    // The pages of the tree itself are gone: it cannot even be opened.
    for command in ["check", "list", "export"] {
        let said = refused(&stage, &[command, "--json"]);
        assert_eq!((said.exit, error_code(&said).as_str()), (Some(9), "corrupt"), "{command}: {said:?}");
        assert!(said.err.contains("snapshot") && !said.err.contains("backtrace"), "{command}: {said:?}");
    }
}

/// The program as somebody who may not read the file: modes mean nothing to the owner of the machine.
fn as_nobody(stage: &Stage, program: &std::path::Path) -> Said {
    let mut command = Command::new(program);
    command.arg(&stage.file).args(["stats", "--json"]).current_dir("/");
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    said(command.output().expect("it runs"))
}

#[test]
fn a_file_that_may_not_be_read_is_unavailable_and_never_corrupt() {
    let stage = Stage::filled();
    fs::set_permissions(stage.folder.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
    let program = stage.beside("keyledger");
    fs::copy(env!("CARGO_BIN_EXE_keyledger"), &program).expect("a copy that everybody may run");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::set_permissions(&stage.file, fs::Permissions::from_mode(0o000)).expect("a mode");
    let said = as_nobody(&stage, &program);
    assert_eq!((said.exit, error_code(&said).as_str()), (Some(7), "unavailable"), "{said:?}");
}

/// The system lets no file grow over so many blocks of 512 bytes, and says so with an error instead of a signal.
fn on_a_full_disk(stage: &Stage, blocks: u64, arguments: &str) -> Said {
    let program = env!("CARGO_BIN_EXE_keyledger");
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec '{program}' '{}' {arguments}", stage.file.display());
    said(Command::new("sh").args(["-c", &script]).current_dir(stage.folder.path()).output().expect("it runs"))
}

#[test]
fn a_full_disk_is_told_and_leaves_the_ledger_as_it_was() {
    let stage = Stage::filled();
    fs::copy(&stage.file, stage.beside("monday.kl")).expect("a copy");
    for arguments in ["snapshot copy.kl --json", "restore monday.kl --yes --json"] {
        let said = on_a_full_disk(&stage, 8, arguments);
        assert_eq!((said.exit, error_code(&said).as_str()), (Some(10), "storage"), "{arguments}: {said:?}");
        assert!(super::stage::is_well(&stage.file));
    }
    let mut names: Vec<_> =
        fs::read_dir(stage.folder.path()).expect("a folder").flatten().map(|file| file.file_name()).collect();
    names.sort();
    assert_eq!(names, ["monday.kl", "payments.kl"], "nothing unfinished is left");
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let stage = Stage::filled();
    let full = fs::File::options().write(true).open("/dev/full").ok();
    let Some(full) = keyledger_needs::needed(full, "/dev/full", "mknod -m 666 /dev/full c 1 7") else { return };
    let mut command = stage.command(&["export"]);
    let ended = command.stdout(full).output().expect("it runs");
    assert_eq!(ended.status.code(), Some(10), "{ended:?}");
}
