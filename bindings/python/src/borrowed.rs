//! A transaction of the core's, lent to a function of Python's for as long as that runs.
//!
//! The core lends its closure a `&mut Transaction<'_, '_>`, and an object of Python's cannot have a lifetime. So this file, and no other
//! of this package, has unsafe code: the object keeps a pointer, which is taken away from it before the core's reference ends. Whoever
//! keeps the object longer, or uses it from another thread, is told so.
//!
//! Without unsafe code the function would run on one thread and the transaction on another, with messages between them. Then the
//! core, which knows by its thread who calls a ledger from inside its own closure, would wait for ever instead of answering `Reentrant`.
//!
//! What holds, and is used below:
//!
//! 1. A pointer is in a [`Lent`] only while one call of [`lend`] runs, or while a call of [`Lent::with`] has it: `lend` puts it there and its
//!    [`Loan`] takes it away, also when the function panics.
//! 2. For all of that call `lend` has the transaction borrowed, and does not touch it.
//! 3. `with` takes the pointer out before it follows it. So there is one `&mut` at a time, and whoever comes by on the way finds nothing.
//! 4. `with` follows it on the thread and the greenlet of `lend` alone. So its call is nested in the function's, which is nested in `lend`'s: it
//!    has come back before `lend` can. (A greenlet that is switched away has its part of the stack moved elsewhere, and the transaction
//!    with it. Generators and coroutines are not like that: they run nested.)
//! 5. `with` does not know which lifetimes the reference has (`impl FnOnce(&mut Transaction<'_, '_>)` is for all of them), so that nothing
//!    borrowed from it gets out.

#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

use keyledger::{Error, Transaction};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Failure, Told};
use crate::interpreter::attached;
use crate::rows::PyTransaction;

/// What comes out of a closure that Python runs: the exception as it was raised, or the core's error.
pub(crate) type Raised = Failure;

/// A transaction, until it is taken away.
#[derive(Default)]
pub(crate) struct Lent(Mutex<Option<Pointer>>);

struct Pointer {
    transaction: NonNull<Transaction<'static, 'static>>,
    here: Here,
}

// SAFETY: to move a pointer is nothing. It is followed by `Lent::with` alone, on the thread that it came from (4).
unsafe impl Send for Pointer {}

/// A stack: a thread's, or that of a greenlet in it.
struct Here {
    thread: ThreadId,
    /// None is the thread's own stack, also where there are no greenlets.
    greenlet: Option<Py<PyAny>>,
}

impl Here {
    fn now(py: Python<'_>) -> Self {
        Self { thread: thread::current().id(), greenlet: greenlet(py).map(Bound::unbind) }
    }

    fn is(&self, other: &Here) -> bool {
        let names = |here: &Here| here.greenlet.as_ref().map(Py::as_ptr);
        self.thread == other.thread && names(self) == names(other)
    }
}

/// The greenlet that this runs in, if it is not the thread's own: that one has no parent.
fn greenlet(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    let modules = py.import("sys").and_then(|sys| sys.getattr("modules")).ok()?;
    let module = modules.cast::<PyDict>().ok()?.get_item("greenlet").ok()??;
    let current = module.call_method0("getcurrent").ok()?;
    let is_own = current.getattr("parent").ok()?.is_none();
    (!is_own).then_some(current)
}

/// Takes the pointer away, however the function ended.
struct Loan<'loan>(&'loan Lent);

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        self.0.take_if(|_| true);
    }
}

impl Lent {
    fn take_if(&self, is_wanted: impl FnOnce(&mut Pointer) -> bool) -> Option<Pointer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take_if(is_wanted)
    }

    fn put(&self, pointer: Pointer) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(pointer);
    }

    /// Uses the transaction.
    pub(crate) fn with<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Transaction<'_, '_>) -> keyledger::Result<T>,
    ) -> Told<T> {
        Ok(self.with_error(py, work)?)
    }

    /// The same with the core's own error.
    pub(crate) fn with_error<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Transaction<'_, '_>) -> keyledger::Result<T>,
    ) -> keyledger::Result<T> {
        let here = Here::now(py);
        let taken = self.take_if(|pointer| pointer.here.is(&here));
        let mut pointer = taken.ok_or_else(|| Error::InvalidArgument(OVER.into()))?;
        // SAFETY: it is the pointer of a `lend` (1) that this call is nested in (4), so the transaction is alive. `lend` does not use it (2),
        // and nobody else has the pointer (3), so this is the only reference. That it is not for ever is not told to `work` (5). Should that
        // panic, the pointer is gone.
        let done = work(unsafe { pointer.transaction.as_mut() });
        // `lend` is still there (4), and takes it away (1).
        self.put(pointer);
        done
    }
}

const OVER: &str = "the transaction is over, or another thread's: use it only inside the function that it was given to";

/// Calls `f` with an object for the transaction, which is of no use afterwards.
pub(crate) fn lend<'py>(
    py: Python<'py>,
    transaction: &mut Transaction<'_, '_>,
    f: &Py<PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let object = Bound::new(py, PyTransaction::default())?;
    let lent = &object.get().lent;
    let pointer = Pointer { transaction: NonNull::from(transaction).cast(), here: Here::now(py) };
    let _loan = Loan(lent);
    lent.put(pointer);
    f.bind(py).call1((&object,))
}

/// Runs what needs the interpreter, from inside a closure of the core's.
pub(crate) fn returned<T>(work: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, Raised> {
    match attached(work) {
        Some(done) => Ok(done?),
        None => Err(Failure::ShuttingDown),
    }
}
