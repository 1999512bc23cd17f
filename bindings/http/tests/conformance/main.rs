//! The scenarios of `bindings/conformance/http`, each through the pure functions and through the tower layer on a real server.

mod check;
mod format;
mod handler;
mod pure;
mod served;
mod stage;
mod wire;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use libtest_mimic::{Arguments, Failed, Trial};

use format::{File, Scenario};

fn main() {
    let scenarios = scenarios();
    let mut trials = vec![names_differ(&scenarios), rules_are_covered(&scenarios)];
    for (file, scenario) in scenarios {
        let name = format!("{file}: {}", scenario.name);
        let (through_functions, through_server) = (scenario.clone(), scenario);
        if through_functions.only.is_empty() {
            let run = move || failed(stage::run(&through_functions, pure::Pure::new(&through_functions)));
            trials.push(Trial::test(name.clone(), run).with_kind("pure"));
        }
        let run = move || failed(stage::run(&through_server, served::Served::new(&through_server)));
        trials.push(Trial::test(name, run).with_kind("served"));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn failed(result: Result<(), String>) -> Result<(), Failed> {
    result.map_err(Failed::from)
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../conformance/http")
}

/// Every scenario, with the name of its file and the members of the file's route.
fn scenarios() -> Vec<(String, Scenario)> {
    let entries = fs::read_dir(folder()).expect("the folder of scenarios");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a file of scenarios");
        let file: File = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        file.into_scenarios().into_iter().map(move |scenario| (stem.clone(), scenario))
    };
    paths.into_iter().flat_map(read).collect()
}

fn names_differ(scenarios: &[(String, Scenario)]) -> Trial {
    let names: Vec<String> = scenarios.iter().map(|(file, scenario)| format!("{file}: {}", scenario.name)).collect();
    Trial::test("no two scenarios of a file have one name", move || {
        let mut seen = BTreeSet::new();
        let twice: Vec<&String> = names.iter().filter(|name| !seen.insert(*name)).collect();
        if twice.is_empty() { Ok(()) } else { Err(format!("{twice:?}").into()) }
    })
}

/// Rules that no scenario can hold for every adapter, and where they are held instead.
const ELSEWHERE: [(&str, &str); 2] = [
    ("H10", "tests/layer/slow.rs: heartbeats go by the real clock"),
    ("H17", "tests/layer/nested.rs: it takes something before the adapter"),
];

fn rules_are_covered(scenarios: &[(String, Scenario)]) -> Trial {
    let cited: BTreeSet<String> = scenarios.iter().flat_map(|(_, scenario)| scenario.rules.clone()).collect();
    Trial::test("every rule for servers is cited by a scenario, or held elsewhere", move || {
        let rules = fs::read_to_string(folder().join("../../../docs/http-rules.md"))?;
        let items = rules.lines().filter_map(|line| line.strip_prefix("- H")?.split([' ', ':']).next());
        let uncited: Vec<String> = items
            .map(|number| format!("H{number}"))
            .filter(|rule| !cited.contains(rule) && ELSEWHERE.iter().all(|(elsewhere, _)| elsewhere != rule))
            .collect();
        if uncited.is_empty() { Ok(()) } else { Err(format!("no scenario cites {uncited:?}").into()) }
    })
}
