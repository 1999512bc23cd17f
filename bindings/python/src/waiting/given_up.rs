//! Work that is dropped where it stands once nobody waits for it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::task::{Context, Poll};

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A future of the core's, until it has ended or was given up.
pub(super) struct Work<T>(Arc<Shared<T>>);

struct Shared<T> {
    future: Mutex<Option<Boxed<T>>>,
    is_given_up: AtomicBool,
}

impl<T: Send + 'static> Work<T> {
    pub(super) fn new(future: Boxed<T>) -> Self {
        Self(Arc::new(Shared { future: Mutex::new(Some(future)), is_given_up: AtomicBool::new(false) }))
    }

    /// Gives it up when the future of asyncio is cancelled.
    pub(super) fn give_up_with(&self, waiting: &Bound<'_, PyAny>) -> PyResult<()> {
        let shared = self.0.clone();
        let done = move |args: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| -> PyResult<()> {
            if args.get_item(0)?.call_method0("cancelled")?.extract()? {
                shared.give_up();
            }
            Ok(())
        };
        let done = PyCFunction::new_closure(waiting.py(), None, None, done)?;
        waiting.call_method1("add_done_callback", (done,)).map(drop)
    }

    /// What came of it, or nothing if it was given up.
    pub(super) async fn ended(self) -> Option<T> {
        poll_fn(|context| self.0.poll(context)).await
    }
}

impl<T> Shared<T> {
    fn poll(&self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let polled = {
            let mut future = self.future.lock().unwrap_or_else(PoisonError::into_inner);
            match future.as_mut() {
                Some(future) => future.as_mut().poll(context).map(Some),
                None => Poll::Ready(None),
            }
        };
        // It may have been given up while it was polled here.
        if polled.is_pending() && self.is_given_up.load(Ordering::SeqCst) {
            self.give_up();
            return Poll::Ready(None);
        }
        polled
    }

    /// Whoever polls it holds the lock, and looks at the flag when done: to wait for that here could be to wait for oneself, since
    /// what is polled may want the interpreter.
    fn give_up(&self) {
        self.is_given_up.store(true, Ordering::SeqCst);
        let future = match self.future.try_lock() {
            Ok(mut future) => future.take(),
            Err(TryLockError::Poisoned(future)) => future.into_inner().take(),
            Err(TryLockError::WouldBlock) => None,
        };
        drop(future);
    }
}
