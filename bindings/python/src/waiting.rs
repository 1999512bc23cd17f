//! Futures of the core as futures of asyncio.
//!
//! One thread polls them. What is ready at once never sees it. A future of asyncio that is cancelled drops the core's: what waits for a
//! key waits no more, and is granted nothing. Settlements are queued when the call is made, so their outcome is stored all the same (S3).

mod given_up;

use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use futures_executor::ThreadPool;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::decision;
use given_up::Work;

/// The pool of this process, and whose it is: a forked child has none of its parent's threads (P3).
static POOL: Mutex<Option<(u32, ThreadPool)>> = Mutex::new(None);

/// A future of asyncio that is told how `work` ended, by `tell`. It has to be called on a running event loop.
pub(crate) fn awaitable<T: Send + 'static>(
    py: Python<'_>,
    work: impl Future<Output = T> + Send + 'static,
    tell: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    let event_loop = running_loop(py)?;
    let future = event_loop.call_method0("create_future")?;
    let mut work = Box::pin(work);
    let at_once = py.detach(|| work.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    if let Poll::Ready(value) = at_once {
        settle(&future, tell(py, value))?;
        return Ok(future);
    }
    let work = Work::new(work);
    work.give_up_with(&future)?;
    let (event_loop, told) = (event_loop.unbind(), future.clone().unbind());
    pool()?.spawn_ok(async move {
        let Some(value) = work.ended().await else { return };
        // No interpreter: it is shutting down, and nobody waits.
        let _ = Python::try_attach(|py| {
            let value = tell(py, value);
            let settle = pyo3::wrap_pyfunction!(settle_if_waiting, py)?;
            let (told, value, error) = match value {
                Ok(value) => (told, Some(value), None),
                Err(error) => (told, None, Some(error.into_value(py))),
            };
            let untold = value.as_ref().map(|value| value.clone_ref(py));
            let called = event_loop.call_method1(py, "call_soon_threadsafe", (settle, told, value, error));
            if let (Err(_), Some(untold)) = (called, untold) {
                // A loop that is closed has nobody waiting either.
                decision::nobody_was_told(untold.bind(py));
            }
            Ok::<(), PyErr>(())
        });
    });
    Ok(future)
}

#[pyfunction]
fn settle_if_waiting(
    future: &Bound<'_, PyAny>,
    value: Option<Bound<'_, PyAny>>,
    error: Option<Bound<'_, PyAny>>,
) -> PyResult<()> {
    if future.call_method0("done")?.extract()? {
        if let Some(untold) = &value {
            decision::nobody_was_told(untold);
        }
        return Ok(());
    }
    settle(
        future,
        match error {
            Some(error) => Err(PyErr::from_value(error)),
            None => Ok(value.map_or_else(|| future.py().None(), Bound::unbind)),
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
    static RUNNING_LOOP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    RUNNING_LOOP.import(py, "asyncio", "get_running_loop")?.call0()
}

fn pool() -> PyResult<ThreadPool> {
    let mut pool = POOL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
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
