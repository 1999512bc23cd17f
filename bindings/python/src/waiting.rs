//! Futures of the core as futures of asyncio.
//!
//! One thread polls them. What is ready at once never sees it. They are made and polled without the interpreter: whoever commits may be
//! waiting for that, in a closure of Python's.

mod given_up;

use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_executor::ThreadPool;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::decision;
use crate::imported::Imported;
use crate::interpreter::attached;
use given_up::Work;

/// The pool of this process, and whose it is: a forked child has none of its parent's threads (P3).
static POOL: Mutex<Option<(u32, ThreadPool)>> = Mutex::new(None);

/// A future of asyncio that is told, by `tell`, how the work ended that `make` has queued. That runs to its end whoever is cancelled (S3).
/// It has to be called on a running event loop, as the others here.
pub(crate) fn awaitable<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    py: Python<'_>,
    make: impl FnOnce() -> F + Send,
    tell: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    follow(py, Manner { hands_out: false, gives_up: false }, make, tell)
}

/// The same for what only waits: cancelled, it is dropped where it stands.
pub(crate) fn patient<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    py: Python<'_>,
    make: impl FnOnce() -> F + Send,
    tell: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    follow(py, Manner { hands_out: false, gives_up: true }, make, tell)
}

/// The same for what waits for a key, and may be granted it: what nobody was told of is given back.
pub(crate) fn granting<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    py: Python<'_>,
    make: impl FnOnce() -> F + Send,
    tell: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    follow(py, Manner { hands_out: true, gives_up: true }, make, tell)
}

/// The same for what is queued, and hands something out.
pub(crate) fn handing_out<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    py: Python<'_>,
    make: impl FnOnce() -> F + Send,
    tell: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    follow(py, Manner { hands_out: true, gives_up: false }, make, tell)
}

/// How a future of asyncio stands to its work.
struct Manner {
    /// What nobody was told of is given back.
    hands_out: bool,
    /// Cancelled, the work is dropped where it stands.
    gives_up: bool,
}

fn follow<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    py: Python<'_>,
    manner: Manner,
    make: impl FnOnce() -> F + Send,
    tell: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    let event_loop = running_loop(py)?;
    let future = if manner.hands_out { told_once(&event_loop)? } else { event_loop.call_method0("create_future")? };
    let (work, at_once) = py.detach(|| {
        let mut work = Box::pin(make());
        let at_once = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        (work, at_once)
    });
    if let Poll::Ready(value) = at_once {
        settle(&future, tell(py, value))?;
        return Ok(future);
    }
    let work = Work::new(work);
    if manner.gives_up {
        work.give_up_with(&future)?;
    }
    let (event_loop, told) = (event_loop.unbind(), future.clone().unbind());
    pool()?.spawn_ok(async move {
        let Some(value) = work.ended().await else { return };
        let mut news = Some((event_loop, told, value, tell));
        let deliver_now = |py: Python<'_>| {
            let (event_loop, told, value, tell) = news.take()?;
            deliver(py, &event_loop, told, tell(py, value)).ok()
        };
        if attached(deliver_now).is_none() {
            // The interpreter is shutting down, and nobody waits. What is kept here asyncio does not miss.
            std::mem::forget(news);
        }
    });
    Ok(future)
}

/// On the event loop's thread, as soon as it comes to it.
fn deliver(py: Python<'_>, event_loop: &Py<PyAny>, told: Py<PyAny>, ended: PyResult<Py<PyAny>>) -> PyResult<()> {
    let (value, error) = match ended {
        Ok(value) => (Some(Py::new(py, Untold(Mutex::new(Some(value))))?), None),
        Err(error) => (None, Some(error.into_value(py))),
    };
    let settle = pyo3::wrap_pyfunction!(settle_if_waiting, py)?;
    let handle = event_loop.call_method1(py, "call_soon_threadsafe", (settle, told, value, error))?;
    if event_loop.call_method0(py, "is_closed")?.extract(py)? {
        // It was closed meanwhile, and may keep what it will never come to.
        handle.call_method0(py, "cancel")?;
    }
    Ok(())
}

/// What is on its way to whoever waits for it. If it never arrives, since its loop is closed, it is given back.
#[pyclass(frozen)]
struct Untold(Mutex<Option<Py<PyAny>>>);

impl Untold {
    fn take(&self) -> Option<Py<PyAny>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Untold {
    fn drop(&mut self) {
        let mut untold = self.take();
        let give_back = |py: Python<'_>| {
            if let Some(untold) = untold.take() {
                decision::nobody_was_told(untold.bind(py));
            }
        };
        if attached(give_back).is_none() {
            // The interpreter is shutting down: it takes nothing back.
            std::mem::forget(untold);
        }
    }
}

/// A future that knows whether anybody has its answer.
fn told_once<'py>(event_loop: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static TOLD: Imported = Imported::new("keyledger._told", "Told");
    let py = event_loop.py();
    let arguments = PyDict::new(py);
    arguments.set_item("loop", event_loop)?;
    TOLD.get(py)?.call((), Some(&arguments))
}

#[pyfunction]
fn settle_if_waiting(
    future: &Bound<'_, PyAny>,
    untold: Option<PyRef<'_, Untold>>,
    error: Option<Bound<'_, PyAny>>,
) -> PyResult<()> {
    if future.call_method0("done")?.extract()? {
        return Ok(());
    }
    settle(
        future,
        match error {
            Some(error) => Err(PyErr::from_value(error)),
            None => Ok(untold.and_then(|untold| untold.take()).unwrap_or_else(|| future.py().None())),
        },
    )
}

fn settle(future: &Bound<'_, PyAny>, outcome: PyResult<Py<PyAny>>) -> PyResult<()> {
    match outcome {
        Ok(value) => future.call_method1("set_result", (value,)),
        Err(error) => future.call_method1("set_exception", (error.into_value(future.py()),)),
    }
    .map(drop)
}

fn running_loop(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static RUNNING_LOOP: Imported = Imported::new("asyncio", "get_running_loop");
    RUNNING_LOOP.get(py)?.call0()
}

fn pool() -> PyResult<ThreadPool> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((_, own)) = pool.as_ref().filter(|(of, _)| *of == process) {
        return Ok(own.clone());
    }
    let made = ThreadPool::builder().pool_size(1).name_prefix("keyledger-asyncio-").create();
    let made = made.map_err(|error| PyRuntimeError::new_err(format!("no thread for asyncio: {error}")))?;
    // The parent's pool has no threads here, and would wait for them.
    std::mem::forget(pool.replace((process, made.clone())));
    Ok(made)
}
