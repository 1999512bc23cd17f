//! What the project depends on: known licences, one registry, nothing banned. The rules are those of deny.toml.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The part of deny.toml that is held here.
struct Rules {
    licences: Vec<String>,
    banned: Vec<String>,
    /// Crates that may be there in more than one version.
    doubled: Vec<String>,
}

impl Rules {
    fn parse(text: &str) -> Self {
        let rules: toml::Table = text.parse().expect("deny.toml is TOML");
        let licences = rules["licenses"]["allow"].as_array().expect("allowed licences");
        let word = |value: &toml::Value| value.as_str().expect("a name").to_owned();
        let crates = |list: &str| {
            let entries = rules["bans"][list].as_array().expect("a list of crates");
            entries.iter().map(|entry| word(&entry["crate"])).collect()
        };
        Self { licences: licences.iter().map(word).collect(), banned: crates("deny"), doubled: crates("skip") }
    }
}

/// Everything that is wrong with one package from elsewhere.
fn offences(package: &Value, rules: &Rules) -> Vec<String> {
    let text = |member: &str| package[member].as_str();
    let name = format!("{} {}", text("name").unwrap_or_default(), text("version").unwrap_or_default());
    let Some(source) = text("source") else { return Vec::new() };
    let mut found = Vec::new();
    if source != REGISTRY {
        found.push(format!("{name}: comes from {source}"));
    }
    if !text("license").is_some_and(|licence| is_allowed(licence, rules)) {
        found.push(format!("{name}: licence {}", text("license").unwrap_or("unknown")));
    }
    if rules.banned.iter().any(|banned| text("name") == Some(banned)) {
        found.push(format!("{name}: is banned"));
    }
    found
}

fn is_allowed(expression: &str, rules: &Rules) -> bool {
    let parsed = spdx::Expression::parse_mode(expression, spdx::ParseMode::LAX);
    let listed = |id: &str| rules.licences.iter().any(|licence| licence == id);
    parsed.is_ok_and(|parsed| parsed.evaluate(|needed| needed.license.id().is_some_and(|id| listed(id.name))))
}

/// Crates that the library itself pulls in, however far down, in more than one version.
fn doubles(metadata: &Value, rules: &Rules) -> Vec<String> {
    let nodes = metadata["resolve"]["nodes"].as_array().expect("a resolved graph");
    let id = |node: &Value| node["id"].as_str().unwrap_or_default().to_owned();
    let graph: BTreeMap<String, &Value> = nodes.iter().map(|node| (id(node), node)).collect();
    let packages = metadata["packages"].as_array().expect("packages");
    let library = packages.iter().find(|package| package["name"] == "keyledger").expect("the library");
    let mut waiting = vec![id(library)];
    let mut versions: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    while let Some(next) = waiting.pop() {
        let package = packages.iter().find(|package| id(package) == next).expect("a package for each node");
        let name = package["name"].as_str().unwrap_or_default();
        if !is_macro(package) && versions.entry(name).or_default().insert(next.clone()) {
            waiting.extend(normal_dependencies(graph[&next]));
        }
    }
    let doubled = |name: &str| rules.doubled.iter().any(|doubled| doubled == name);
    let several = versions.into_iter().filter(|(name, ids)| ids.len() > 1 && !doubled(name));
    several.map(|(name, ids)| format!("{name}: {ids:?}")).collect()
}

/// A macro runs in the compiler, with all that it depends on.
fn is_macro(package: &Value) -> bool {
    let targets = package["targets"].as_array().into_iter().flatten();
    targets.filter_map(|target| target["kind"].as_array()).flatten().any(|kind| kind == "proc-macro")
}

/// The dependencies that are compiled into the program, not into its tests or its build.
fn normal_dependencies(node: &Value) -> Vec<String> {
    let is_normal = |dependency: &&Value| {
        let kinds = dependency["dep_kinds"].as_array();
        kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
    };
    let dependencies = node["deps"].as_array().into_iter().flatten().filter(is_normal);
    dependencies.filter_map(|dependency| dependency["pkg"].as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::{REGISTRY, Rules, Value, doubles, offences};
    use crate::{refuse, tree};
    use serde_json::json;
    use std::process::Command;

    fn metadata() -> Value {
        let cargo = std::env::var_os("CARGO").expect("cargo tells a test where it is");
        let mut command = Command::new(cargo);
        command.args(["metadata", "--format-version=1", "--locked"]).current_dir(tree::root());
        let output = command.output().expect("cargo describes the workspace");
        assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("cargo writes JSON")
    }

    fn rules() -> Rules {
        Rules::parse(&std::fs::read_to_string(tree::root().join("deny.toml")).expect("there is a deny.toml"))
    }

    #[test]
    fn every_dependency_has_a_known_licence_and_source_and_none_is_banned() {
        let (metadata, rules) = (metadata(), rules());
        let packages = metadata["packages"].as_array().expect("packages");
        refuse(&packages.iter().flat_map(|package| offences(package, &rules)).collect::<Vec<_>>());
    }

    #[test]
    fn the_library_pulls_in_one_version_of_each_crate() {
        refuse(&doubles(&metadata(), &rules()));
    }

    #[test]
    fn a_licence_a_source_and_a_name_can_each_be_refused() {
        let judge = |name: &str, licence: &str, source: &str| {
            let package = json!({ "name": name, "version": "1.0.0", "license": licence, "source": source });
            offences(&package, &rules())
        };
        assert!(judge("good", "MIT/Apache-2.0", REGISTRY).is_empty());
        assert!(judge("good", "(MIT OR GPL-3.0-only) AND Unicode-3.0", REGISTRY).is_empty());
        assert_eq!(judge("bad", "MIT AND GPL-3.0-only", REGISTRY), ["bad 1.0.0: licence MIT AND GPL-3.0-only"]);
        assert_eq!(
            judge("bad", "MIT", "git+https://example.com/x"),
            ["bad 1.0.0: comes from git+https://example.com/x"]
        );
        assert_eq!(judge("bincode", "MIT", REGISTRY), ["bincode 1.0.0: is banned"]);
        assert_eq!(offences(&json!({ "name": "odd", "version": "1.0.0", "source": REGISTRY }), &rules()).len(), 1);
    }

    #[test]
    fn two_versions_below_the_library_are_found() {
        let package = |name: &str, id: &str| json!({ "name": name, "id": id });
        let needs = |id: &str, kind: Option<&str>| json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] });
        let packages = [package("keyledger", "k"), package("a", "a1"), package("a", "a2"), package("b", "b1")];
        let graph = |kind| {
            let nodes = json!([
                { "id": "k", "deps": [needs("a1", None), needs("b1", None)] },
                { "id": "b1", "deps": [needs("a2", kind)] },
                { "id": "a1", "deps": [] },
                { "id": "a2", "deps": [] },
            ]);
            json!({ "packages": packages, "resolve": { "nodes": nodes } })
        };
        assert_eq!(doubles(&graph(None), &rules()), ["a: {\"a1\", \"a2\"}"]);
        assert!(doubles(&graph(Some("dev")), &rules()).is_empty());
    }
}
