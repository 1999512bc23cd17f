//! Threads that call Python, and the interpreter's end.
//!
//! A thread that comes back to Python while the interpreter shuts down is ended by `CPython` where it stands (before 3.14), in the middle of Rust, and
//! the process aborts. So whoever calls Python from a thread that Python has not made, or out of a commit, goes through a gate here. Before
//! the interpreter shuts down `keyledger._exit` shuts it, and waits until nobody is inside.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How long the exit of the process waits for functions of Python's that threads are in.
const PATIENCE: Duration = Duration::from_secs(1);

const LOOK_EVERY: Duration = Duration::from_millis(2);

static INSIDE: AtomicUsize = AtomicUsize::new(0);
static IS_SHUT: AtomicBool = AtomicBool::new(false);

/// Whose exit it is: it may still call.
static SHUT_BY: OnceLock<ThreadId> = OnceLock::new();

/// A thread that is inside.
struct Inside;

impl Inside {
    fn enter() -> Option<Self> {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        let inside = Inside;
        let is_exiting = || SHUT_BY.get() == Some(&std::thread::current().id());
        (!IS_SHUT.load(Ordering::SeqCst) || is_exiting()).then_some(inside)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // A forked child counts anew.
        let _ = INSIDE.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |inside| inside.checked_sub(1));
    }
}

/// Does `work` with the interpreter; nothing where that is shutting down.
pub(crate) fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let _inside = Inside::enter()?;
    Python::try_attach(work)
}

/// The interpreter is shutting down, and this thread is a daemon of Python's: it ends here, as it would when it comes back to Python.
pub(crate) fn rest_for_ever(py: Python<'_>) -> ! {
    py.detach(|| {
        loop {
            std::thread::park();
        }
    })
}

/// From now on no thread but this one calls Python. Waits for those that are inside, a second at most.
#[pyfunction]
pub(crate) fn shut_gate(py: Python<'_>) {
    let _ = SHUT_BY.set(std::thread::current().id());
    IS_SHUT.store(true, Ordering::SeqCst);
    py.detach(|| {
        let began = Instant::now();
        while INSIDE.load(Ordering::SeqCst) > 0 && began.elapsed() < PATIENCE {
            std::thread::sleep(LOOK_EVERY);
        }
    });
}

/// A forked child has none of the threads that its parent has inside (P3).
#[pyfunction]
pub(crate) fn nobody_inside() {
    INSIDE.store(0, Ordering::SeqCst);
}
