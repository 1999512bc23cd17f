//! Whose a restored file is: whoever could open the ledger before can do so afterwards, also if root restored it.

use super::stage::{Said, Stage, said};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;

/// Nobody, and nobody's group, as most systems number them.
const NOBODY: u32 = 65_534;

/// User, group and mode of a file.
fn owner(path: &Path) -> (u32, u32, u32) {
    let metadata = fs::metadata(path).expect("a file");
    (metadata.uid(), metadata.gid(), metadata.mode() & 0o777)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A ledger, and a snapshot of it; both, and their folder, are nobody's where root can give them away.
fn stage(mode: u32) -> Stage {
    let stage = Stage::filled();
    stage.answer(&["snapshot", "monday.kl"]);
    fs::set_permissions(&stage.file, Permissions::from_mode(mode)).expect("a mode");
    if is_root() {
        for path in [stage.folder.path(), &stage.file, &stage.beside("monday.kl")] {
            chown(path, Some(NOBODY), Some(NOBODY)).expect("root gives it away");
        }
    }
    stage
}

#[test]
fn a_restored_file_keeps_owner_group_and_mode_of_the_one_that_was_there() {
    for mode in [0o600, 0o640, 0o666] {
        let stage = stage(mode);
        let before = owner(&stage.file);
        let own = if is_root() { NOBODY } else { rustix::process::geteuid().as_raw() };
        assert_eq!((before.0, before.2), (own, mode));
        let said = stage.run(&["restore", "monday.kl", "--yes"]);
        assert_eq!((said.exit, said.err.as_str()), (Some(0), ""), "nothing is lost, and nothing is told: {said:?}");
        assert_eq!(owner(&stage.file), before);
        let restored = stage.json(&["restore", "monday.kl", "--yes"]);
        assert!(restored.get("warning").is_none(), "{restored}");
        let kept = restored["kept"].as_str().expect("the old file");
        assert_eq!(owner(Path::new(kept)), before, "and so does the old one");
    }
}

#[test]
fn where_there_was_no_file_root_gives_it_to_the_owner_of_the_folder_and_others_keep_it() {
    let stage = stage(0o640);
    let folder = owner(stage.folder.path());
    fs::remove_file(&stage.file).expect("it goes");
    stage.answer(&["restore", "monday.kl", "--yes"]);
    let (user, group, mode) = owner(&stage.file);
    let own = rustix::process::geteuid().as_raw();
    assert_eq!((user, mode), (if is_root() { NOBODY } else { own }, 0o600));
    assert!(!is_root() || (user, group) == (folder.0, folder.1));
}

/// The program as nobody, if root runs the tests; else as oneself.
fn as_nobody(stage: &Stage, arguments: &[&str]) -> Said {
    let program = stage.beside("keyledger");
    fs::copy(env!("CARGO_BIN_EXE_keyledger"), &program).expect("a copy that everybody may run");
    fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("a mode");
    let mut command = std::process::Command::new(&program);
    command.arg(&stage.file).args(arguments).current_dir(stage.folder.path()).stdin(std::process::Stdio::null());
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    said(command.output().expect("it runs"))
}

#[test]
fn whoever_cannot_keep_the_owner_is_told_before_it_is_asked_and_lets_no_other_group_in() {
    let stage = stage(0o600);
    if is_root() {
        chown(&stage.file, Some(0), Some(0)).expect("root's own");
    }
    // Everybody may open the old file.
    fs::set_permissions(&stage.file, Permissions::from_mode(0o666)).expect("a mode");
    let before = owner(&stage.file);
    let asked = as_nobody(&stage, &["restore", "monday.kl"]);
    assert_eq!(asked.exit, Some(11), "{asked:?}");
    let done = as_nobody(&stage, &["restore", "monday.kl", "--yes"]);
    assert_eq!(done.exit, Some(0), "{done:?}");
    if is_root() {
        let told = format!("will belong to user {NOBODY} and group {NOBODY} (mode 0606) instead of user 0 and group 0");
        assert!(asked.err.contains(&told) && done.err.contains(&told), "{asked:?}, {done:?}");
        assert_eq!(owner(&stage.file), (NOBODY, NOBODY, 0o606));
    } else {
        assert!(!asked.err.contains("instead of") && done.err.is_empty(), "one's own is kept: {asked:?}, {done:?}");
        assert_eq!(owner(&stage.file), before);
    }
}
