//! Those who wait in the queue: threads, and futures with their tickets.

use std::mem;
use std::sync::Arc;
use std::task::Waker;

use super::outcome::{Ended, Outcome, Played, ended, play, poisoned};
use super::overlay::Overlay;
use super::sync::{Condvar, Mutex, MutexGuard, PoisonError};

pub(super) type OwnedWork<T, E> = Box<dyn FnOnce(&mut Overlay) -> Result<T, E> + Send>;
pub(super) type After = Box<dyn FnOnce(&Outcome) + Send>;

/// One who waits, as the leader sees it.
pub(super) trait Seat: Send + Sync {
    /// Plays the work that waits here, or has it played by the thread that waits.
    fn play(&self, overlay: Overlay) -> Overlay;
    /// The commit has ended: runs what must run before anybody is told.
    fn end(&self, outcome: &Outcome);
    /// Wakes whoever waits.
    fn tell(&self);
    /// Asks whoever waits to lead; false where nobody can.
    fn take_lead(&self) -> bool;
}

/// One who waits, as it sees itself.
pub(super) struct Place<T, E> {
    state: Mutex<PlaceState<T, E>>,
    bell: Condvar,
}

pub(super) struct PlaceState<T, E> {
    work: Option<OwnedWork<T, E>>,
    pub(super) after: Option<After>,
    has_thread: bool,
    phase: Phase<T, E>,
    waker: Option<Waker>,
}

pub(super) enum Phase<T, E> {
    Waiting,
    Lead,
    Turn(Box<Overlay>),
    Back(Box<Overlay>, Played<T, E>),
    Played(Played<T, E>),
    Ended(Ended<T, E>),
    Taken,
}

/// What a waiting thread is called for.
pub(super) enum Call<T, E> {
    Lead,
    Turn(Box<Overlay>),
    Ended(Ended<T, E>),
}

impl<T, E> Place<T, E> {
    pub(super) fn new(work: Option<OwnedWork<T, E>>, has_thread: bool) -> Arc<Self> {
        let state = PlaceState { work, after: None, has_thread, phase: Phase::Waiting, waker: None };
        Arc::new(Self { state: Mutex::new(state), bell: Condvar::new() })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, PlaceState<T, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take_work(&self) -> (Option<OwnedWork<T, E>>, Option<After>) {
        let mut state = self.state();
        (state.work.take(), state.after.take())
    }

    pub(super) fn wait(&self) -> Call<T, E> {
        let mut state = self.state();
        loop {
            match mem::replace(&mut state.phase, Phase::Taken) {
                Phase::Lead => return Call::Lead,
                Phase::Turn(overlay) => return Call::Turn(overlay),
                Phase::Ended(ended) => return Call::Ended(ended),
                other @ (Phase::Waiting | Phase::Back(..) | Phase::Played(_) | Phase::Taken) => state.phase = other,
            }
            state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn give_back(&self, overlay: Box<Overlay>, played: Played<T, E>) {
        self.state().phase = Phase::Back(overlay, played);
        self.bell.notify_all();
    }

    /// Lends the overlay to the thread that waits here, and waits for it.
    fn lend(&self, mut state: MutexGuard<'_, PlaceState<T, E>>, overlay: Overlay) -> Overlay {
        state.phase = Phase::Turn(Box::new(overlay));
        self.bell.notify_all();
        loop {
            state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
            match mem::replace(&mut state.phase, Phase::Taken) {
                Phase::Back(overlay, played) => {
                    state.phase = Phase::Played(played);
                    return *overlay;
                }
                other => state.phase = other,
            }
        }
    }
}

impl<T: Send, E: Send> Seat for Place<T, E> {
    fn play(&self, mut overlay: Overlay) -> Overlay {
        let mut state = self.state();
        let Some(work) = state.work.take() else { return self.lend(state, overlay) };
        drop(state);
        let played = play(&mut overlay, work);
        self.state().phase = Phase::Played(played);
        overlay
    }

    fn end(&self, outcome: &Outcome) {
        // Before the caller, who may wake on its own, can see that it has ended.
        let after = self.state().after.take();
        if let Some(after) = after {
            after(outcome);
        }
        let mut state = self.state();
        let phase = match mem::replace(&mut state.phase, Phase::Taken) {
            Phase::Played(played) => ended(played, outcome.clone()),
            // The batch broke before this work was played.
            Phase::Waiting | Phase::Lead | Phase::Turn(_) | Phase::Back(..) | Phase::Ended(_) | Phase::Taken => {
                Ended::Failed(outcome.clone().err().unwrap_or_else(poisoned))
            }
        };
        state.phase = Phase::Ended(phase);
    }

    fn tell(&self) {
        let waker = self.state().waker.take();
        self.bell.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn take_lead(&self) -> bool {
        let mut state = self.state();
        if !state.has_thread {
            return false;
        }
        state.phase = Phase::Lead;
        drop(state);
        self.bell.notify_all();
        true
    }
}

/// A future's place in the queue.
pub(crate) struct Ticket<T, E> {
    pub(super) place: Arc<Place<T, E>>,
}

impl<T, E> Ticket<T, E> {
    /// How it ended, if it has; else `waker` is woken when it has.
    pub(crate) fn poll(&self, waker: &Waker) -> Option<Ended<T, E>> {
        let mut state = self.place.state();
        match mem::replace(&mut state.phase, Phase::Taken) {
            Phase::Ended(ended) => Some(ended),
            other => {
                state.phase = other;
                state.waker = Some(waker.clone());
                None
            }
        }
    }
}
