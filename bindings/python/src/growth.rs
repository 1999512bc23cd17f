//! Thresholds on a ledger's figures, for a janitor's alerts (T4).

use keyledger::Growth;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::argument::{Span, seconds};
use crate::error::invalid_argument;

/// A threshold on one of the figures of `Stats`, by its name: `Growth("parked", 10)`.
///
/// `oldest_unsettled` is a span, how long the oldest unsettled record has waited; the others are numbers. `FIGURES` has all names.
///
/// Raises `InvalidArgument` for a figure that there is not.
///
/// Example:
///
///     with keyledger.Janitor(ledger, on_growth=[(Growth("parked", 1), print)]):
///         pass  # the program
#[pyclass(name = "Growth", module = "keyledger", frozen, eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct PyGrowth(pub(crate) Growth);

const OLDEST: &str = "oldest_unsettled";

type Made = fn(u64) -> Growth;

/// The figures that are numbers.
const COUNTED: [(&str, Made); 9] = [
    ("file_bytes", Growth::FileBytes),
    ("parked", Growth::Parked),
    ("lapsed", Growth::Lapsed),
    ("in_progress", Growth::InProgress),
    ("completed", Growth::Completed),
    ("failed", Growth::Failed),
    ("released", Growth::Released),
    ("tombstones", Growth::Tombstones),
    ("due", Growth::Due),
];

/// The figure's name, and its threshold where that is a number.
fn parts(growth: Growth) -> (&'static str, Option<u64>) {
    let (Growth::FileBytes(counted)
    | Growth::Parked(counted)
    | Growth::Lapsed(counted)
    | Growth::InProgress(counted)
    | Growth::Completed(counted)
    | Growth::Failed(counted)
    | Growth::Released(counted)
    | Growth::Tombstones(counted)
    | Growth::Due(counted)) = growth
    else {
        return (OLDEST, None);
    };
    let name = COUNTED.iter().find(|(_, made)| made(counted) == growth).map_or(OLDEST, |(name, _)| name);
    (name, Some(counted))
}

#[pymethods]
impl PyGrowth {
    #[new]
    fn new(figure: &str, threshold: &Bound<'_, PyAny>) -> PyResult<Self> {
        if figure == OLDEST {
            return Ok(Self(Growth::OldestUnsettled(Span::setting("threshold", threshold)?)));
        }
        let Some((_, made)) = COUNTED.iter().find(|(name, _)| *name == figure) else {
            return Err(invalid_argument(format!(
                "there is no figure {figure}; there are {}",
                Self::FIGURES().join(", ")
            )));
        };
        let refused = |_| PyTypeError::new_err(format!("the threshold of {figure} is a whole number, zero or more"));
        threshold.extract().map(|threshold| Self(made(threshold))).map_err(refused)
    }

    /// The names of all figures.
    #[classattr]
    #[expect(non_snake_case, reason = "a constant of Python's")]
    fn FIGURES() -> [&'static str; 10] {
        let mut names = [OLDEST; 10];
        for (place, (name, _)) in names.iter_mut().zip(COUNTED) {
            *place = name;
        }
        names
    }

    /// The figure's name.
    #[getter]
    fn figure(&self) -> &'static str {
        parts(self.0).0
    }

    /// The number; of `oldest_unsettled`, seconds.
    #[getter]
    fn threshold(&self) -> f64 {
        match self.0 {
            Growth::OldestUnsettled(span) => seconds(span),
            #[expect(clippy::cast_precision_loss, reason = "nobody sets a threshold beyond 2^53")]
            growth => parts(growth).1.unwrap_or_default() as f64,
        }
    }

    fn __repr__(&self) -> String {
        format!("Growth({:?}, {})", self.figure(), self.threshold())
    }
}
