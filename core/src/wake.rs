//! A bell that a thread or a future waits for.

use std::sync::{Condvar, Mutex, PoisonError};
use std::task::Waker;
use std::time::Duration;

/// Rung once or often; whoever waits is told once, also if it was rung before.
#[derive(Default)]
pub(crate) struct Bell {
    state: Mutex<BellState>,
    condition: Condvar,
}

#[derive(Default)]
struct BellState {
    rung: bool,
    waker: Option<Waker>,
}

impl Bell {
    pub(crate) fn ring(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.rung = true;
        let waker = state.waker.take();
        drop(state);
        self.condition.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Blocks until it is rung, at most for `span`.
    pub(crate) fn wait(&self, span: Duration) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut state, _) = self
            .condition
            .wait_timeout_while(state, span, |state| !state.rung)
            .unwrap_or_else(PoisonError::into_inner);
        state.rung = false;
    }

    /// Whether it was rung since the last look; if not, `waker` is woken when it is.
    pub(crate) fn poll(&self, waker: &Waker) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let rung = std::mem::take(&mut state.rung);
        if !rung {
            state.waker = Some(waker.clone());
        }
        rung
    }
}
