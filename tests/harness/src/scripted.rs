//! A transport that answers as a test has written, and remembers what it was given.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use keyledger::{AsyncTransport, Delivery, DeliveryOutcome, Response, Scope, Sending, Transport};

/// Far above what any test waits for.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a send does.
#[derive(Debug, Clone)]
pub enum Answer {
    /// Says what came of it.
    Tell(DeliveryOutcome),
    /// Panics.
    Panic,
}

/// What was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The key that went with it.
    pub key: String,
    /// The request's bytes.
    pub bytes: Vec<u8>,
    /// The entry's lane.
    pub lane: String,
    /// What was left of its lease when it began.
    pub lease_left: Duration,
}

/// Answers each key as its script says, in order, then as `always` says: yes, unless it was told otherwise.
#[derive(Debug)]
pub struct ScriptedTransport {
    state: Mutex<State>,
    changed: Condvar,
    has_other_credentials: AtomicBool,
    asked: AtomicU64,
}

#[derive(Debug)]
struct State {
    scripts: HashMap<String, VecDeque<Answer>>,
    always: Answer,
    sent: Vec<Sent>,
    in_flight: Vec<String>,
    most_in_flight: usize,
    most_of_lane: HashMap<String, usize>,
    is_blocked: bool,
    wakers: Vec<Waker>,
}

impl Default for ScriptedTransport {
    fn default() -> Self {
        let state = State {
            scripts: HashMap::new(),
            always: Answer::Tell(DeliveryOutcome::yes(Response::text("done"))),
            sent: Vec::new(),
            in_flight: Vec::new(),
            most_in_flight: 0,
            most_of_lane: HashMap::new(),
            is_blocked: false,
            wakers: Vec::new(),
        };
        let (has_other_credentials, asked) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { state: Mutex::new(state), changed: Condvar::new(), has_other_credentials, asked }
    }
}

impl ScriptedTransport {
    /// One that says yes to everything.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it answers where no script says otherwise.
    pub fn always(&self, answer: Answer) {
        self.state().always = answer;
    }

    /// What it answers next to this key, after what it was told before.
    pub fn answer(&self, key: &str, answer: Answer) {
        self.state().scripts.entry(key.to_owned()).or_default().push_back(answer);
    }

    /// From now on sends begin, and wait for [`release`](ScriptedTransport::release).
    pub fn block(&self) {
        self.state().is_blocked = true;
    }

    /// What waits goes on, and nothing waits any more.
    pub fn release(&self) {
        let mut state = self.state();
        state.is_blocked = false;
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        self.changed.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// What was sent so far, in the order in which it began.
    pub fn sent(&self) -> Vec<Sent> {
        self.state().sent.clone()
    }

    /// How many sends began with this key.
    pub fn sends_of(&self, key: &str) -> usize {
        self.state().sent.iter().filter(|sent| sent.key == key).count()
    }

    /// How many sends were under way at once at the most.
    pub fn most_in_flight(&self) -> usize {
        self.state().most_in_flight
    }

    /// The same of one lane.
    pub fn most_of_lane(&self, lane: &str) -> usize {
        self.state().most_of_lane.get(lane).copied().unwrap_or(0)
    }

    /// How many are under way.
    pub fn in_flight(&self) -> usize {
        self.state().in_flight.len()
    }

    /// Blocks until so many sends have begun.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn wait_for_sends(&self, count: usize) {
        let few = |state: &mut State| state.sent.len() < count;
        let waited = self.changed.wait_timeout_while(self.state(), PATIENCE, few);
        let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!timeout.timed_out(), "{} of {count} sends began", state.sent.len());
    }

    /// What it says about other credentials; saying yes once is enough for it.
    pub fn set_other_credentials(&self, has: bool) {
        self.has_other_credentials.store(has, Ordering::SeqCst);
    }

    /// How often it was asked about other credentials.
    pub fn times_asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    fn begin(&self, delivery: &Delivery) {
        let lane = delivery.entry().lane().to_owned();
        let mut state = self.state();
        state.in_flight.push(lane.clone());
        state.most_in_flight = state.most_in_flight.max(state.in_flight.len());
        let of_lane = state.in_flight.iter().filter(|other| **other == lane).count();
        let most = state.most_of_lane.entry(lane.clone()).or_default();
        *most = of_lane.max(*most);
        state.sent.push(Sent {
            key: delivery.key().as_str().to_owned(),
            bytes: delivery.request().to_owned(),
            lane,
            lease_left: delivery.lease_left(),
        });
        self.changed.notify_all();
    }

    fn end(&self, delivery: &Delivery) -> DeliveryOutcome {
        let mut state = self.state();
        let lane = delivery.entry().lane();
        if let Some(at) = state.in_flight.iter().position(|other| other == lane) {
            state.in_flight.swap_remove(at);
        }
        let script = state.scripts.get_mut(delivery.key().as_str());
        let answer = script.and_then(VecDeque::pop_front).unwrap_or_else(|| state.always.clone());
        drop(state);
        match answer {
            Answer::Tell(outcome) => outcome,
            Answer::Panic => panic!("the script says so"),
        }
    }

    fn credentials(&self) -> bool {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.has_other_credentials.swap(false, Ordering::SeqCst)
    }
}

impl Transport for ScriptedTransport {
    fn send(&self, delivery: &Delivery) -> DeliveryOutcome {
        self.begin(delivery);
        let waited = self.changed.wait_timeout_while(self.state(), PATIENCE, |state| state.is_blocked);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        self.end(delivery)
    }

    fn has_other_credentials(&self, _: &Scope) -> bool {
        self.credentials()
    }
}

impl AsyncTransport for ScriptedTransport {
    fn send<'a>(&'a self, delivery: &'a Delivery) -> Sending<'a> {
        Box::pin(async move {
            self.begin(delivery);
            poll_fn(|context| {
                let mut state = self.state();
                if !state.is_blocked {
                    return Poll::Ready(());
                }
                state.wakers.push(context.waker().clone());
                Poll::Pending
            })
            .await;
            self.end(delivery)
        })
    }

    fn has_other_credentials(&self, _: &Scope) -> bool {
        self.credentials()
    }
}
