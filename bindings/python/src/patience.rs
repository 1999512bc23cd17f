//! Waits on a thread that Ctrl-C ends. Nothing is lost when one is given up: what is waited for is only looked at.
//!
//! Signals reach the main thread alone. Other threads wait without looking, and without the interpreter, until there is something to tell:
//! one that is still waiting when the interpreter shuts down does not notice.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use keyledger::Error;
use pyo3::prelude::*;

use crate::decision::nobody_was_told;
use crate::error::exception;
use crate::imported::Imported;

/// How often the main thread looks whether it was interrupted while it waits.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Waits for `work` on this thread without the interpreter's lock, and looks for signals meanwhile.
pub(crate) fn interruptible<T: Send>(py: Python<'_>, work: impl Future<Output = T> + Send) -> PyResult<T> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let is_main = is_main_thread(py)?;
    let mut work = Some(Box::pin(work));
    loop {
        let polled = py.detach(|| {
            let future = work.as_mut()?;
            loop {
                match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(value) => return Some(value),
                    Poll::Pending if is_main => std::thread::park_timeout(LOOK_EVERY),
                    Poll::Pending => std::thread::park(),
                }
                if is_main {
                    return None;
                }
            }
        });
        if let Some(value) = polled {
            return Ok(value);
        }
        if let Err(interrupt) = py.check_signals() {
            py.detach(|| work = None);
            return Err(interrupt);
        }
    }
}

/// The answer of a call that grants something, as the last thing that the call does. Whoever has pressed Ctrl-C is told nothing, and what was
/// granted is given back: no handler has run.
pub(crate) fn unless_interrupted(py: Python<'_>, answer: Py<PyAny>) -> PyResult<Py<PyAny>> {
    match py.check_signals() {
        Ok(()) => Ok(answer),
        Err(interrupt) => {
            nobody_was_told(answer.bind(py));
            Err(interrupt)
        }
    }
}

/// Does `work` without the interpreter's lock. On the main thread Ctrl-C ends the wait for it, and it goes on by itself.
pub(crate) fn left_behind<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    if !is_main_thread(py)? {
        return Ok(py.detach(work));
    }
    let (tell, told) = channel();
    let told = Mutex::new(told);
    let at_work = move || drop(tell.send(work()));
    let started = std::thread::Builder::new().name("keyledger-ends".into()).spawn(at_work);
    started.map_err(|error| exception(py, &Error::Storage(Arc::new(error))))?;
    loop {
        let ended = py.detach(|| told.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK_EVERY));
        match ended {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(exception(py, &Error::Unavailable("a callback panicked".into())));
            }
        }
    }
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    static GET_IDENT: Imported = Imported::new("threading", "get_ident");
    static MAIN_THREAD: Imported = Imported::new("threading", "main_thread");
    GET_IDENT.get(py)?.call0()?.eq(MAIN_THREAD.get(py)?.call0()?.getattr("ident")?)
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
