//! The conformance scenarios, as far as the model knows their steps: two readings of the contract that must agree.

mod answer;
mod story;

use std::path::Path;

use serde_json::Value;

use story::Story;

/// Of a few hundred scenarios those are not told that run handlers, page through lists, or name what cannot be a key.
const TOLD_MIN: usize = 270;

/// Why a scenario was not told to its end.
enum Stop {
    Differs(String),
    CannotTell,
}

#[test]
fn the_model_and_the_conformance_scenarios_read_the_contract_alike() {
    let (mut told, mut differ) = (0, Vec::new());
    for (file, scenario) in scenarios() {
        match tell(&file, &scenario) {
            Ok(()) => told += 1,
            Err(Stop::CannotTell) => {}
            Err(Stop::Differs(how)) => differ.push(format!("{}: {how}", scenario["name"])),
        }
    }
    assert!(differ.is_empty(), "{} differ, {told} do not:\n{}", differ.len(), differ.join("\n"));
    assert!(told >= TOLD_MIN, "only {told} scenarios were told");
}

fn scenarios() -> Vec<(Value, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings/conformance");
    let mut scenarios = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the scenarios") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).unwrap_or_default();
        let Ok(file) = serde_json::from_str::<Value>(&text) else { continue };
        let listed = file["scenarios"].as_array().cloned().unwrap_or_default();
        scenarios.extend(listed.into_iter().map(|scenario| (file.clone(), scenario)));
    }
    scenarios
}

fn tell(file: &Value, scenario: &Value) -> Result<(), Stop> {
    if scenario.get("options").is_some() {
        return Err(Stop::CannotTell);
    }
    let mut story = Story::new([&file["operations"], &scenario["operations"]]);
    for step in scenario["steps"].as_array().into_iter().flatten() {
        let answer = story.step(step).ok_or(Stop::CannotTell)?;
        let expected = step.get("expect").unwrap_or(&Value::Null);
        if !answer::is(&answer, expected) {
            return Err(Stop::Differs(format!("{step}\n    the model says {answer}")));
        }
    }
    Ok(())
}
