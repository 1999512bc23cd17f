//! Writing histories down.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::sync::Arc;

use keyledger::Clock;
use serde::{Deserialize, Serialize};

use super::{Act, Answer, Call};
use crate::model::Id;

/// Where a process writes down what its threads see.
#[derive(Clone)]
pub struct Recorder {
    process: u32,
    clock: Arc<dyn Clock>,
    read_clock: fn(&dyn Clock) -> u64,
    file: Option<Arc<File>>,
}

impl Recorder {
    /// For one process: what is seen is kept in memory. Leases are judged by the monotonic clock (L7).
    pub fn in_memory(clock: impl Clock + 'static) -> Recorder {
        Recorder { process: 0, clock: Arc::new(clock), read_clock: |clock| clock.monotonic_ms(), file: None }
    }

    /// For one of several processes: a line of JSON at the end of `path` when a call begins and another when it is answered, so
    /// that of a process which was killed the call in hand is known. Processes have only the wall clock in common, unless the
    /// system names the run that its monotonic clock counts in (L7).
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn to_file(process: u32, clock: impl Clock + 'static, path: &Path) -> io::Result<Recorder> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let read_clock: fn(&dyn Clock) -> u64 = match clock.boot_id() {
            Some(_) => |clock| clock.monotonic_ms(),
            None => |clock| clock.wall_ms(),
        };
        Ok(Recorder { process, clock: Arc::new(clock), read_clock, file: Some(Arc::new(file)) })
    }

    /// For one thread.
    pub fn scribe(&self, thread: u32) -> Scribe {
        Scribe { recorder: self.clone(), thread, acts: Vec::new() }
    }

    fn clock_ms(&self) -> u64 {
        (self.read_clock)(&*self.clock)
    }
}

/// Writes down what one thread sees.
pub struct Scribe {
    recorder: Recorder,
    thread: u32,
    acts: Vec<Act>,
}

impl Scribe {
    /// Writes `call` down, makes it, and writes down what it was told.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn record<T>(&mut self, id: &Id, call: Call, make: impl FnOnce() -> (T, Answer)) -> T {
        let number = self.acts.len();
        let (called, clock_before) = (now(), self.recorder.clock_ms());
        self.write(number, Event::Called { id: parts(id), call: call.clone(), at: called, clock: clock_before });
        let (value, answer) = make();
        let (clock, at) = (self.recorder.clock_ms(), now());
        self.write(number, Event::Answered { answer: answer.clone(), at, clock });
        self.acts.push(Act {
            by: (self.recorder.process, self.thread),
            id: id.clone(),
            call,
            answer: Some(answer),
            span: (called, at),
            clock: (clock_before, clock),
        });
        value
    }

    /// What was seen.
    pub fn acts(self) -> Vec<Act> {
        self.acts
    }

    // One write to a file that is appended to: lines of several threads do not mix, and a killed process has written it.
    fn write(&self, number: usize, event: Event) {
        let Some(mut file) = self.recorder.file.as_deref() else { return };
        let line = Line { process: self.recorder.process, thread: self.thread, number, event };
        let mut line = serde_json::to_vec(&line).expect("it can be told as JSON");
        line.push(b'\n');
        file.write_all(&line).expect("the history is written");
    }
}

#[derive(Serialize, Deserialize)]
struct Line {
    process: u32,
    thread: u32,
    number: usize,
    event: Event,
}

#[derive(Serialize, Deserialize)]
enum Event {
    Called { id: [String; 3], call: Call, at: u64, clock: u64 },
    Answered { answer: Answer, at: u64, clock: u64 },
}

/// The history that these files hold together.
///
/// # Errors
/// If a file cannot be read, or is none that a recorder wrote. A last line that was cut short is passed over.
pub fn read(paths: &[impl AsRef<Path>]) -> io::Result<Vec<Act>> {
    let mut acts: BTreeMap<(u32, u32, usize), Act> = BTreeMap::new();
    for path in paths {
        for line in BufReader::new(File::open(path)?).lines() {
            match serde_json::from_str(&line?) {
                Ok(line) => take(&mut acts, line)?,
                Err(error) if error.is_eof() => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(acts.into_values().collect())
}

fn take(acts: &mut BTreeMap<(u32, u32, usize), Act>, line: Line) -> io::Result<()> {
    let Line { process, thread, number, event } = line;
    match event {
        Event::Called { id: [scope, operation, key], call, at, clock } => {
            let id = Id { scope, operation, key };
            let (by, span, clock) = ((process, thread), (at, u64::MAX), (clock, u64::MAX));
            acts.insert((process, thread, number), Act { by, id, call, answer: None, span, clock });
        }
        Event::Answered { answer, at, clock } => {
            let act = acts.get_mut(&(process, thread, number));
            let act = act.ok_or_else(|| io::Error::other("an answer to a call that was not made"))?;
            (act.answer, act.span.1, act.clock.1) = (Some(answer), at, clock);
        }
    }
    Ok(())
}

fn parts(id: &Id) -> [String; 3] {
    [id.scope.clone(), id.operation.clone(), id.key.clone()]
}

/// Nanoseconds of a clock that all processes of the machine share.
#[cfg(unix)]
fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let part = |number: i64| u64::try_from(number).unwrap_or(0);
    part(time.tv_sec).saturating_mul(1_000_000_000) + part(time.tv_nsec)
}

/// Elsewhere the standard library tells no more than what has passed in this process.
#[cfg(not(unix))]
fn now() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    u64::try_from(START.get_or_init(std::time::Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}
