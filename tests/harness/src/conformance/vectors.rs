//! Runs `vectors.json`: what section 8 comes to, byte for byte.

use std::fs;

use keyledger::{Fingerprint, HttpRequest, Key, KeyId, Members, OperationName, Scope};
use serde_json::Value;

use super::file::folder;
use super::values::{bytes, unhex};

/// One vector: the list it is in, its name, and what to check.
#[derive(Clone)]
pub struct Vector {
    /// The list of `vectors.json`.
    pub list: String,
    /// Its name, unique within the list.
    pub name: String,
    case: Value,
}

/// Every vector of the file.
///
/// # Panics
///
/// When the file cannot be read.
pub fn vectors() -> Vec<Vector> {
    let text = fs::read_to_string(folder().join("vectors.json")).expect("vectors.json");
    let lists: serde_json::Map<String, Value> = serde_json::from_str(&text).expect("vectors.json is JSON");
    let of_list = |(list, cases): (String, Value)| {
        let cases = cases.as_array().cloned().unwrap_or_default();
        cases.into_iter().map(move |case| Vector { name: name(&case), list: list.clone(), case })
    };
    lists.into_iter().filter(|(list, _)| list != "same").flat_map(of_list).collect()
}

fn name(case: &Value) -> String {
    match case["name"].as_str().or(case["bits"].as_str()) {
        Some(name) if case["scope"].is_null() => name.to_owned(),
        name => {
            ["scope", "operation", "key"].map(|part| case[part].as_str().unwrap_or_default()).join(" ")
                + " "
                + name.unwrap_or_default()
        }
    }
}

impl Vector {
    /// Checks it; the error says what was expected and found.
    pub fn check(&self) -> Result<(), String> {
        let case = &self.case;
        match self.list.as_str() {
            "json" => same(json(case), &case["sha256"]),
            "numbers" => number(case),
            "refused" => refused(case),
            "pointers" => same(pointers(case), &case["sha256"]),
            "bytes" => same(Ok(of_parts(case)), &case["sha256"]),
            "http" => same(http(case), &case["sha256"]),
            "derive" => same(Ok(derived(case)), &case["key"]),
            "claim_derive" => same(claim_derived(case), &case["derived"]),
            other => Err(format!("no list is called {other}")),
        }
    }
}

fn same(found: Result<String, String>, expected: &Value) -> Result<(), String> {
    match found {
        Ok(found) if Some(found.as_str()) == expected.as_str() => Ok(()),
        found => Err(format!("expected {expected}, found {found:?}")),
    }
}

fn given(case: &Value) -> Vec<u8> {
    bytes(case.get("text").unwrap_or(case))
}

fn hex_of(fingerprint: Fingerprint) -> String {
    fingerprint.hex().unwrap_or_default()
}

fn json(case: &Value) -> Result<String, String> {
    Fingerprint::of_json_text(given(case)).map(hex_of).map_err(|error| error.to_string())
}

/// The table of RFC 8785 holds for the double itself, and for text that reads as it.
fn number(case: &Value) -> Result<(), String> {
    let bits = u64::from_str_radix(case["bits"].as_str().unwrap_or_default(), 16).map_err(|error| error.to_string())?;
    let value = serde_json::Number::from_f64(f64::from_bits(bits)).map(Value::Number);
    match (value, case["sha256"].as_str()) {
        // What is no finite double is not to be had as a JSON value in Rust.
        (None, None) => Ok(()),
        (Some(value), Some(_)) => {
            same(Fingerprint::of_json(&value).map(hex_of).map_err(|error| error.to_string()), &case["sha256"])?;
            same(json(case), &case["sha256"])
        }
        (value, _) => Err(format!("expected {case}, found {value:?}")),
    }
}

fn refused(case: &Value) -> Result<(), String> {
    match json(case) {
        Err(_) => Ok(()),
        Ok(found) => Err(format!("expected to be refused ({}), found {found}", case["reason"])),
    }
}

fn members(case: &Value) -> Result<Members, String> {
    let texts = |name: &str| {
        let pointers = case.get(name)?.as_array()?;
        Some(pointers.iter().filter_map(|pointer| pointer.as_str().map(str::to_owned)).collect::<Vec<_>>())
    };
    match (texts("leave_out"), texts("only")) {
        (Some(pointers), _) => {
            Members::leave_out(pointers.iter().map(String::as_str)).map_err(|error| error.to_string())
        }
        (None, Some(pointers)) => Members::only(pointers.iter().map(String::as_str)).map_err(|error| error.to_string()),
        (None, None) => Ok(Members::All),
    }
}

fn pointers(case: &Value) -> Result<String, String> {
    Fingerprint::of_json_text_with(given(case), &members(case)?).map(hex_of).map_err(|error| error.to_string())
}

fn parts(case: &Value) -> Vec<Vec<u8>> {
    let parts = case["parts_hex"].as_array().cloned().unwrap_or_default();
    parts.iter().map(|part| unhex(part.as_str().unwrap_or_default())).collect()
}

fn of_parts(case: &Value) -> String {
    let parts = parts(case);
    hex_of(Fingerprint::of_bytes(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>()))
}

fn http(case: &Value) -> Result<String, String> {
    let of = |name: &str| case[name].as_str().unwrap_or_default().as_bytes();
    let body = unhex(case["body_hex"].as_str().unwrap_or_default());
    let content_type = Some(of("content_type")).filter(|text| !text.is_empty());
    let request = HttpRequest { method: of("method"), path: of("path"), query: of("query"), content_type, body: &body };
    Ok(hex_of(Fingerprint::of_http(&request, &members(case)?)))
}

fn derived(case: &Value) -> String {
    let parts = parts(case);
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    Key::derive(case["namespace"].as_str().unwrap_or_default(), &parts).as_str().to_owned()
}

fn claim_derived(case: &Value) -> Result<String, String> {
    let of = |name: &str| case[name].as_str().unwrap_or_default();
    let scope = Scope::new(of("scope")).map_err(|error| error.to_string())?;
    let key = Key::new(of("key")).map_err(|error| error.to_string())?;
    let operation = OperationName::new(of("operation")).map_err(|error| error.to_string())?;
    Ok(KeyId::of_parts(scope, operation, key).derive_key(of("name")).as_str().to_owned())
}
