//! A disk without room, a real one: a file system in memory, mounted where nobody else sees it, and filled up.

use super::interrupted::due;
use super::stage::{MAIL, Said, Stage, claim};
use std::process::{Command, Stdio};

/// The size of the disk.
const DISK_KIB: u64 = 64 * 1024;

/// Much to sweep and to compact, and one to resolve.
fn stage() -> Stage {
    let stage = due();
    let ledger = stage.open();
    std::mem::forget(claim(&ledger, &MAIL, "user-17", "welcome"));
    ledger.close().expect("it closes");
    stage
}

/// A shell in a mount namespace of its own, where the system lets us have one.
fn shell() -> Option<Command> {
    let namespace = || {
        let mut unshare = keyledger_needs::program("unshare", "util-linux")?;
        unshare.args(["--map-root-user", "--mount", "sh", "-c"]);
        Some(unshare)
    };
    let tried = namespace()?.arg("mount -t tmpfs tmpfs /mnt").stderr(Stdio::null()).status();
    let mounts = tried.is_ok_and(|status| status.success());
    // A container is given that by its `--privileged`.
    let advice = "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 user.max_user_namespaces=1000";
    keyledger_needs::needed(mounts.then_some(()), "a mount namespace of one's own", advice).and_then(|()| namespace())
}

/// What a command did on the full disk, which files were there then, and how `check` ended once there was room again.
struct Done {
    said: Said,
    names: String,
    check: String,
}

/// A disk with a copy of the ledger, whose holes are kept as they are or filled up, and so many KiB of room.
struct Disk {
    holes: bool,
    room_kib: u64,
}

impl Disk {
    fn run(&self, stage: &Stage, arguments: &str) -> Option<Done> {
        let script = r#"
            mount -t tmpfs -o size="$DISK_KIB"k tmpfs "$DISK" && cd "$DISK" && cp --sparse="$HOLES" "$FILE" payments.kl || exit 99
            left=$(df -k --output=avail "$DISK" | tail -1)
            head -c $(( (left - ROOM_KIB) * 1024 )) /dev/zero > ballast
            eval "$KEYLEDGER payments.kl $ARGUMENTS" > "$OUT/out" 2> "$OUT/err"
            echo $? > "$OUT/exit"
            ls -A > "$OUT/names"
            rm ballast
            "$KEYLEDGER" payments.kl check > "$OUT/check" 2>&1
        "#;
        let (out, disk) = (tempfile::tempdir().expect("a folder"), stage.beside("disk"));
        std::fs::create_dir_all(&disk).expect("a folder");
        let mut shell = shell()?;
        shell.arg(script).env("DISK", &disk).env("OUT", out.path()).env("FILE", &stage.file);
        shell.env("DISK_KIB", DISK_KIB.to_string()).env("ROOM_KIB", self.room_kib.to_string());
        shell.env("HOLES", if self.holes { "always" } else { "never" });
        shell.env("KEYLEDGER", env!("CARGO_BIN_EXE_keyledger")).env("ARGUMENTS", arguments);
        shell.status().expect("it runs");
        let text = |name: &str| std::fs::read_to_string(out.path().join(name)).expect("it was written");
        let said = Said { exit: text("exit").trim().parse().ok(), out: text("out"), err: text("err") };
        Some(Done { said, names: text("names"), check: text("check") })
    }
}

/// That it was refused for want of room, with advice; nothing unfinished is left, and the file is well.
fn assert_refused(done: &Done, what: &str) {
    let Done { said, names, check } = done;
    assert_eq!(said.exit, Some(10), "{what}: {said:?}");
    assert!(said.err.contains("No space left on device"), "{what}: {said:?}");
    assert!(said.err.contains("ake room") && said.err.contains("again"), "{what}: it says what to do: {said:?}");
    assert!(!said.err.contains("handle"), "{what}: nobody at a terminal has a handle: {said:?}");
    let left: Vec<&str> = names.lines().filter(|name| !["ballast", "lines", "payments.kl"].contains(name)).collect();
    assert!(left.is_empty(), "{what}: {left:?}");
    assert!(check.contains("all is well"), "{what}: {check}");
}

const RESOLVE: &str = "resolve user-17 mail welcome --not-done --who ann --note 'no such mail' --yes";
const SWEEP: &str = "sweep --batch 5000 --yes";
const COMPACT: &str = "compact --yes";
const SNAPSHOT: &str = "snapshot copy.kl";
const RESTORE: &str = "restore \"$FILE\" --yes";
const EXPORT: &str = "export > lines";

#[test]
fn a_disk_without_room_is_told_with_advice_and_the_file_is_well_afterwards() {
    let stage = stage();
    let refused = [
        // A file with holes cannot be written at all.
        (true, 0, &[SWEEP, COMPACT, RESOLVE, SNAPSHOT, RESTORE, EXPORT][..]),
        // It opens, and the work in it does not fit.
        (true, 256, &[SWEEP, COMPACT, SNAPSHOT, RESTORE, EXPORT]),
        // Its copy does not.
        (false, 0, &[SNAPSHOT, RESTORE, EXPORT]),
        (false, 4096, &[SNAPSHOT, RESTORE, EXPORT]),
    ];
    for (holes, room_kib, commands) in refused {
        for command in commands {
            let Some(done) = (Disk { holes, room_kib }).run(&stage, command) else { return };
            assert_refused(&done, &format!("{command} with {room_kib} KiB left, holes: {holes}"));
        }
    }
}

#[test]
fn on_a_disk_without_room_people_can_look_and_decide() {
    let stage = stage();
    for command in ["list", "stats", RESOLVE] {
        let Some(done) = (Disk { holes: false, room_kib: 0 }).run(&stage, command) else { return };
        assert_eq!(done.said.exit, Some(0), "{command}: {:?}", done.said);
        assert!(done.check.contains("all is well"), "{command}: {}", done.check);
    }
}
