//! One request under a key: from what the ledger says of it to what its client is told.

use std::sync::Arc;

use keyledger::{Begin, Claim, Decision, Effect, Error, Ledger, Settlement};
use keyledger_http::{Answer, Conclusion, Route, Ruling, Settled, fitting};
use pyo3::prelude::*;

use super::answer::{PyAnswer, list};
use crate::claim::PyClaim;
use crate::interpreter::attached;
use crate::ledger::begun;
use crate::patience::unless_interrupted;
use crate::waiting::{awaitable, granting};

/// A request under a key, as the ledger is asked about it.
#[pyclass(module = "keyledger.http", frozen)]
pub(crate) struct Asked(Arc<Question>);

struct Question {
    ledger: Ledger,
    route: Arc<Route>,
    begin: Begin,
    key_id: [String; 3],
}

/// How a handler ended.
enum Ended {
    Answered(Answer),
    /// Its response has passed the limit, and goes on.
    PastLimit(Answer),
}

impl Asked {
    pub(crate) fn new(ledger: Ledger, route: Arc<Route>, begin: Begin, key_id: [String; 3]) -> Self {
        Self(Arc::new(Question { ledger, route, begin, key_id }))
    }
}

#[pymethods]
impl Asked {
    /// What to do: run the handler under the `Claim`, or send the `Answer`. A ledger that does not answer is a 503.
    fn rule(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let asked = &self.0;
        unless_interrupted(py, asked.ruled(py, begun(py, &asked.ledger, &asked.begin)?)?)
    }

    /// `rule` on an event loop. Cancelled before it is told, it grants nothing.
    fn rule_async<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let asked = self.0.clone();
        let begun = || self.0.ledger.begin_with_async(self.0.begin.clone());
        granting(py, begun, move |py, told| asked.ruled(py, told))
    }

    /// Settles the claim by a response that has come to its end. On return the outcome is on disk.
    ///
    /// Returns the fields to add to that response, or the `Answer` to send in its place.
    fn conclude(&self, py: Python<'_>, claim: &PyClaim, response: PyAnswer) -> PyResult<Py<PyAny>> {
        self.0.end(py, claim, Ended::Answered(response.0))
    }

    /// `conclude` on an event loop. What is settled is queued when the call is made.
    fn conclude_async<'py>(&self, py: Python<'py>, claim: &PyClaim, response: PyAnswer) -> PyResult<Bound<'py, PyAny>> {
        self.0.clone().end_async(py, claim, Ended::Answered(response.0))
    }

    /// The same for a response that has passed `max_body_bytes` and goes on: its body is not kept (H8).
    fn conclude_past_limit(&self, py: Python<'_>, claim: &PyClaim, response: PyAnswer) -> PyResult<Py<PyAny>> {
        self.0.end(py, claim, Ended::PastLimit(response.0))
    }

    /// `conclude_past_limit` on an event loop.
    fn conclude_past_limit_async<'py>(
        &self,
        py: Python<'py>,
        claim: &PyClaim,
        response: PyAnswer,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.0.clone().end_async(py, claim, Ended::PastLimit(response.0))
    }

    /// Settles the claim of a handler that raised, or whose response broke off, by the effect (S8).
    ///
    /// Returns the answer, and whether it has to be told: what was stored, or who has won, is the answer all the same, and is not for
    /// whoever else turns errors into answers.
    fn conclude_failure(&self, py: Python<'_>, claim: &PyClaim) -> (PyAnswer, bool) {
        let asked = &self.0;
        let claim = claim.surrender();
        py.detach(|| {
            let settled = Settled::of(claim, |effect| asked.failure(effect));
            asked.failed(&settled)
        })
    }

    /// `conclude_failure` on an event loop. What is settled is queued when the call is made.
    fn conclude_failure_async<'py>(&self, py: Python<'py>, claim: &PyClaim) -> PyResult<Bound<'py, PyAny>> {
        let (asked, claim) = (self.0.clone(), claim.surrender());
        let work = async move {
            let settled = Settled::of_async(claim, |effect| asked.failure(effect)).await;
            asked.failed(&settled)
        };
        awaitable(py, || work, |py, told| Ok(told.into_pyobject(py)?.into_any().unbind()))
    }

    /// Scope, operation and key: a layer around this one that holds the claim on them lets the request pass.
    #[getter]
    fn key_id(&self) -> (&str, &str, &str) {
        let [scope, operation, key] = &self.0.key_id;
        (scope, operation, key)
    }
}

impl Question {
    fn ruled(&self, py: Python<'_>, told: keyledger::Result<Decision>) -> PyResult<Py<PyAny>> {
        if let Err(error) = &told {
            log(py, error)?;
        }
        Ok(match self.route.rule(told) {
            Ruling::Run(claim) => Py::new(py, PyClaim::new(claim))?.into_any(),
            Ruling::Answer(answer) => Py::new(py, PyAnswer(answer))?.into_any(),
        })
    }

    fn end(&self, py: Python<'_>, claim: &PyClaim, ended: Ended) -> PyResult<Py<PyAny>> {
        let claim = claim.surrender();
        let conclusion = py.detach(|| {
            let settled = Settled::of(claim, |effect| self.settlement(effect, &ended));
            self.concluded(&ended, &settled)
        });
        told(py, conclusion)
    }

    fn end_async<'py>(self: Arc<Self>, py: Python<'py>, claim: &PyClaim, ended: Ended) -> PyResult<Bound<'py, PyAny>> {
        let claim: Option<Claim> = claim.surrender();
        let work = async move {
            let settled = Settled::of_async(claim, |effect| self.settlement(effect, &ended)).await;
            self.concluded(&ended, &settled)
        };
        awaitable(py, || work, told)
    }

    fn settlement(&self, effect: Effect, ended: &Ended) -> Settlement {
        let settlement = match ended {
            Ended::Answered(answer) => self.route.settlement(effect, answer),
            Ended::PastLimit(answer) => self.route.settlement_past_limit(effect, answer),
        };
        fitting(settlement, self.ledger.max_response_bytes())
    }

    fn failure(&self, effect: Effect) -> Settlement {
        fitting(self.route.settlement_of_failure(effect), self.ledger.max_response_bytes())
    }

    fn concluded(&self, ended: &Ended, settled: &Settled) -> Conclusion {
        note(settled);
        let (Ended::Answered(answer) | Ended::PastLimit(answer)) = ended;
        self.route.conclude(answer.status, settled, self.now())
    }

    fn failed(&self, settled: &Settled) -> (PyAnswer, bool) {
        note(settled);
        let has_to_be_told = self.route.conclude_error(settled, self.now()).is_some();
        (PyAnswer(self.route.conclude_failure(settled, self.now())), has_to_be_told)
    }

    fn now(&self) -> Result<Decision, Error> {
        self.ledger.ask(&self.begin)
    }
}

fn told(py: Python<'_>, conclusion: Conclusion) -> PyResult<Py<PyAny>> {
    Ok(match conclusion {
        Conclusion::Own(fields) => list(py, &fields)?.into_any().unbind(),
        Conclusion::Instead(answer) => Py::new(py, PyAnswer(answer))?.into_any(),
    })
}

/// Clients are told no more than 503: why, whoever runs the server reads in its log.
fn log(py: Python<'_>, error: &Error) -> PyResult<()> {
    let logger = py.import("logging")?.call_method1("getLogger", ("keyledger.http",))?;
    let told = format!("the ledger does not answer ({}): {error}", error.code().as_str());
    logger.call_method1("error", ("%s", told)).map(drop)
}

fn note(settled: &Settled) {
    match settled {
        Settled::Not(Error::ClaimLost) | Settled::ByAdapter | Settled::ByHandler(_) => {}
        // A log that cannot be written stops nothing.
        Settled::Not(error) => drop(attached(|py| log(py, error))),
    }
}
