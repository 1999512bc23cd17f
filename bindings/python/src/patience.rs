//! Waits that somebody can give up: with Ctrl-C on a thread, by cancelling in asyncio.
//!
//! What is waited for here is only looked at: nothing is lost when a wait is given up.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::waiting::awaitable;

/// How often a thread that waits looks whether it was interrupted.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Waits for `work` on this thread without the interpreter's lock, and looks for signals meanwhile.
pub(crate) fn interruptible<T: Send>(py: Python<'_>, work: impl Future<Output = T> + Send) -> PyResult<T> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut work = Box::pin(work);
    loop {
        let polled = py.detach(|| {
            let polled = work.as_mut().poll(&mut Context::from_waker(&waker));
            if polled.is_pending() {
                std::thread::park_timeout(LOOK_EVERY);
            }
            polled
        });
        match polled {
            Poll::Ready(value) => return Ok(value),
            Poll::Pending => py.check_signals()?,
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A future of asyncio, as [`awaitable`]; if it is cancelled, `work` is dropped at once.
pub(crate) fn abandonable<T: Send + 'static>(
    py: Python<'_>,
    work: impl Future<Output = T> + Send + 'static,
    tell: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    let work = Arc::new(Work { state: Mutex::new(State { work: Some(Box::pin(work)), waker: None }) });
    let abandon = Abandon(Arc::downgrade(&work) as std::sync::Weak<dyn CanEnd>);
    let future = awaitable(py, Shared(work), |py, value| match value {
        Some(value) => tell(py, value),
        None => Ok(py.None()),
    })?;
    future.call_method1("add_done_callback", (abandon,))?;
    Ok(future)
}

struct Work<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    /// None after it ended or was given up.
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    waker: Option<Waker>,
}

impl<T> Work<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Shared<T>(Arc<Work<T>>);

impl<T> Future for Shared<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = self.0.state();
        let polled = match state.work.as_mut() {
            Some(work) => work.as_mut().poll(context).map(Some),
            None => Poll::Ready(None),
        };
        match polled {
            Poll::Ready(_) => state.work = None,
            Poll::Pending => state.waker = Some(context.waker().clone()),
        }
        polled
    }
}

trait CanEnd: Send + Sync {
    /// Drops the work, if it is not done.
    fn end(&self);
}

impl<T> CanEnd for Work<T> {
    fn end(&self) {
        let mut state = self.state();
        let (work, waker) = (state.work.take(), state.waker.take());
        drop(state);
        drop(work);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Called by asyncio when the future is done, also when that is because it was cancelled.
#[pyclass(frozen)]
struct Abandon(std::sync::Weak<dyn CanEnd>);

#[pymethods]
impl Abandon {
    fn __call__(&self, py: Python<'_>, _future: &Bound<'_, PyAny>) {
        // The work may be at it this moment, and want the interpreter's lock.
        py.detach(|| {
            if let Some(work) = self.0.upgrade() {
                work.end();
            }
        });
    }
}
