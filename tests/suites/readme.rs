//! README.md says what is so: its links lead somewhere, each cell of its table has its test, its commands are there.
//!
//! Its code blocks are run as doc tests: see `lib.rs` beside this file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo tells a test where its package is");
    Path::new(&manifest).parent().expect("the package is in a folder of the project").to_owned()
}

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).expect("there is a README.md")
}

/// A link that names a test: `[cell]: file#L12 "name of the test"`.
struct Cited<'a> {
    cell: &'a str,
    path: &'a str,
    line: usize,
    name: &'a str,
}

fn citations(readme: &str) -> Vec<Cited<'_>> {
    let parse = |line| -> Option<Cited<'_>> {
        let (cell, rest) = str::strip_prefix(line, "[")?.split_once("]: ")?;
        let (target, name) = rest.strip_suffix('"')?.split_once(" \"")?;
        let (path, line) = target.split_once("#L")?;
        Some(Cited { cell, path, line: line.parse().ok()?, name })
    };
    readme.lines().filter_map(parse).collect()
}

/// What is wrong with a citation, given the text of the file that it names.
fn offence(cited: &Cited<'_>, text: &str) -> Option<String> {
    let says = |line: &str| line.trim() == format!("fn {}() {{", cited.name);
    let at = text.lines().position(says).map(|index| index + 1);
    let is_test = |line: usize| line >= 2 && text.lines().nth(line - 2).is_some_and(|above| above.trim() == "#[test]");
    match at {
        None => Some(format!("{}: {} has no test {}", cited.cell, cited.path, cited.name)),
        Some(line) if !is_test(line) => Some(format!("{}: {} is no test", cited.cell, cited.name)),
        Some(line) if line != cited.line => Some(format!("{}: {} is on line {line} now", cited.cell, cited.name)),
        Some(_) => None,
    }
}

#[test]
fn every_cell_of_the_table_leads_to_its_test() {
    let readme = readme();
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap_or_default();
    let offences: Vec<String> =
        citations(&readme).iter().filter_map(|cited| offence(cited, &read(cited.path))).collect();
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn the_table_has_no_cell_without_a_test_and_no_test_without_a_cell() {
    let readme = readme();
    let rows = readme.lines().skip_while(|line| !line.starts_with("| who died |")).skip(2);
    let cells = rows.take_while(|line| line.starts_with('|')).flat_map(|row| row.split(" | ").skip(1));
    let used: Vec<&str> = cells
        .filter_map(|cell| cell.trim_end_matches(['|', ' ']).rsplit_once("]["))
        .map(|(_, name)| name.trim_end_matches(']'))
        .collect();
    let defined: BTreeSet<&str> = citations(&readme).iter().map(|cited| cited.cell).collect();
    assert_eq!(used.len(), 15, "five rows for three effects, each cell with a link: {used:?}");
    assert_eq!(used.into_iter().collect::<BTreeSet<_>>(), defined);
}

#[test]
fn a_citation_that_is_wrong_is_found() {
    let text = "#[test]\nfn it_holds() {\n}\nfn helper() {\n}\n";
    let cited = |line, name| Cited { cell: "x", path: "y", line, name };
    assert_eq!(offence(&cited(2, "it_holds"), text), None);
    assert!(offence(&cited(3, "it_holds"), text).is_some());
    assert!(offence(&cited(4, "helper"), text).is_some());
    assert!(offence(&cited(2, "it_held"), text).is_some());
}

#[test]
fn every_relative_link_leads_to_a_file() {
    let readme = readme();
    let targets = readme.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let broken: Vec<&str> = targets.filter(|target| !target.contains(':') && !root().join(target).exists()).collect();
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn every_command_is_a_task_of_xtask() {
    let readme = readme();
    let tasks = std::fs::read_to_string(root().join("xtask/src/main.rs")).expect("xtask has a main file");
    let named: BTreeSet<&str> =
        readme.split("cargo xtask ").skip(1).filter_map(|rest| rest.split([' ', '`', '\n']).next()).collect();
    assert_eq!(named, BTreeSet::from(["bench", "demo", "python", "soak", "test", "wasm"]));
    assert!(named.iter().all(|task| tasks.contains(&format!("{task}::run("))), "{named:?}");
}
