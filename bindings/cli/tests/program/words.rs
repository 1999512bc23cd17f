//! The command line itself: help, and what is said of lines that are none.

use super::stage::{Said, Stage, said};
use std::process::Command;

fn run(stage: &Stage, arguments: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyledger"));
    command.args(arguments).current_dir(stage.folder.path());
    command.env_remove("KEYLEDGER_FILE").env_remove("KEYLEDGER_WHO");
    said(command.output().expect("it runs"))
}

fn hold(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn help_shows_where_the_file_goes_own_options_first_and_examples() {
    let stage = Stage::empty();
    let commands: [&[&str]; 6] = [
        &["--help"],
        &["list", "--help"],
        &["resolve", "--help"],
        &["outbox", "requeue", "--help"],
        &["sweep", "-h"],
        &["man", "--help"],
    ];
    let say = |arguments: &&[&str]| format!("$ keyledger {}\n{}\n", arguments.join(" "), run(&stage, arguments).out);
    hold("help", &commands.iter().map(say).collect::<String>());
}

#[test]
fn a_line_that_is_none_ends_with_2_and_says_how_it_is_written() {
    let stage = Stage::filled();
    let lines: [&[&str]; 12] = [
        &["list", "payments.kl"],
        &["show", "payments.kl", "user-17", "mail", "welcome"],
        &["show", "payments.kl", "user-17", "mail"],
        &["list"],
        &["payments.kl", "list", "--limit", "0"],
        &["payments.kl", "list", "--after", "zz"],
        &["payments.kl", "list", "--older-than", "1y"],
        &["payments.kl", "list", "--older-than", "999999999999999d"],
        &["payments.kl", "sweep", "--batch", "0"],
        &["payments.kl", "resolve", "a", "b", "c", "--not-done", "--who", " ", "--note", "why"],
        &["payments.kl", "outbox", "dismiss", "1", "--who", "ann", "--note", ""],
        &["payments.kl", "lst"],
    ];
    let say = |arguments: &&[&str]| {
        let said = run(&stage, arguments);
        assert_eq!((said.exit, said.out.as_str()), (Some(2), ""), "{arguments:?}: {said:?}");
        format!("$ keyledger {}\n{}\n", arguments.join(" "), said.err)
    };
    hold("usage", &lines.iter().map(say).collect::<String>());
}

#[test]
fn with_json_a_line_that_is_none_is_told_in_json() {
    let stage = Stage::filled();
    for line in [&["--json", "list"][..], &["payments.kl", "list", "--state", "foo", "--json"], &["--json"]] {
        let said = run(&stage, line);
        let told: serde_json::Value =
            serde_json::from_str(&said.err).unwrap_or_else(|error| panic!("{error}: {said:?}"));
        assert_eq!((said.exit, &told["error"]["code"]), (Some(2), &"usage".into()), "{said:?}");
    }
}

#[test]
fn an_empty_name_in_the_environment_decides_nothing() {
    let stage = Stage::filled();
    let mut command =
        stage.command(&["resolve", "user-18", "mail", "newsletter", "--not-done", "--note", "why", "--yes"]);
    let said = said(command.env("KEYLEDGER_WHO", "").output().expect("it runs"));
    assert_eq!(said.exit, Some(2), "{said:?}");
    assert_eq!(stage.json(&["show", "user-18", "mail", "newsletter"])["needs_decision"], true);
}

#[test]
fn who_has_seen_enough_ends_it_in_silence() {
    let stage = Stage::filled();
    let script = "\"$PROGRAM\" \"$FILE\" export 2> err | :; exit \"${PIPESTATUS[0]}\"";
    let Some(mut shell) = keyledger_needs::program("bash", "bash") else { return };
    shell.args(["-c", script]).env("PROGRAM", env!("CARGO_BIN_EXE_keyledger")).env("FILE", &stage.file);
    let status = shell.current_dir(stage.folder.path()).status().expect("it runs");
    assert_eq!(status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(stage.beside("err")).expect("a file"), "");
}

#[test]
fn the_manual_has_every_command_with_its_options_and_what_each_exit_says() {
    let stage = Stage::empty();
    let page = run(&stage, &["man"]).out.replace("\\-", "-");
    assert_eq!(page.matches(".SH NAME").count(), 1, "it is one page");
    for section in ["SYNOPSIS", "COMMANDS", "ENVIRONMENT", "\"EXIT STATUS\"", "EXAMPLES"] {
        assert!(page.contains(&format!(".SH {section}\n")), "{section}");
    }
    for command in ["list", "forget-scope", "\"outbox requeue\"", "\"outbox dismiss\"", "man"] {
        assert!(page.contains(&format!(".SS {command}\n")), "{command}");
    }
    for told in [
        "--even-with-claims",
        "--newer-than <AGE>",
        "KEYLEDGER_PATIENCE",
        ".TP\n\\fB130\\fR\ninterrupted",
        "outbox list --state dead",
    ] {
        assert!(page.contains(told), "{told}");
    }
    let shown =
        page.split(".nf\n").skip(1).filter_map(|part| part.split_once(".fi")).flat_map(|(shown, _)| shown.lines());
    let wide = shown.filter(|line| line.len() > 80 && !line.starts_with("Usage:"));
    assert_eq!(wide.collect::<Vec<_>>(), Vec::<&str>::new(), "it fits a terminal");
}
