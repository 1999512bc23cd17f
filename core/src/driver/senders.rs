//! Threads that send, as many as there are deliveries in flight.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::settings::Settings;
use crate::delivery::{Delivery, Report};
use crate::machine::classify::DeliveryOutcome;
use crate::outbox::Outbox;
use crate::transport::Transport;
use crate::wake::Bell;

pub(super) struct Senders {
    shared: Arc<Shared>,
    name: String,
    threads_max: usize,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    outbox: Outbox,
    transport: Arc<dyn Transport>,
    bell: Arc<Bell>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Delivery>,
    sending: usize,
    idle: usize,
    finished: Vec<Report>,
    is_closed: bool,
}

impl Senders {
    pub(super) fn new(settings: &Settings, transport: Arc<dyn Transport>, bell: Arc<Bell>, name: String) -> Self {
        let (outbox, state, changed) = (settings.outbox.clone(), Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { outbox, transport, bell, state, changed });
        Self { shared, name, threads_max: settings.in_flight, threads: Vec::new() }
    }

    /// Sends a delivery on a thread that is idle, else on a new one.
    pub(super) fn send(&mut self, delivery: Delivery) {
        let mut state = self.shared.state();
        state.waiting.push_back(delivery);
        let is_short = state.idle < state.waiting.len();
        drop(state);
        self.shared.changed.notify_one();
        // A thread that is between two deliveries is not idle, and takes the next one all the same.
        if is_short && self.threads.len() < self.threads_max {
            self.add_thread();
        }
    }

    /// Where no thread can be had those that are there do the work; if there is none, the driver's own.
    fn add_thread(&mut self) {
        let shared = self.shared.clone();
        match std::thread::Builder::new().name(self.name.clone()).spawn(move || shared.run()) {
            Ok(thread) => self.threads.push(thread),
            Err(_) if self.threads.is_empty() => self.shared.send_waiting(),
            Err(_) => {}
        }
    }

    /// What came back since the last call.
    pub(super) fn finished(&self) -> Vec<Report> {
        std::mem::take(&mut self.shared.state().finished)
    }

    /// No more is sent. What came back last; what is still out is settled by its thread when it comes back.
    pub(super) fn close(mut self) -> Vec<Report> {
        let mut state = self.shared.close();
        let (waiting, finished) = (std::mem::take(&mut state.waiting), std::mem::take(&mut state.finished));
        let is_idle = state.sending == 0;
        drop(state);
        drop(waiting);
        if is_idle {
            for thread in self.threads.drain(..) {
                let _ = thread.join();
            }
        }
        finished
    }
}

impl Drop for Senders {
    fn drop(&mut self) {
        drop(self.shared.close());
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) -> MutexGuard<'_, State> {
        let mut state = self.state();
        state.is_closed = true;
        self.changed.notify_all();
        state
    }

    fn run(&self) {
        loop {
            let mut state = self.state();
            state.idle += 1;
            let is_idle = |state: &mut State| state.waiting.is_empty() && !state.is_closed;
            state = self.changed.wait_while(state, is_idle).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
            if state.is_closed {
                return;
            }
            drop(state);
            self.send_waiting();
        }
    }

    /// Sends what waits until nothing does.
    fn send_waiting(&self) {
        loop {
            let mut state = self.state();
            let Some(delivery) = state.waiting.pop_front() else { return };
            state.sending += 1;
            drop(state);
            let outcome = send(&*self.transport, &delivery);
            self.give_back(delivery.report(outcome));
        }
    }

    fn give_back(&self, report: Report) {
        let mut state = self.state();
        state.sending -= 1;
        if state.is_closed {
            drop(state);
            // The driver is gone. A yes counts all the same (O5); with anything else the lease ends by itself.
            let _ = self.outbox.settle(&report);
        } else {
            state.finished.push(report);
            drop(state);
            self.bell.ring();
        }
    }
}

/// Sends, unless the lease is over: then no byte has left (O7).
fn send(transport: &dyn Transport, delivery: &Delivery) -> DeliveryOutcome {
    if delivery.lease_left().is_zero() {
        return DeliveryOutcome::lease_was_over();
    }
    catch_unwind(AssertUnwindSafe(|| transport.send(delivery)))
        .unwrap_or_else(|_| DeliveryOutcome::transport_panicked())
}
