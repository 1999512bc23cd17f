//! A request to stop, from anywhere.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::wake::Bell;

/// A request to stop: clones are the same one, and any thread may make it, such as that of a handler for Ctrl-C.
#[derive(Clone, Default)]
pub struct Stop {
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    asked: AtomicBool,
    bells: Mutex<Vec<Weak<Bell>>>,
}

impl Stop {
    /// One that nobody has asked for yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks everyone who was given it to stop. It waits for nobody, and cannot be taken back.
    pub fn stop(&self) {
        self.state.asked.store(true, Ordering::SeqCst);
        let bells = self.state.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.iter().filter_map(Weak::upgrade).for_each(|bell| bell.ring());
    }

    /// Whether it was asked for.
    pub fn is_stopped(&self) -> bool {
        self.state.asked.load(Ordering::SeqCst)
    }

    /// Ready as soon as it was asked for.
    pub fn stopped(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        let stop = self.clone();
        async move {
            let bell = Arc::new(Bell::default());
            stop.watch(&bell);
            while !stop.is_stopped() {
                bell.rung().await;
            }
        }
    }

    /// Rings `bell` when it is asked for, for as long as somebody has the bell. Watch first, then look.
    pub(super) fn watch(&self, bell: &Arc<Bell>) {
        let mut bells = self.state.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.retain(|bell| bell.strong_count() > 0);
        bells.push(Arc::downgrade(bell));
    }
}

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stop").field("is_stopped", &self.is_stopped()).finish()
    }
}
