//! The workspace as cargo describes it: where it is, and which targets it has.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// The workspace that this program was started in.
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) target_folder: PathBuf,
    packages: Vec<Value>,
}

impl Project {
    /// Asks cargo about the workspace around the current folder.
    pub(crate) fn load() -> Result<Self> {
        let output =
            cargo().args(["metadata", "--format-version=1", "--no-deps"]).output().context("cargo metadata")?;
        ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout)?;
        let folder = |name: &str| metadata[name].as_str().map(PathBuf::from).with_context(|| format!("no {name}"));
        Ok(Self {
            root: folder("workspace_root")?,
            target_folder: folder("target_directory")?,
            packages: metadata["packages"].as_array().cloned().unwrap_or_default(),
        })
    }

    /// The names of all targets of one kind (`test`, `example`, ...), in order and without repeats.
    pub(crate) fn targets(&self, kind: &str) -> Vec<String> {
        let targets = self.packages.iter().filter_map(|package| package["targets"].as_array()).flatten();
        let mut names: Vec<String> = targets
            .filter(|target| target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|k| k == kind)))
            .filter_map(|target| target["name"].as_str().map(str::to_owned))
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

/// The cargo that runs this program, so that one toolchain does everything.
pub(crate) fn cargo() -> Command {
    Command::new(cargo_path())
}

/// The path or name of that cargo.
pub(crate) fn cargo_path() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}
