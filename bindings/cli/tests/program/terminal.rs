//! At a terminal: the question, and how long work shows that it goes on.

use super::stage::{Said, Stage};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";
/// A terminal that says nothing for so long has nothing more to say.
const PATIENCE: Duration = Duration::from_secs(20);

/// The program at a terminal of its own.
struct Terminal {
    keys: File,
    screen: std::sync::mpsc::Receiver<Vec<u8>>,
    seen: String,
    program: Child,
}

impl Terminal {
    fn of(stage: &Stage, arguments: &[&str]) -> Self {
        Self::with_output(stage, arguments, None)
    }

    /// What is not told on the standard error goes to `output`, if there is one.
    fn with_output(stage: &Stage, arguments: &[&str], output: Option<File>) -> Self {
        Self::as_wide_as(80, stage, arguments, output)
    }

    fn as_wide_as(columns: u16, stage: &Stage, arguments: &[&str], output: Option<File>) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("it is ours");
        unlockpt(&master).expect("it is open");
        let extent = rustix::termios::Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&master, extent).expect("it has a size");
        let name = ptsname(&master, Vec::new()).expect("its name").into_string().expect("a path");
        let mut options = File::options();
        options.read(true).write(true).custom_flags(OFlags::NOCTTY.bits().cast_signed());
        let side = options.open(Path::new(&name)).expect("its other side");
        let program = stage.command(arguments);
        // A session of its own, whose terminal it is: Ctrl-C comes through that alone.
        let mut command = keyledger_needs::program("setsid", "util-linux").expect("a session of its own");
        command.args(["--ctty", "--wait"]).arg(program.get_program()).args(program.get_args());
        command.current_dir(stage.folder.path()).env_remove("KEYLEDGER_FILE").env_remove("KEYLEDGER_WHO");
        command.env("TERM", "xterm").stdin(side.try_clone().expect("a side"));
        command.stdout(output.unwrap_or_else(|| side.try_clone().expect("a side"))).stderr(side);
        let program = command.spawn().expect("it runs");
        let keys = File::from(master);
        let screen = reading(keys.try_clone().expect("a side"));
        Self { keys, screen, seen: String::new(), program }
    }

    /// Waits until the screen has shown `what`.
    fn shows(&mut self, what: &str) -> &mut Self {
        let began = Instant::now();
        while !self.seen.contains(what) {
            assert!(began.elapsed() < PATIENCE, "{what} does not come: {}", self.seen);
            match self.screen.recv_timeout(PATIENCE) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => panic!("{what} does not come: {error}: {}", self.seen),
            }
        }
        self
    }

    fn types(&mut self, keys: &str) -> &mut Self {
        self.keys.write_all(keys.as_bytes()).expect("it is typed");
        self
    }

    /// How it ended, and all that was on the screen.
    fn ends(mut self) -> Said {
        // Closed by the last who has it open, so this ends with the program.
        while let Ok(bytes) = self.screen.recv_timeout(PATIENCE) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        let exit = self.program.wait().expect("it ends").code();
        Said { exit, out: self.seen, err: String::new() }
    }
}

/// What comes on the screen, until nobody writes there any more.
fn reading(mut screen: File) -> std::sync::mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = screen.read(&mut bytes) {
            if sender.send(bytes[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

const FORGET: [&str; 4] = ["forget", "user-17", "POST /v1/charges", "done"];

fn is_there(stage: &Stage) -> bool {
    stage.run(&["show", "user-17", "POST /v1/charges", "done"]).exit == Some(0)
}

#[test]
fn a_yes_at_the_question_does_it() {
    let stage = Stage::filled();
    let mut terminal = Terminal::of(&stage, &FORGET);
    terminal.shows("will be removed").shows("Go on? [y/N] ").types("y\r");
    let said = terminal.ends();
    assert_eq!(said.exit, Some(0), "{said:?}");
    assert!(said.out.contains("1 record removed") && !is_there(&stage), "{said:?}");
}

#[test]
fn whatever_else_is_said_at_the_question_does_nothing() {
    let stage = Stage::filled();
    for (keys, exit) in [("n\r", 11), ("\r", 11), ("yesterday\r", 11), (CTRL_D, 11), (CTRL_C, 130)] {
        let mut terminal = Terminal::of(&stage, &FORGET);
        terminal.shows("[y/N] ").types(keys);
        let said = terminal.ends();
        assert_eq!(said.exit, Some(exit), "{keys:?}: {said:?}");
        assert!(exit == 130 || said.out.contains("nothing was done"), "{keys:?}: {said:?}");
        assert!(is_there(&stage), "{keys:?}");
    }
    assert!(super::stage::is_well(&stage.file));
}

#[test]
fn a_program_that_takes_the_answer_does_not_keep_what_the_question_is_about_from_the_person() {
    let stage = Stage::filled();
    let all = super::truth::resolve(&["--all"], &["--not-done"], "ann", "why");
    let arguments = [&all[..], &["--json"]].concat();
    let output = stage.beside("output");
    let mut terminal = Terminal::with_output(&stage, &arguments, Some(File::create(&output).expect("a file")));
    terminal.shows("asked-the-bank").shows("[y/N] ").types("y\r");
    let said = terminal.ends();
    assert_eq!(said.exit, Some(0), "{said:?}");
    let answer = std::fs::read(output).expect("the answer");
    let told: serde_json::Value = serde_json::from_slice(&answer).expect("JSON and nothing else");
    assert_eq!(told["kind"], "resolved", "{told}");
    // Where nobody is asked, the answer is all.
    let said = stage.run(&[&arguments[..], &["--yes"]].concat());
    assert_eq!((said.exit, said.err.as_str()), (Some(0), ""), "{said:?}");
}

#[test]
fn without_a_terminal_nothing_is_asked_and_nothing_is_done() {
    let stage = Stage::filled();
    let began = Instant::now();
    let said = stage.run(&FORGET);
    assert!(began.elapsed() < PATIENCE, "nobody waits for an answer");
    assert_eq!(said.exit, Some(11), "{said:?}");
    assert!(said.err.contains("--yes") && !said.err.contains("[y/N]"), "{said:?}");
    assert!(is_there(&stage));
}

#[test]
fn long_work_shows_that_it_goes_on_at_a_terminal_and_nowhere_else() {
    let stage = super::interrupted::due();
    stage.answer(&["snapshot", "copy.kl"]);
    let long: [(&[&str], &str); 6] = [
        (&["restore", "copy.kl", "--yes"], "copying"),
        (&["sweep", "--batch", "50", "--yes"], "swept"),
        (&["compact", "--yes"], "compacting"),
        (&["check"], "checking"),
        (&["snapshot", "other.kl"], "copying"),
        (&["export"], "exported"),
    ];
    for (arguments, shown) in long {
        let output = File::create(stage.beside("output")).expect("a file");
        let screen = Terminal::with_output(&stage, arguments, Some(output)).ends();
        assert_eq!(screen.exit, Some(0), "{arguments:?}: {screen:?}");
        assert!(screen.out.contains(shown), "{arguments:?}: {}", screen.out);
        let _ = std::fs::remove_file(stage.beside("other.kl"));
        let said = stage.run(arguments);
        assert_eq!((said.exit, said.err.as_str()), (Some(0), ""), "{arguments:?}");
        let _ = std::fs::remove_file(stage.beside("other.kl"));
    }
}

#[test]
fn colour_is_there_at_a_terminal_unless_somebody_wants_none() {
    let stage = Stage::filled();
    assert!(Terminal::of(&stage, &["list"]).ends().out.contains("\u{1b}["));
    assert!(!Terminal::of(&stage, &["list", "--color", "never"]).ends().out.contains("\u{1b}["));
}

#[test]
fn a_record_is_one_line_of_the_terminal_however_wide_that_is() {
    let stage = Stage::empty();
    let ledger = stage.open();
    for number in 0..5 {
        let key = format!("order-{number}-of-somebody-with-a-long-name");
        let claim = super::stage::claim(&ledger, &super::stage::CHARGE, "user-17-of-a-large-customer", &key);
        claim.park("the mail server did not answer in time").expect("it is parked");
    }
    ledger.close().expect("it closes");
    // A terminal that does not tell its width has eighty columns.
    for (columns, most) in [(80, 80), (60, 60), (0, 80)] {
        let shown = Terminal::as_wide_as(columns, &stage, &["list", "--color", "never"], None).ends().out;
        let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
        assert_eq!(lines.len(), 6, "{columns}: {shown}");
        assert!(lines.iter().all(|line| line.chars().count() <= most && !line.is_empty()), "{columns}: {shown}");
        assert!(lines[1].contains('…') && lines[1].contains("parked: "), "{columns}: {shown}");
    }
    let piped = stage.answer(&["list"]);
    assert!(piped.contains("in time  user-17-of-a-large-customer") && !piped.contains('…'), "{piped}");
}

#[test]
fn watch_fits_eighty_columns() {
    let stage = Stage::filled();
    let shown = Terminal::of(&stage, &["watch", "--every", "10ms", "--times", "3"]).ends().out;
    assert_eq!(shown.lines().count(), 4, "{shown}");
    assert!(shown.lines().all(|line| line.trim_end().len() <= 80), "{shown}");
}

#[test]
fn while_a_person_thinks_the_file_is_free() {
    let stage = Stage::filled();
    let mut terminal = Terminal::of(&stage, &FORGET);
    terminal.shows("[y/N] ");
    let ledger = keyledger::Ledger::open(&stage.file).expect("nobody holds it");
    ledger.close().expect("it closes");
    terminal.types("y\r");
    assert_eq!(terminal.ends().exit, Some(0));
    assert!(!is_there(&stage));
}

#[test]
fn the_question_says_how_much_a_sweep_does() {
    let stage = super::interrupted::due();
    let mut terminal = Terminal::of(&stage, &["sweep"]);
    terminal.shows("or more records are past their time").shows("[y/N] ").types("n\r");
    assert_eq!(terminal.ends().exit, Some(11));
}
