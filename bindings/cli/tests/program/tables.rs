//! What people and programs see.

use super::stage::{Stage, said};

/// Settings under which the same is seen at any time (what is settled comes in an order of each file's own): instants, spans, lengths of files and temporary folders are masked.
fn masked() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let filters = [
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ \([^)]*\)", "[instant]"),
        (r"\b\d+ (s|min|h|d) ago", "[ago]"),
        (r#""(\w+_ms)":\d{13}"#, r#""$1":[ms]"#),
        (r"\b[\d.]+ (?:[KM]i)?B\b", "[size]"),
        (r#""(\w+_bytes|fence)":\d+"#, r#""$1":[number]"#),
        (r"\b[0-9a-f]{64}\b", "[sha256]"),
        (r"--after [0-9a-f]{20,}", "--after [mark]"),
        (r#""next":"[0-9a-f]+""#, r#""next":"[mark]""#),
        (r"(?m)^fence( +)\d+", "fence$1[number]"),
        (r"\S+/payments\.kl", "payments.kl"),
        (r" +\n", "\n"),
    ];
    for (pattern, shown) in filters {
        settings.add_filter(pattern, shown);
    }
    settings
}

/// Compares what commands say with what they said when a person last looked.
fn hold(name: &str, stage: &Stage, commands: &[&[&str]]) {
    let say = |arguments: &&[&str]| format!("$ keyledger FILE {}\n{}\n", arguments.join(" "), stage.answer(arguments));
    let all: Vec<String> = commands.iter().map(say).collect();
    let all = all.concat();
    masked().bind(|| insta::assert_snapshot!(name, all));
}

#[test]
fn tables_for_people() {
    let stage = Stage::filled();
    hold(
        "tables",
        &stage,
        &[
            &["stats", "--sizes"],
            &["list", "--limit", "3"],
            &["list", "--state", "completed"],
            &["list", "--scope", "nobody"],
            &["show", "user-17", "POST /v1/charges", "done"],
            &["show", "user-17", "POST /v1/charges", "refused"],
            &["show", "user-17", "POST /v1/charges", "running"],
            &["show", "user-18", "mail", "newsletter"],
            &["check"],
        ],
    );
}

#[test]
fn json_for_programs() {
    let stage = Stage::filled();
    hold(
        "json",
        &stage,
        &[
            &["stats", "--sizes", "--json"],
            &["list", "--limit", "2", "--json"],
            &["show", "user-17", "POST /v1/charges", "running", "--json"],
            &["show", "user-17", "POST /v1/charges", "done", "--json"],
            &["check", "--json"],
            &["compact", "--even-with-claims", "--yes", "--json"],
            &["forget", "user-17", "POST /v1/charges", "refused", "--yes", "--json"],
            &["forget-scope", "user-17", "--even-if-unknown", "--yes", "--json"],
        ],
    );
}

#[test]
fn an_empty_ledger_says_so() {
    let stage = Stage::empty();
    stage.open().close().expect("it closes");
    hold("empty", &stage, &[&["stats"], &["list"], &["outbox", "list"], &["export"], &["check"]]);
}

#[test]
fn pages_lead_to_the_next_one_and_each_record_is_on_one() {
    let stage = Stage::filled();
    let mut keys = Vec::new();
    let mut page = stage.json(&["list", "--limit", "2"]);
    loop {
        keys.extend(page["records"].as_array().expect("records").iter().map(|record| record["key"].to_string()));
        let Some(next) = page["next"].as_str() else { break };
        page = stage.json(&["list", "--limit", "2", "--after", next]);
    }
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 6, "{keys:?}");
    let held: Vec<_> = stage.json(&["list", "--limit", "2"])["records"].as_array().expect("records").clone();
    assert!(held.iter().all(|record| record["needs_decision"] == true), "{held:?}");
}

#[test]
fn colour_is_there_when_it_is_asked_for_and_not_in_a_pipe() {
    let stage = Stage::filled();
    assert!(stage.answer(&["list", "--color", "always"]).contains("\u{1b}["));
    assert!(!stage.answer(&["list"]).contains('\u{1b}'));
}

#[test]
fn what_destroys_says_what_it_would_do_and_does_nothing_unasked() {
    let stage = Stage::filled();
    std::fs::copy(&stage.file, stage.beside("monday.kl")).expect("a copy");
    let commands: [&[&str]; 6] = [
        &["forget", "user-17", "POST /v1/charges", "done"],
        &["forget-scope", "user-17"],
        &["sweep"],
        &["compact", "--even-with-claims"],
        &["restore", "monday.kl"],
        &["resolve", "user-17", "POST /v1/charges", "asked-the-bank", "--not-done", "--who", "ann", "--note", "asked"],
    ];
    let before = stage.json(&["list"]);
    for arguments in commands {
        let said = stage.run(arguments);
        assert_eq!(said.exit, Some(11), "{arguments:?}: {said:?}");
        assert!(said.err.contains("--yes"), "{arguments:?}: {said:?}");
    }
    assert_eq!(stage.json(&["list"]), before);
}

#[test]
fn a_snapshot_restores_what_was_there_and_the_old_file_stays() {
    let stage = Stage::filled();
    stage.answer(&["snapshot", "copy.kl"]);
    assert_eq!(stage.run(&["snapshot", "copy.kl"]).exit, Some(4), "an existing file is not overwritten");
    stage.answer(&["forget", "user-17", "POST /v1/charges", "done", "--yes"]);
    let restored = stage.json(&["restore", "copy.kl", "--yes"]);
    assert_eq!(restored["records"], 6);
    assert_eq!(stage.json(&["show", "user-17", "POST /v1/charges", "done"])["state"], "completed");
    let kept = restored["kept"].as_str().expect("the old file's name");
    assert!(super::stage::is_well(std::path::Path::new(kept)));
    let names: Vec<_> =
        std::fs::read_dir(stage.folder.path()).expect("a folder").flatten().map(|file| file.file_name()).collect();
    assert_eq!(names.len(), 3, "nothing unfinished is left: {names:?}");
}

#[test]
fn export_has_every_record_with_its_contents_as_a_line() {
    let stage = Stage::filled();
    let lines: Vec<serde_json::Value> =
        stage.answer(&["export"]).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 6);
    let done = lines.iter().find(|line| line["key"] == "done").expect("the record");
    assert!(done["response"]["content"]["text"].as_str().expect("text").ends_with("{\"id\":7}"));
    assert_eq!(done["memo"]["text"], "order 1034");
}

#[test]
fn completions_manual_and_help_need_no_file() {
    let stage = Stage::empty();
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_keyledger"));
        said(
            command
                .args(arguments)
                .current_dir(stage.folder.path())
                .env_remove("KEYLEDGER_FILE")
                .output()
                .expect("it runs"),
        )
    };
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(run(&["completions", shell]).out.contains("forget-scope"), "{shell}");
    }
    assert!(run(&["--help"]).out.contains("Exit codes:"));
    assert_eq!(run(&["nonsense"]).exit, Some(2));
}

#[test]
fn bench_measures_the_disk_and_leaves_nothing() {
    let stage = Stage::empty();
    let measured = stage.json(&["bench", "--seconds", "1"]);
    assert!(measured["synced_writes_per_second"].as_f64().expect("a number") > 0.0);
    let callers: Vec<_> =
        measured["begin_complete"].as_array().expect("crowds").iter().map(|crowd| crowd["callers"].clone()).collect();
    assert_eq!(callers, [1, 8, 64]);
    assert_eq!(std::fs::read_dir(stage.folder.path()).expect("a folder").count(), 0);
}
