//! Python's values as JSON values.

use keyledger::JSON_DEPTH_MAX;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

use crate::error::invalid_argument;

/// The JSON value that `given` is: for every fingerprint. What JSON has no word for, `default` puts in other values, as with `json.dumps`.
///
/// A name of a member that is no text, a number that is not finite, a lone surrogate and more than
/// [`JSON_DEPTH_MAX`] levels are `InvalidArgument`.
pub(crate) fn value(given: &Bound<'_, PyAny>, default: Option<&Bound<'_, PyAny>>) -> PyResult<Value> {
    nested(given, default, JSON_DEPTH_MAX)
}

fn nested(given: &Bound<'_, PyAny>, default: Option<&Bound<'_, PyAny>>, levels: usize) -> PyResult<Value> {
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(Value::String(text.to_cow().map_err(surrogate)?.into_owned()));
    }
    if given.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = given.cast_exact::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if let Ok(whole) = given.cast::<PyInt>() {
        return integer(whole);
    }
    if let Ok(number) = given.cast::<PyFloat>() {
        let finite = Number::from_f64(number.value());
        return finite.map(Value::Number).ok_or_else(|| invalid_argument("a number that is not finite"));
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
    let Some(put) = default else {
        return Err(invalid_argument(format!("a {} is no JSON value", given.get_type().name()?)));
    };
    nested(&put.call1((given,))?, default, levels)
}

fn object(members: &Bound<'_, PyDict>, default: Option<&Bound<'_, PyAny>>, levels: usize) -> PyResult<Value> {
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
    if let Ok(large) = whole.extract::<u64>() {
        return Ok(Value::from(large));
    }
    let inexact = || invalid_argument("an integer that a double cannot hold");
    let double: f64 = whole.extract().map_err(|_| inexact())?;
    // Python compares whole numbers and doubles exactly.
    if !whole.as_any().eq(double)? {
        return Err(inexact());
    }
    Number::from_f64(double).map(Value::Number).ok_or_else(inexact)
}

fn surrogate(_: PyErr) -> PyErr {
    invalid_argument("a lone surrogate")
}
