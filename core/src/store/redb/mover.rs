//! Who moves a full half of the log into the tree: a thread that lives as long as the move, so that no caller waits for it.
//! Where there are no threads, the caller who filled the half.

use std::sync::Arc;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::{Mutex, PoisonError};
#[cfg(not(target_arch = "wasm32"))]
use std::thread::JoinHandle;

use super::backend::Gate;

/// Dropped before it has ended, it keeps the thread from the disk and waits until it is gone (contract P7).
#[derive(Debug)]
pub(super) struct Mover {
    gate: Option<Arc<Gate>>,
    in_background: bool,
    #[cfg(not(target_arch = "wasm32"))]
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Mover {
    /// A mover whose way to the disk is `gate`. The caller does its work.
    pub(super) fn before(gate: Arc<Gate>) -> Mover {
        Mover {
            gate: Some(gate),
            in_background: false,
            #[cfg(not(target_arch = "wasm32"))]
            thread: Mutex::default(),
        }
    }

    /// From now on a thread does.
    pub(super) fn go_to_background(&mut self) {
        self.in_background = true;
    }

    /// Does one move. Only one is under way at a time: there are but two halves.
    #[cfg_attr(
        target_arch = "wasm32",
        expect(clippy::unused_self, reason = "where there are threads, it may have one")
    )]
    pub(super) fn start(&self, work: impl Fn() + Clone + Send + 'static) {
        #[cfg(not(target_arch = "wasm32"))]
        if self.in_background {
            self.wait();
            let named = std::thread::Builder::new().name("keyledger-log".into());
            if let Ok(thread) = named.spawn(work.clone()) {
                *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
                return;
            }
        }
        work();
    }

    /// Returns when no thread is left.
    #[cfg_attr(
        target_arch = "wasm32",
        expect(clippy::unused_self, reason = "where there are threads, it may have one")
    )]
    pub(super) fn wait(&self) {
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // It catches what panics below it.
            let _ = thread.join();
        }
    }

    /// Lets the move that is under way end well.
    pub(super) fn end(mut self) {
        self.wait();
        self.gate = None;
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        if let Some(gate) = &self.gate {
            gate.shut();
        }
        self.wait();
    }
}
