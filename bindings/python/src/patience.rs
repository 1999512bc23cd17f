//! Waits on a thread that Ctrl-C ends. Nothing is lost when one is given up: what is waited for is only looked at.

use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use pyo3::prelude::*;

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
