//! Building the programs of the payments example.

use crate::project::cargo;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Stdio;

/// Where the built programs are.
#[derive(Debug)]
pub(crate) struct Programs {
    pub(crate) server: PathBuf,
    pub(crate) bank: PathBuf,
    pub(crate) operator: PathBuf,
    pub(crate) client: PathBuf,
}

impl Programs {
    /// Builds them; cargo shows its progress on standard error.
    pub(crate) fn build() -> Result<Self> {
        let build = ["build", "--package", "keyledger-examples", "--bins"];
        let mut command = cargo();
        command.args(build).arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
        let output = command.output().context("cargo cannot be run")?;
        ensure!(output.status.success(), "the programs of the demo do not build");
        let messages = String::from_utf8(output.stdout)?;
        let find = |name| program(&messages, name).with_context(|| format!("cargo has built no {name}"));
        Ok(Self {
            server: find("payments-server")?,
            bank: find("payments-bank")?,
            operator: find("payments-operator")?,
            client: find("payments-client")?,
        })
    }
}

/// The program of that name, as told by cargo's messages, one JSON object to a line.
fn program(messages: &str, name: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut programs = messages.filter(|message| message["target"]["name"] == name);
    programs.find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn a_program_is_found_by_its_target_name() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"payments-bank"},"executable":null}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"name":"payments-bank"},"executable":"debug/payments-bank"}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(program(messages, "payments-bank"), Some("debug/payments-bank".into()));
        assert_eq!(program(messages, "payments-server"), None);
    }
}
