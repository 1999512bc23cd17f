//! A transaction of the core's, lent to a function of Python's for as long as that runs.
//!
//! The core lends its closure a `&mut Transaction<'_, '_>`, and an object of Python's cannot have a lifetime. So this file, and no other
//! of this package, has unsafe code: the object keeps a pointer, which is taken away from it before the core's reference ends. Whoever
//! keeps the object longer, or uses it from another thread, is told so.

#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

use keyledger::{Error, Transaction};
use pyo3::prelude::*;

use crate::error::{Failure, Told};
use crate::rows::PyTransaction;

/// What comes out of a closure that Python runs: the exception as it was raised, or the core's error.
pub(crate) type Raised = Failure;

/// A transaction, until it is taken away.
#[derive(Default)]
pub(crate) struct Lent(Mutex<Option<Pointer>>);

struct Pointer {
    transaction: NonNull<Transaction<'static, 'static>>,
    thread: ThreadId,
}

// SAFETY: the pointer is followed by the thread alone that it was lent to: `Lent::with` compares.
unsafe impl Send for Pointer {}

/// Takes the pointer away, however the function ended.
struct Loan<'loan>(&'loan Lent);

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        self.0.take();
    }
}

impl Lent {
    fn take(&self) -> Option<Pointer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, pointer: Pointer) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(pointer);
    }

    /// Uses the transaction.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Transaction<'_, '_>) -> keyledger::Result<T>) -> Told<T> {
        Ok(self.with_error(work)?)
    }

    /// The same with the core's own error.
    pub(crate) fn with_error<T>(
        &self,
        work: impl FnOnce(&mut Transaction<'_, '_>) -> keyledger::Result<T>,
    ) -> keyledger::Result<T> {
        let is_here = |pointer: &mut Pointer| pointer.thread == thread::current().id();
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take_if(is_here);
        let mut pointer = taken.ok_or_else(|| Error::InvalidArgument(OVER.into()))?;
        // SAFETY: `lend` has put the pointer there and takes it away before its reference ends. That is this thread's, which is in here
        // now: so it has not ended. Nobody else has the pointer: it was taken out.
        let done = work(unsafe { pointer.transaction.as_mut() });
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
    lent.put(Pointer { transaction: NonNull::from(transaction).cast(), thread: thread::current().id() });
    let _loan = Loan(lent);
    f.bind(py).call1((&object,))
}

/// Runs what needs the interpreter, from inside a closure of the core's.
pub(crate) fn returned<T>(work: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, Raised> {
    match Python::try_attach(work) {
        Some(done) => Ok(done?),
        None => Err(Failure::from(Error::Unavailable("the interpreter is shutting down".into()))),
    }
}
