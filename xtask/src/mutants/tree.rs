//! A copy of the project that may be broken.

use super::list::Mutant;
use crate::project::Project;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The copy.
pub(crate) struct Tree {
    folder: PathBuf,
    target: PathBuf,
}

/// A file of the copy that is broken, and what it holds otherwise.
pub(crate) struct Broken {
    path: PathBuf,
    text: String,
}

/// Numbers that make the suites short, and what makes their output so.
const SETTINGS: [(&str, &str); 7] = [
    ("KEYLEDGER_OUTBOX_STORIES", "1500"),
    ("KEYLEDGER_STORIES", "400"),
    ("KEYLEDGER_SHRINKS", "0"),
    ("KEYLEDGER_SCHEDULES", "2000"),
    ("KEYLEDGER_FAULTS", "100"),
    ("KEYLEDGER_HISTORIES", "400"),
    ("RUST_BACKTRACE", "0"),
];

impl Tree {
    /// Copies every file that git knows, as it is now.
    pub(crate) fn copy(project: &Project) -> Result<Self> {
        let [folder, target] = ["tree", "target"].map(|name| project.target_folder.join("mutants").join(name));
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let output = Command::new("git").args(["ls-files", "-z"]).current_dir(&project.root).output()?;
        ensure!(output.status.success(), "git does not list the files");
        for name in String::from_utf8(output.stdout)?.split_terminator('\0') {
            let (from, to) = (project.root.join(name), folder.join(name));
            fs::create_dir_all(to.parent().context("a file is in a folder")?)?;
            fs::copy(&from, &to).with_context(|| format!("cannot copy {name}"))?;
        }
        Ok(Self { folder, target })
    }

    /// Breaks the copy; nothing if the text that is to be replaced is not there exactly once.
    pub(crate) fn break_code(&self, mutant: &Mutant) -> Result<Option<Broken>> {
        let path = self.folder.join(mutant.file);
        let text = fs::read_to_string(&path).with_context(|| format!("there is no {}", mutant.file))?;
        if text.matches(mutant.from).count() != 1 {
            return Ok(None);
        }
        fs::write(&path, text.replacen(mutant.from, mutant.to, 1))?;
        Ok(Some(Broken { path, text }))
    }

    /// The command in the copy. It compiles to a folder of its own: cargo takes the copy and the original for the same.
    pub(crate) fn command(&self, mut command: Command) -> Command {
        command.current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target).envs(SETTINGS);
        command
    }
}

impl Broken {
    /// Puts it right again.
    pub(crate) fn mend(self) -> Result<()> {
        Ok(fs::write(self.path, self.text)?)
    }
}
