//! Python's values as JSON values.

use keyledger::JSON_DEPTH_MAX;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

use crate::error::invalid_argument;

/// The JSON value that `given` is. What JSON has no word for, `default` puts in other values, as with `json.dumps`.
///
/// A name of a member that is no text, a number that is not finite, an integer of more than 64 bits, a lone surrogate and more than
/// [`JSON_DEPTH_MAX`] levels are `InvalidArgument`.
pub(crate) fn value(given: &Bound<'_, PyAny>, default: &Bound<'_, PyAny>) -> PyResult<Value> {
    nested(given, default, JSON_DEPTH_MAX)
}

fn nested(given: &Bound<'_, PyAny>, default: &Bound<'_, PyAny>, levels: usize) -> PyResult<Value> {
    if let Ok(text) = given.cast_exact::<PyString>() {
        return Ok(Value::String(text.to_cow().map_err(surrogate)?.into_owned()));
    }
    if given.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = given.cast_exact::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if let Ok(whole) = given.cast_exact::<PyInt>() {
        return integer(whole);
    }
    if let Ok(number) = given.cast_exact::<PyFloat>() {
        let finite = Number::from_f64(number.value());
        return finite.map(Value::Number).ok_or_else(|| invalid_argument(format!("{number} is no finite number")));
    }
    let Some(levels) = levels.checked_sub(1) else {
        return Err(invalid_argument(format!("more than {JSON_DEPTH_MAX} levels")));
    };
    if let Ok(members) = given.cast::<PyDict>() {
        return object(members, default, levels);
    }
    if let Ok(list) = given.cast::<PyList>() {
        return list.iter().map(|element| nested(&element, default, levels)).collect::<PyResult<_>>().map(Value::Array);
    }
    if let Ok(tuple) = given.cast::<PyTuple>() {
        return tuple
            .iter()
            .map(|element| nested(&element, default, levels))
            .collect::<PyResult<_>>()
            .map(Value::Array);
    }
    nested(&default.call1((given,))?, default, levels)
}

fn object(members: &Bound<'_, PyDict>, default: &Bound<'_, PyAny>, levels: usize) -> PyResult<Value> {
    let mut object = Map::new();
    for (name, member) in members {
        let Ok(name) = name.cast_into::<PyString>() else {
            return Err(invalid_argument("the name of a member is text"));
        };
        object.insert(name.to_cow().map_err(surrogate)?.into_owned(), nested(&member, default, levels)?);
    }
    Ok(Value::Object(object))
}

fn integer(whole: &Bound<'_, PyInt>) -> PyResult<Value> {
    if let Ok(small) = whole.extract::<i64>() {
        return Ok(Value::from(small));
    }
    let large = whole
        .extract::<u64>()
        .map_err(|_| invalid_argument(format!("{whole} is an integer that a double cannot hold")));
    large.map(Value::from)
}

fn surrogate(_: PyErr) -> PyErr {
    invalid_argument("a lone surrogate")
}
