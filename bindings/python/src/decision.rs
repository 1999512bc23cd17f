//! What `begin` answers, as small classes for `match`.

use std::time::Duration;

use keyledger::{Decision, Outcome, Refused};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::argument::seconds;
use crate::claim::PyClaim;
use crate::outbox::{PyDelivery, PyTurn};
use crate::response::PyResponse;

/// Yours to run.
#[pyclass(module = "keyledger", frozen)]
pub(crate) struct Acquired {
    /// The claim: settle it.
    #[pyo3(get)]
    claim: Py<PyClaim>,
}

/// An answer that its caller was gone for, or a list of them: what was granted is released, since no handler has run (section 4), and what
/// was handed out to be sent is given back, since it was not sent (O6).
#[pyfunction]
pub(crate) fn nobody_was_told(untold: &Bound<'_, PyAny>) {
    let py = untold.py();
    if let Ok(acquired) = untold.cast::<Acquired>() {
        acquired.get().claim.get().release_unseen(py);
    } else if let Ok(claim) = untold.cast::<PyClaim>() {
        claim.get().release_unseen(py);
    } else if let Ok(turn) = untold.cast::<PyTurn>() {
        nobody_was_told(turn.get().deliveries(py).as_any());
    } else if let Ok(list) = untold.cast::<PyList>() {
        list.iter().for_each(|one| one_of_many_untold(&one));
    }
}

/// Claims in a list are those of a recovery: whether it happened nobody knows, so that they are dropped.
fn one_of_many_untold(untold: &Bound<'_, PyAny>) {
    if let Ok(delivery) = untold.cast::<PyDelivery>() {
        delivery.get().give_back_unsent(untold.py());
    } else if !untold.is_instance_of::<PyClaim>() {
        nobody_was_told(untold);
    }
}

/// It was done before; this is the answer that was given then.
#[pyclass(module = "keyledger", frozen, eq)]
#[derive(PartialEq)]
pub(crate) struct Replay {
    /// What was stored then.
    #[pyo3(get)]
    response: PyResponse,
    /// `completed`, or `failed` for a final no.
    #[pyo3(get)]
    outcome: String,
    /// When it was settled, in milliseconds since 1970-01-01 UTC.
    #[pyo3(get)]
    settled_at_ms: u64,
    /// Until when the answer is kept, in milliseconds since 1970-01-01 UTC.
    #[pyo3(get)]
    expires_at_ms: u64,
}

/// Somebody is at it.
#[pyclass(module = "keyledger", frozen, eq)]
#[derive(PartialEq)]
pub(crate) struct InProgress {
    /// For how long this attempt has had the claim.
    #[pyo3(get)]
    running_for_seconds: f64,
    /// When to ask again with the same key; never longer than the lease.
    #[pyo3(get)]
    retry_after_seconds: f64,
}

/// The key was for another request.
#[pyclass(module = "keyledger", frozen, eq)]
#[derive(PartialEq)]
pub(crate) struct Mismatch {}

/// Held for a person.
#[pyclass(module = "keyledger", frozen, eq)]
#[derive(PartialEq)]
pub(crate) struct Parked {
    /// Why, such as `owner_lost`, or in the words of whoever parked it.
    #[pyo3(get)]
    reason: String,
    /// Since when, in milliseconds since 1970-01-01 UTC.
    #[pyo3(get)]
    since_ms: u64,
}

/// Settled so long ago that the answer is gone.
#[pyclass(module = "keyledger", frozen, eq)]
#[derive(PartialEq)]
pub(crate) struct Gone {}

macro_rules! matched {
    ($name:ident, $word:literal, ($($field:literal),*)) => {
        #[pymethods]
        impl $name {
            /// The decision's name, the same in every language.
            #[classattr]
            const KIND: &'static str = $word;

            #[classattr]
            fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
                PyTuple::new(py, [$($field),*] as [&str; _])
            }
        }
    };
    ($name:ident, $word:literal, ($($field:literal),*), $sample:expr) => {
        matched!($name, $word, ($($field),*));

        #[pymethods]
        impl $name {
            /// One sentence for whoever asked.
            #[classattr]
            fn advice() -> &'static str {
                Refused { decision: Box::new($sample) }.advice()
            }

            /// What to do with the key: `reuse`, `rotate` or `reconcile`.
            #[classattr]
            fn key_advice() -> &'static str {
                Refused { decision: Box::new($sample) }.key_advice().as_str()
            }
        }
    };
}

matched!(Acquired, "acquired", ("claim"));
matched!(
    Replay,
    "replay",
    ("response", "outcome"),
    Decision::Replay(keyledger::Replay {
        response: keyledger::Response::empty(),
        outcome: Outcome::Completed,
        settled_at_ms: 0,
        expires_at_ms: 0,
    })
);
matched!(
    InProgress,
    "in_progress",
    ("retry_after_seconds"),
    Decision::InProgress(keyledger::InProgress { running_for: Duration::ZERO, retry_after: Duration::ZERO })
);
matched!(Mismatch, "mismatch", (), Decision::Mismatch);
matched!(
    Parked,
    "parked",
    ("reason", "since_ms"),
    Decision::Parked(keyledger::Parked { reason: keyledger::ParkReason::OwnerLost, since_ms: 0 })
);
matched!(Gone, "gone", (), Decision::Gone);

/// A decision is data, but for the claim of `Acquired`: made by tests, copied, and sent to another process.
macro_rules! data {
    ($name:ident { $($field:ident: $type:ty),* }) => {
        #[pymethods]
        impl $name {
            #[new]
            fn new($($field: $type),*) -> Self {
                Self { $($field),* }
            }

            fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                let fields: &[Bound<'py, PyAny>] = &[$(self.$field.clone().into_bound_py_any(py)?),*];
                PyTuple::new(py, fields)
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                shown(stringify!($name), &[$(stringify!($field)),*], &self.__getnewargs__(py)?)
            }
        }
    };
}

/// As it would be made.
pub(crate) fn shown(class: &str, names: &[&str], values: &Bound<'_, PyTuple>) -> PyResult<String> {
    let fields = names.iter().zip(values.iter()).map(|(name, value)| Ok(format!("{name}={}", value.repr()?)));
    Ok(format!("{class}({})", fields.collect::<PyResult<Vec<_>>>()?.join(", ")))
}

#[pymethods]
impl Acquired {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Acquired({})", self.claim.bind(py).repr()?))
    }
}

data!(Replay { response: PyResponse, outcome: String, settled_at_ms: u64, expires_at_ms: u64 });
data!(InProgress { running_for_seconds: f64, retry_after_seconds: f64 });
data!(Mismatch {});
data!(Parked { reason: String, since_ms: u64 });
data!(Gone {});

/// The decision as an object of Python's.
pub(crate) fn told(py: Python<'_>, decision: Decision) -> PyResult<Py<PyAny>> {
    Ok(match decision {
        Decision::Acquired(claim) => Py::new(py, Acquired { claim: Py::new(py, PyClaim::new(claim))? })?.into_any(),
        Decision::Replay(replay) => {
            let outcome = match replay.outcome {
                Outcome::Completed => "completed".to_owned(),
                Outcome::Failed => "failed".to_owned(),
            };
            let (settled_at_ms, expires_at_ms) = (replay.settled_at_ms, replay.expires_at_ms);
            let response = PyResponse(replay.response);
            Py::new(py, Replay { response, outcome, settled_at_ms, expires_at_ms })?.into_any()
        }
        Decision::InProgress(in_progress) => {
            let running_for_seconds = seconds(in_progress.running_for);
            let retry_after_seconds = seconds(in_progress.retry_after);
            Py::new(py, InProgress { running_for_seconds, retry_after_seconds })?.into_any()
        }
        Decision::Mismatch => Py::new(py, Mismatch {})?.into_any(),
        Decision::Parked(parked) => {
            Py::new(py, Parked { reason: parked.reason.as_str().to_owned(), since_ms: parked.since_ms })?.into_any()
        }
        Decision::Gone => Py::new(py, Gone {})?.into_any(),
    })
}
