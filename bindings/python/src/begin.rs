//! What a caller of `begin` asks for, as a value.

use keyledger::Begin;
use pyo3::prelude::*;

use crate::argument::{Bytes, Span, Text};
use crate::error::Told;
use crate::fingerprint::Print;
use crate::operation::PyOperation;

/// One key, and what is asked for it: for `begin_with`, `begin_many` and `ask`.
#[pyclass(name = "Begin", module = "keyledger", frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct PyBegin(pub(crate) Begin);

#[pymethods]
impl PyBegin {
    #[new]
    #[pyo3(
        signature = (operation, scope, key, fingerprint, *, memo=Bytes::default(), wait=None),
        text_signature = "(operation, scope, key, fingerprint, *, memo=b'', wait=None)"
    )]
    fn new(
        operation: &PyOperation,
        scope: Text,
        key: Text,
        fingerprint: Print,
        memo: Bytes,
        wait: Option<Span>,
    ) -> Told<Self> {
        Ok(PyBegin(asked(operation, &scope, &key, fingerprint, memo, wait)?))
    }
}

/// The arguments of `begin`, as the core takes them.
pub(crate) fn asked(
    operation: &PyOperation,
    scope: &Text,
    key: &Text,
    fingerprint: Print,
    memo: Bytes,
    wait: Option<Span>,
) -> Told<Begin> {
    let begin = Begin::new(&operation.0, &scope.scope()?, &key.key()?, fingerprint.0);
    Ok(begin.memo(memo.0).wait(Span::given(wait, "wait")?.unwrap_or_default()))
}
