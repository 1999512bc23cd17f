//! A bad network between clients and server, and a witness of everything that passes it.

use super::client::{Answer, understand};
use super::message::Message;
use super::plan::{Name, Operation};
use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use std::collections::HashSet;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long requests may be under way after the last client has gone.
const PATIENCE: Duration = Duration::from_secs(15);

/// What passed: a request for a purpose, under a key, and what the server said to it.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) purpose: String,
    pub(crate) name: Name,
    /// None: nothing about the request.
    pub(crate) answer: Option<Answer>,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Pass,
    /// The server gets it later, perhaps when nobody waits any more.
    Delay(Duration),
    /// The server never sees it.
    CutBefore,
    /// The server has seen it, and its answer gets lost.
    CutAfter,
    /// The server never sees it, and the client is told to come back.
    Refuse(u16),
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    server: u16,
    is_calm: AtomicBool,
    busy: AtomicUsize,
    dice: Mutex<Rng>,
    heard: Mutex<Vec<Heard>>,
    answered: Mutex<HashSet<String>>,
}

impl Proxy {
    /// Stands before the server at that port until this process ends.
    pub(crate) fn start(server: u16, seed: u64) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let shared = Arc::new(Shared {
            server,
            is_calm: AtomicBool::new(false),
            busy: AtomicUsize::new(0),
            dice: Mutex::new(Rng::with_seed(seed)),
            heard: Mutex::default(),
            answered: Mutex::default(),
        });
        let proxy = Self { port: listener.local_addr()?.port(), shared: Arc::clone(&shared) };
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                shared.busy.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || {
                    // A connection that breaks is what this is about.
                    let _ = shared.serve(&stream);
                    shared.busy.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Ok(proxy)
    }

    /// From now on everything passes.
    pub(crate) fn calm(&self) {
        self.shared.is_calm.store(true, Ordering::SeqCst);
    }

    /// Returns when nothing is under way; the clients must be gone.
    pub(crate) fn wait_until_idle(&self) -> Result<()> {
        let started = Instant::now();
        while self.shared.busy.load(Ordering::SeqCst) > 0 {
            ensure!(started.elapsed() < PATIENCE, "a request stays under way");
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// How many purposes have an answer that a client could read.
    pub(crate) fn answered(&self) -> usize {
        lock(&self.shared.answered).len()
    }

    /// Everything that has passed.
    pub(crate) fn heard(&self) -> Vec<Heard> {
        lock(&self.shared.heard).clone()
    }
}

impl Shared {
    fn serve(&self, client: &TcpStream) -> Result<()> {
        let request = Message::read(client)?;
        let (name, purpose) = (name(&request)?, request.field("X-Purpose").context("no purpose")?.to_owned());
        let fate = self.roll();
        let answer = match fate {
            Fate::CutBefore => return Ok(()),
            Fate::Refuse(status) => return Message::answer(status, &[("Retry-After", "0")]).write(client),
            Fate::Delay(span) => {
                thread::sleep(span);
                self.forward(&request)
            }
            Fate::Pass | Fate::CutAfter => self.forward(&request),
        };
        let understood = answer.as_ref().ok().and_then(understood);
        let is_done = matches!(understood, Some(Answer::Done { .. }));
        lock(&self.heard).push(Heard { purpose: purpose.clone(), name, answer: understood });
        if matches!(fate, Fate::CutAfter) {
            return Ok(());
        }
        answer?.write(client)?;
        if is_done {
            lock(&self.answered).insert(purpose);
        }
        Ok(())
    }

    fn forward(&self, request: &Message) -> Result<Message> {
        let server = TcpStream::connect(("127.0.0.1", self.server))?;
        request.write(&server)?;
        Message::read(&server)
    }

    fn roll(&self) -> Fate {
        if self.is_calm.load(Ordering::SeqCst) {
            return Fate::Pass;
        }
        let mut dice = lock(&self.dice);
        match dice.u32(..100) {
            0..=55 => Fate::Pass,
            56..=67 => Fate::Delay(Duration::from_millis(dice.u64(20..400))),
            68..=71 => Fate::Delay(Duration::from_millis(dice.u64(1100..1600))),
            72..=79 => Fate::CutBefore,
            80..=87 => Fate::CutAfter,
            88..=93 => Fate::Refuse(503),
            _ => Fate::Refuse(409),
        }
    }
}

/// What the server's answer says about the request; none if it says nothing.
fn understood(answer: &Message) -> Option<Answer> {
    let status = answer.second_word().parse().ok().filter(|status| *status != 503)?;
    Some(understand(status, answer.field("Idempotent-Replayed").is_some(), answer.body.clone()))
}

fn name(request: &Message) -> Result<Name> {
    let operation = Operation::ALL.into_iter().find(|operation| operation.path() == request.second_word());
    let user =
        request.field("Authorization").and_then(|value| value.strip_prefix("Bearer ")?.strip_suffix("-credential"));
    let key = request.field("Idempotency-Key").context("no key")?;
    let (operation, user) = (operation.context("no operation")?, user.context("no user")?.to_owned());
    Ok(Name { operation, user, key: key.trim_matches('"').to_owned() })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{Message, name, understood};
    use crate::demo::client::Answer;
    use crate::demo::plan::Operation;

    #[test]
    fn a_request_is_named_by_its_path_its_credential_and_its_key() {
        let line = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let fields = vec![line("authorization", "Bearer ada-credential"), line("idempotency-key", "\"k-1\"")];
        let request = Message { first_line: "POST /top-ups HTTP/1.1".to_owned(), fields, body: Vec::new() };
        let found = name(&request).unwrap();
        assert_eq!((found.operation, found.user.as_str(), found.key.as_str()), (Operation::TopUp, "ada", "k-1"));
        assert!(name(&Message::default()).is_err());
    }

    #[test]
    fn a_503_says_nothing_about_the_request() {
        assert_eq!(understood(&Message::answer(503, &[])), None);
        assert!(matches!(understood(&Message::answer(200, &[])), Some(Answer::Done { replayed: false, .. })));
    }
}
