//! The core's errors as exceptions of Python's: one class to each code, in `keyledger.errors`.

use keyledger::Error;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::interpreter::rest_for_ever;

/// The classes by code. A package that is imported again over this module goes on with the first one's.
static CLASSES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

/// Takes the package's exception classes, by code, and returns those that are raised from now on: the ones that came first.
#[pyfunction]
pub(crate) fn register_errors(py: Python<'_>, classes: Bound<'_, PyDict>) -> Py<PyDict> {
    CLASSES.get_or_init(py, || classes.unbind()).clone_ref(py)
}

/// Every code of the core's.
#[pyfunction]
pub(crate) fn error_codes() -> Vec<&'static str> {
    keyledger::ErrorCode::ALL.iter().map(|code| code.as_str()).collect()
}

/// A call that could not be answered, on its way to Python. It is made an exception there, and not before: an error of a closure in the
/// commit queue waits for no interpreter.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The core's.
    Error(Error),
    /// What Python has raised.
    Raised(PyErr),
    /// Python was to be called, and is no more.
    ShuttingDown,
}

/// What the methods return.
pub(crate) type Told<T> = Result<T, Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

impl From<keyledger::KeyError> for Failure {
    fn from(error: keyledger::KeyError) -> Self {
        Error::from(error).into()
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure::Raised(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Error(error) => Python::attach(|py| exception(py, &error)),
            Failure::Raised(raised) => raised,
            Failure::ShuttingDown => Python::attach(|py| rest_for_ever(py)),
        }
    }
}

/// An argument outside its range.
pub(crate) fn invalid_argument(why: impl Into<String>) -> PyErr {
    Failure::from(Error::InvalidArgument(why.into())).into()
}

/// An exception that no caller is there for comes to the program by `on_error`; without one by the logger `keyledger`. What that raises goes to
/// `sys.unraisablehook`.
pub(crate) fn tell_program(py: Python<'_>, error: PyErr, on_error: Option<&Py<PyAny>>, what: &str) {
    let told = match on_error {
        Some(on_error) => on_error.call1(py, (error.into_value(py),)).map(drop),
        None => log(py, error, what),
    };
    if let Err(raised) = told {
        raised.write_unraisable(py, on_error.map(|on_error| on_error.bind(py).as_any()));
    }
}

fn log(py: Python<'_>, error: PyErr, what: &str) -> PyResult<()> {
    let logger = py.import("logging")?.call_method1("getLogger", ("keyledger",))?;
    let details = PyDict::new(py);
    details.set_item("exc_info", error.into_value(py))?;
    logger.call_method("error", ("%s", what), Some(&details)).map(drop)
}

/// The error's exception, with its code and its message.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    of_code(py, error.code().as_str(), &error.to_string())
}

/// The exception of a code: one of the core's, or of the package's own.
pub(crate) fn of_code(py: Python<'_>, code: &str, message: &str) -> PyErr {
    let class = CLASSES.get(py).and_then(|classes| classes.bind(py).get_item(code).ok().flatten());
    match class.map(|class| class.call1((message,))) {
        Some(Ok(raised)) => PyErr::from_value(raised),
        Some(Err(error)) => error,
        None => PyRuntimeError::new_err(format!("keyledger: {code}: {message}")),
    }
}
