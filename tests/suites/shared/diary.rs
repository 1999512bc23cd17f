//! What a process writes down as it goes: a line for each thing that happened, in a file that outlives a kill.

use keyledger::{Clock, SystemClock};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// Milliseconds of the clock that all processes of this machine share.
pub(crate) fn now_ms() -> u64 {
    SystemClock.monotonic_ms()
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// A claim with this fence was granted between these instants.
    Granted { key: u64, fence: u64, asked_ms: u64, told_ms: u64 },
    /// Its lease was renewed by a call made at this instant.
    Renewed { key: u64, fence: u64, asked_ms: u64 },
    /// It is about to be given up: completed, released or dropped.
    Ending { key: u64, fence: u64, at_ms: u64 },
    /// It was completed, with this answer, and told so.
    Completed { key: u64, answer: String },
    /// An answer that was told again.
    Replayed { key: u64, answer: String },
}

/// The diary of one process.
pub(crate) struct Diary(File);

impl Diary {
    pub(crate) fn open(path: &Path) -> Self {
        Self(OpenOptions::new().create(true).append(true).open(path).expect("a diary can be written"))
    }

    /// In one write, so that a kill leaves the line or not.
    pub(crate) fn note(&mut self, event: &Event) {
        let line = match event {
            Event::Granted { key, fence, asked_ms, told_ms } => format!("granted {key} {fence} {asked_ms} {told_ms}\n"),
            Event::Renewed { key, fence, asked_ms } => format!("renewed {key} {fence} {asked_ms}\n"),
            Event::Ending { key, fence, at_ms } => format!("ending {key} {fence} {at_ms}\n"),
            Event::Completed { key, answer } => format!("completed {key} {answer}\n"),
            Event::Replayed { key, answer } => format!("replayed {key} {answer}\n"),
        };
        self.0.write_all(line.as_bytes()).expect("a diary can be written");
    }
}

/// Everything that is in a diary.
pub(crate) fn read(path: &Path) -> Vec<Event> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(event_of).collect()
}

fn event_of(line: &str) -> Event {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |at: usize| words[at].parse().unwrap_or_else(|_| panic!("no number in {line:?}"));
    match words[0] {
        "granted" => Event::Granted { key: number(1), fence: number(2), asked_ms: number(3), told_ms: number(4) },
        "renewed" => Event::Renewed { key: number(1), fence: number(2), asked_ms: number(3) },
        "ending" => Event::Ending { key: number(1), fence: number(2), at_ms: number(3) },
        "completed" => Event::Completed { key: number(1), answer: words[2].to_owned() },
        "replayed" => Event::Replayed { key: number(1), answer: words[2].to_owned() },
        other => panic!("{other:?} is nothing that happens"),
    }
}
