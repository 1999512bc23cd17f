//! What came of a delivery, as Python says it.

use keyledger::DeliveryOutcome;
use pyo3::prelude::*;

use crate::argument::{Answer, Span};

/// What came of one delivery: a transport returns one. Each method that says more returns another outcome.
///
/// Example:
///
///     DeliveryOutcome.retry("the server answered 503").not_before(30).pausing_lane()
#[pyclass(name = "DeliveryOutcome", module = "keyledger", frozen, eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct PyOutcome(pub(crate) DeliveryOutcome);

#[pymethods]
impl PyOutcome {
    /// It was done, and this is the answer: a Response, bytes or text.
    #[staticmethod]
    fn yes(response: Answer) -> Self {
        Self(DeliveryOutcome::yes(response.0))
    }

    /// A final no. It settles the entry only if no other try's outcome is unknown (O9).
    #[staticmethod]
    fn no(response: Answer) -> Self {
        Self(DeliveryOutcome::no(response.0))
    }

    /// Try again. This try may have taken effect, unless it is `not_taken`.
    #[staticmethod]
    fn retry(error: String) -> Self {
        Self(DeliveryOutcome::retry(error))
    }

    /// Given up: this try certainly took no effect. If another may have, the entry becomes unknown (O9).
    #[staticmethod]
    fn dead(reason: String) -> Self {
        Self(DeliveryOutcome::dead(reason))
    }

    /// Nobody knows whether it took effect, and asking again will not tell: held for whoever reconciles.
    #[staticmethod]
    fn unknown(reason: String) -> Self {
        Self(DeliveryOutcome::unknown(reason))
    }

    /// The credentials are not accepted: nothing of this scope's lane is sent until `resume` (O8). The try is given back.
    #[staticmethod]
    fn hold_lane(reason: String) -> Self {
        Self(DeliveryOutcome::hold_lane(reason))
    }

    /// The principal may not do this: the entry alone is held until it is resumed (O8). The try is given back.
    #[staticmethod]
    fn hold_entry(reason: String) -> Self {
        Self(DeliveryOutcome::hold_entry(reason))
    }

    /// An answer that was told before: it settles the entry from any delivery, whatever other tries' outcomes are.
    fn replayed(&self) -> Self {
        Self(self.0.clone().replayed())
    }

    /// A retry after a try that certainly took no effect: no byte left, or it was turned away.
    fn not_taken(&self) -> Self {
        Self(self.0.clone().not_taken())
    }

    /// A retry that does not count as a try: the server asks for the same key later.
    fn not_counted(&self) -> Self {
        Self(self.0.clone().not_counted())
    }

    /// A retry because no answer came, whether or not the request has arrived: `Outbox.online` has it tried soon.
    fn unanswered(&self) -> Self {
        Self(self.0.clone().unanswered())
    }

    /// Not before `span` (seconds, or a timedelta) has passed, up to the outbox's maximum.
    fn not_before(&self, span: Span) -> PyResult<Self> {
        Ok(Self(self.0.clone().not_before(span.of("span")?)))
    }

    /// Nothing of this scope's lane is sent in that time, either.
    fn pausing_lane(&self) -> Self {
        Self(self.0.clone().pausing_lane())
    }

    /// The server has told for how long (seconds, or a timedelta) it will know the key (O7).
    fn key_expires_after(&self, span: Span) -> PyResult<Self> {
        Ok(Self(self.0.clone().key_expires_after(span.of("span")?)))
    }

    /// `yes`, `no`, `retry`, `dead`, `unknown`, `hold_lane` or `hold_entry`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.as_str()
    }

    fn __repr__(&self) -> String {
        format!("<DeliveryOutcome {}>", self.0.as_str())
    }
}
