//! The scenario files of `bindings/conformance/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::scenario::{Declared, Scenario};

/// One scenario, with the declarations of its file under its own.
#[derive(Clone)]
pub struct Case {
    /// The name of its file, without the extension.
    pub file: String,
    /// What it says.
    pub scenario: Scenario,
}

#[derive(Deserialize)]
struct File {
    operations: BTreeMap<String, Declared>,
    outbox: Option<Value>,
    scenarios: Vec<Scenario>,
}

/// Where the files are.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../bindings/conformance")
}

/// Every scenario of every file, in the order of file names.
///
/// # Panics
///
/// When a file cannot be read or is not as the schema says: there is nothing to run then.
pub fn cases() -> Vec<Case> {
    scenario_files().iter().flat_map(cases_of).collect()
}

/// The files with scenarios, in the order of their names.
pub(super) fn scenario_files() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder())
        .expect("the folder of scenarios")
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| is_scenario_file(path))
        .collect();
    paths.sort();
    paths
}

fn is_scenario_file(path: &std::path::Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    is_json && name != "vectors.json" && name != "scenario.schema.json"
}

fn cases_of(path: &PathBuf) -> Vec<Case> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: File = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    file.scenarios
        .into_iter()
        .map(|mut scenario| {
            for (alias, declared) in &file.operations {
                scenario.operations.entry(alias.clone()).or_insert_with(|| declared.clone());
            }
            scenario.outbox = merged(file.outbox.as_ref(), scenario.outbox.take());
            Case { file: name.to_owned(), scenario }
        })
        .collect()
}

/// The settings of the file, and over them those of the scenario.
fn merged(of_file: Option<&Value>, of_scenario: Option<Value>) -> Option<Value> {
    match (of_file.cloned(), of_scenario) {
        (Some(Value::Object(mut settings)), Some(Value::Object(own))) => {
            settings.extend(own);
            Some(Value::Object(settings))
        }
        (of_file, of_scenario) => of_scenario.or(of_file),
    }
}
