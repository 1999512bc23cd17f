//! The package in the hands of the tools that it is used with: bundlers, runtimes, and two that look at its types.

use super::{Place, tarball_name};
use crate::test::parts::Step;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What says which tools, of which versions, from where.
const MANIFEST: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];

/// Installs the tools, has two of them look at the tarball, and runs a scratch project of each of the others.
pub(super) fn steps(place: &Place) -> Vec<Step> {
    let sources = place.package.join("tests/packaging");
    let folder = place.folder().join("packaging");
    let tarball = place.folder().join(tarball_name());
    let is_installed = has_manifest(&sources, &folder) && folder.join("node_modules/.package-lock.json").exists();
    let _ = std::fs::create_dir_all(&folder);
    for name in MANIFEST {
        let _ = std::fs::copy(sources.join(name), folder.join(name));
    }
    // `ci` refuses the lock for an optional package, of Windows, that npm itself leaves out of it.
    let mut install = place.npm(&["install", "--no-save", "--no-audit", "--no-fund", "--silent"]);
    install.command.current_dir(&folder);
    let tool = |name: &str| Command::new(folder.join("node_modules/.bin").join(name));
    let mut publint = tool("publint");
    publint.arg("--strict").arg(&tarball);
    let mut types = tool("attw");
    // The module itself has no types; and what is for browsers and Workers alone has no form for `require`.
    types.args(["--profile", "node16", "--exclude-entrypoints", "wasm", "--ignore-rules", "cjs-resolves-to-esm"]);
    types.arg("--").arg(&tarball);
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=spec"]).args(super::tests_in(&sources));
    node.env("KEYLEDGER_PACKAGING", &folder).env("KEYLEDGER_TARBALL", &tarball);
    let install = (!is_installed).then_some(install);
    install.into_iter().chain([publint, types, node, runtimes(place, &folder)].map(Step::new)).collect()
}

/// Every scenario in Deno, in Bun, and in workerd on the storage of an object, which is killed there.
fn runtimes(place: &Place, tools: &Path) -> Command {
    let tests = ["tests/runtimes", "tests/workerd"].map(|folder| super::tests_in(&place.package.join(folder)));
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=spec"]).args(tests.concat());
    node.env("KEYLEDGER_PACKAGING", tools).env("KEYLEDGER_SCRATCH", place.scratch());
    node
}

/// Whether the tools that are there are those that are asked for: half a gigabyte is not fetched twice.
fn has_manifest(sources: &PathBuf, folder: &PathBuf) -> bool {
    let read = |folder: &PathBuf| MANIFEST.map(|name| std::fs::read(folder.join(name)).ok());
    read(sources) == read(folder)
}
