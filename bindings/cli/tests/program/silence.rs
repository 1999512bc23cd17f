//! A program that has the file open and is silent is given up after a patience; one that works is waited for, however long that takes (P2).

use super::stage::{CHARGE, Stage, begin, said};
use keyledger::{Error, Ledger};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const CHILD: &str = "KEYLEDGER_CLI_TEST_HOLDER";
const PATIENCE: &str = "KEYLEDGER_PATIENCE";

/// Not a test of its own: this program once more, with a ledger open behind a socket, until its standard input ends.
#[test]
fn a_program_that_holds_the_file() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let _ledger = Ledger::builder().admin_socket().open(path).expect("a ledger");
    std::io::stdin().lines().for_each(drop);
}

/// A process that has the ledger open, and ends with the test.
struct Holder(Child);

impl Holder {
    fn of(stage: &Stage) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "silence::a_program_that_holds_the_file"]).env(CHILD, &stage.file);
        let holder = Self(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("a process"));
        let (socket, start) = (stage.beside("payments.kl.admin"), Instant::now());
        while UnixStream::connect(&socket).is_err() {
            assert!(start.elapsed() < Duration::from_mins(1), "it does not open the ledger");
            std::thread::sleep(Duration::from_millis(5));
        }
        holder
    }

    fn signal(&self, signal: Signal) {
        let process = Pid::from_raw(self.0.id().try_into().expect("a number")).expect("a process");
        kill_process(process, signal).expect("it is told");
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // Also one that is stopped ends by this.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_program_that_is_stopped_is_given_up_and_told_and_answers_when_it_goes_on() {
    let stage = Stage::filled();
    let holder = Holder::of(&stage);
    holder.signal(Signal::STOP);
    let commands: [&[&str]; 5] =
        [&["stats"], &["list", "--json"], &["check"], &["compact", "--yes"], &["export", "--json"]];
    for arguments in commands {
        let began = Instant::now();
        let said = said(stage.command(arguments).env(PATIENCE, "500ms").output().expect("it runs"));
        assert_eq!(said.exit, Some(12), "{arguments:?}: {said:?}");
        assert!(said.err.contains("was silent for 0.5 s"), "{said:?}");
        assert!(arguments.last() != Some(&"--json") || said.err.contains("\"no_answer\""), "{said:?}");
        if cfg!(target_os = "linux") {
            assert!(said.err.contains(&format!("stopped: kill -CONT {}", holder.0.id())), "{said:?}");
        }
        assert!(began.elapsed() < Duration::from_secs(15), "{arguments:?}: {:?}", began.elapsed());
    }
    holder.signal(Signal::CONT);
    assert!(stage.answer(&["stats"]).contains("through the process that has it open"));
}

#[test]
fn long_work_that_lives_is_waited_for_and_keeps_nobody_else_waiting() {
    let stage = Stage::filled();
    let ledger = Ledger::builder().admin_socket().open(&stage.file).expect("a ledger");
    let (work, began) = (Duration::from_secs(5), Instant::now());
    std::thread::scope(|scope| {
        let (tell, told) = std::sync::mpsc::channel();
        let ledger = &ledger;
        // Nothing is written while this goes on.
        scope.spawn(move || {
            let held = ledger.transaction(|_| {
                tell.send(()).expect("somebody listens");
                std::thread::sleep(work);
                Ok::<_, Error>(())
            });
            held.expect("it is committed");
        });
        told.recv().expect("it has begun");
        let sweep = scope.spawn(|| stage.command(&["sweep", "--yes"]).env(PATIENCE, "3s").output().expect("it runs"));
        let mut stream = UnixStream::connect(stage.beside("payments.kl.admin")).expect("the socket");
        stream.write_all(b"{\"do\":\"sweep\",\"limit\":1}\n").expect("it is asked");
        stage.answer(&["list"]);
        assert!(began.elapsed() < work, "who only looks does not wait behind who writes");
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).expect("an answer");
        assert!(line.starts_with(' '), "a sign of life before it: {line:?}");
        let answer: serde_json::Value = serde_json::from_str(&line).expect("it is a line of JSON all the same");
        assert_eq!(answer["ok"]["kind"], "swept");
        let swept = said(sweep.join().expect("it ends"));
        assert_eq!(swept.exit, Some(0), "{swept:?}");
    });
    assert!(began.elapsed() >= work);
    drop(begin(&ledger, &CHARGE, "user-17", "after all"));
}

#[test]
fn a_patience_that_is_none_is_told() {
    let stage = Stage::filled();
    let _ledger = Ledger::builder().admin_socket().open(&stage.file).expect("a ledger");
    for patience in ["soon", "0s", ""] {
        let said = said(stage.command(&["stats"]).env(PATIENCE, patience).output().expect("it runs"));
        assert!(said.exit == Some(2) && said.err.contains("KEYLEDGER_PATIENCE"), "{patience:?}: {said:?}");
    }
}
