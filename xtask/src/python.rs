//! `cargo xtask python`: builds the wheel, makes a virtual environment, installs the wheel there, and runs the tests against it.

use crate::debian;
use crate::interrupt;
use crate::project::Project;
use crate::test::parts::{Part, Step};
use crate::test::{run_parts, run_steps};
use anyhow::Result;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// What to give pytest.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to give pytest: files, `-k` and a name, `-x`; with any of it only pytest runs, after the wheel is installed
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pytest: Vec<String>,
}

/// What the part is called, here and in `cargo xtask test`.
pub(crate) const PART: Part =
    Part { name: "python", about: "the wheel, installed, and every test of the Python package", steps };

/// Where the package is.
const FOLDER: &str = "bindings/python";

/// Runs the part alone.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    interrupt::listen()?;
    let project = Project::load()?;
    if args.pytest.is_empty() {
        return Ok(run_parts(&[&PART], &project));
    }
    let place = Place::of(&project);
    Ok(run_steps(place.install().into_iter().chain([place.pytest(&args.pytest)]), &project))
}

fn steps(project: &Project) -> Vec<Step> {
    let place = Place::of(project);
    let (package, uses) = (format!("{FOLDER}/python/keyledger"), format!("{FOLDER}/tests/typed"));
    let settings = format!("{FOLDER}/pyproject.toml");
    let interpreter = place.interpreter().display().to_string();
    let checks = [
        place.python(&["-m", "ruff", "check", "--config", &settings, FOLDER, "examples/python"]),
        place.python(&["-m", "ruff", "format", "--check", "--config", &settings, FOLDER, "examples/python"]),
        place.python(&["-m", "mypy", "--config-file", &settings, "-p", "keyledger"]),
        place.python(&["-m", "mypy", "--config-file", &settings, &uses]),
        place.python(&["-m", "pyright", "--project", FOLDER, "--pythonpath", &interpreter, &package, &uses]),
        place.python(&["-m", "mypy.stubtest", "keyledger._native", "--ignore-disjoint-bases"]),
    ];
    place.install().into_iter().chain(checks).chain([place.pytest(&[])]).collect()
}

/// An interpreter that has the package, and what is left to do for it.
pub(crate) fn with_package(project: &Project) -> (PathBuf, Vec<Step>) {
    let place = Place::of(project);
    let has_it = debian::quietly(Command::new(place.interpreter()).args(["-c", "import keyledger"]));
    (place.interpreter(), if has_it { Vec::new() } else { place.install() })
}

/// The folders that the wheel and the virtual environment live in.
struct Place {
    /// `target/python`.
    folder: PathBuf,
    target: PathBuf,
}

impl Place {
    fn of(project: &Project) -> Self {
        Self { folder: project.target_folder.join("python"), target: project.target_folder.clone() }
    }

    fn environment(&self) -> PathBuf {
        self.folder.join("environment")
    }

    fn wheels(&self) -> PathBuf {
        self.folder.join("wheels")
    }

    /// The virtual environment's interpreter.
    fn interpreter(&self) -> PathBuf {
        let within = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
        self.environment().join(within)
    }

    /// What has to be there before anything can be tested.
    fn install(&self) -> Vec<Step> {
        let mut all = made_possible();
        if !self.interpreter().exists() {
            let mut make = Command::new(system_python());
            make.args(["-m", "venv", "--clear"]).arg(self.environment());
            all.push(Step::new(make));
        }
        // The wheels of another commit are none of this one's.
        let _ = std::fs::remove_dir_all(self.wheels());
        let wheels = self.wheels().display().to_string();
        let requirements = format!("{FOLDER}/tests/requirements.txt");
        all.push(self.pip(&["--requirement", &requirements]));
        let mut build = self.python(&["-m", "maturin", "build", "--release", "--manifest-path"]);
        build.command.arg(format!("{FOLDER}/Cargo.toml")).args(["--out", &wheels]);
        build.command.env("CARGO_TARGET_DIR", &self.target);
        all.push(build);
        all.push(self.pip(&["--no-index", "--no-deps", "--force-reinstall", "--find-links", &wheels, "keyledger"]));
        all
    }

    fn pip(&self, words: &[&str]) -> Step {
        let mut step = self.python(&["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        step.command.args(words);
        step
    }

    fn pytest(&self, words: &[String]) -> Step {
        let mut step = self.python(&["-m", "pytest", "--rootdir", FOLDER, "--config-file"]);
        step.command.arg(format!("{FOLDER}/pyproject.toml")).args(words).env("KEYLEDGER_WHEEL", self.wheels());
        if words.is_empty() {
            // Most of them wait: for the disk, for each other, for time to pass. Those that measure it are alone (tests/conftest.py).
            step.command.args(["-n", "2", "--dist", "worksteal"]);
            step.command.args(["--durations=15", "-q", &format!("{FOLDER}/tests")]);
        }
        step
    }

    fn python(&self, words: &[&str]) -> Step {
        let mut command = Command::new(self.interpreter());
        command.args(words).env("PYTHONDONTWRITEBYTECODE", "1");
        Step::new(command)
    }
}

fn system_python() -> &'static str {
    if cfg!(windows) { "python" } else { "python3" }
}

/// Debian has Python in pieces. Where they are missing and cannot be installed, the first step fails with Python's own words on it.
fn made_possible() -> Vec<Step> {
    let can_make = debian::quietly(Command::new(system_python()).args(["-c", "import ensurepip, venv"]));
    debian::install(can_make, &["python3", "python3-venv"])
}
