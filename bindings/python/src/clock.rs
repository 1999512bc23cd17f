//! A clock for tests.

use keyledger::{Clock, ManualClock};
use pyo3::prelude::*;

use crate::argument::Span;

/// A clock that stands still until a test moves it.
///
/// Example:
///
///     clock = keyledger.testing.ManualClock()
///     with keyledger.in_memory(clock=clock) as ledger:
///         clock.advance(3600)
#[pyclass(name = "ManualClock", module = "keyledger.testing", frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct PyManualClock(pub(crate) ManualClock);

#[pymethods]
impl PyManualClock {
    /// A clock whose wall shows `wall_ms`: milliseconds since 1970-01-01 UTC.
    #[new]
    #[pyo3(signature = (wall_ms=1_700_000_000_000))]
    fn new(wall_ms: u64) -> Self {
        PyManualClock(ManualClock::new(wall_ms))
    }

    /// Lets time pass on both clocks.
    fn advance(&self, span: Span) -> PyResult<()> {
        self.0.advance(span.of("span")?);
        Ok(())
    }

    /// Moves the wall clock alone, as somebody who sets it would. Stops at zero.
    fn jump_wall(&self, by_ms: i64) {
        self.0.jump_wall(by_ms);
    }

    /// What the wall shows: milliseconds since 1970-01-01 UTC.
    #[getter]
    fn wall_ms(&self) -> u64 {
        self.0.wall_ms()
    }

    fn __repr__(&self) -> String {
        format!("<ManualClock at {} ms>", self.0.wall_ms())
    }
}
