//! A bell that a thread or a future waits for, and what rings bells after a while.

use std::future::poll_fn;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

mod alarm;
#[cfg(not(target_arch = "wasm32"))]
mod thread;

pub(crate) use alarm::{Alarm, HostTimer};

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
        let (mut state, _) =
            self.condition.wait_timeout_while(state, span, |state| !state.rung).unwrap_or_else(PoisonError::into_inner);
        state.rung = false;
    }

    /// Ready when it is rung, or was since the last look.
    pub(crate) async fn rung(&self) {
        poll_fn(|context| if self.poll(context.waker()) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// Whether it was rung since the last look; if not, `waker` is woken when it is.
    fn poll(&self, waker: &Waker) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let rung = std::mem::take(&mut state.rung);
        if !rung {
            state.waker = Some(waker.clone());
        }
        rung
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }
}
