//! `cargo xtask wasm`: builds the npm package, packs it, installs the tarball into a scratch project, and runs the tests against it.

mod browser;
mod glue;
mod guard;
mod order;
mod packaging;
mod room;

use crate::debian;
use crate::interrupt;
use crate::project::{Project, cargo};
use crate::python;
use crate::test::parts::{Part, Step};
use crate::test::{run_parts, run_steps};
use anyhow::Result;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What to do, and what to give node's test runner.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write the glue for a built module into this folder: a step of the others
    #[arg(long, hide = true, value_names = ["MODULE", "FOLDER"], num_args = 2)]
    glue: Option<Vec<PathBuf>>,
    /// Print the size of this module, and fail if it is above the bar: a step of the others
    #[arg(long, hide = true, value_name = "MODULE")]
    size: Option<PathBuf>,
    /// Build without optimizing and without a standard library of its own: quicker, but a panic ends the instance
    #[arg(long)]
    quick: bool,
    /// Only build and pack
    #[arg(long)]
    pack: bool,
    /// Files for node's test runner; without any, all
    tests: Vec<String>,
}

/// What the part is called in `cargo xtask test`; `wasm` there checks that the core compiles.
pub(crate) const PART: Part = Part {
    name: "npm",
    about: "the npm package, packed and installed, and its tests",
    steps: |project| Place::of(project, false).steps(project, &[], false),
};

/// Where the package is.
const FOLDER: &str = "bindings/wasm";

const TARGET: &str = "wasm32-unknown-unknown";

/// Runs the part alone, or a piece of it.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if let Some(paths) = &args.glue {
        return glue::write(&paths[0], &paths[1]);
    }
    if let Some(module) = &args.size {
        return glue::weigh(module);
    }
    interrupt::listen()?;
    let project = Project::load()?;
    if !args.quick && !args.pack && args.tests.is_empty() {
        return Ok(run_parts(&[&PART], &project));
    }
    Ok(run_steps(Place::of(&project, args.quick).steps(&project, &args.tests, args.pack), &project))
}

/// The folders that the package is built and tried in.
struct Place {
    target: PathBuf,
    package: PathBuf,
    is_quick: bool,
}

impl Place {
    fn of(project: &Project, is_quick: bool) -> Self {
        Self { target: project.target_folder.clone(), package: project.root.join(FOLDER), is_quick }
    }

    /// `target/wasm`: the tarball, and the scratch project.
    fn folder(&self) -> PathBuf {
        self.target.join("wasm")
    }

    fn scratch(&self) -> PathBuf {
        self.folder().join("node")
    }

    fn steps(&self, project: &Project, tests: &[String], only_pack: bool) -> Vec<Step> {
        let mut all = made_possible();
        all.extend(self.pack());
        if !only_pack {
            all.extend(self.install());
            // What has the same files in other languages: this, and Python.
            let mut holder = cargo();
            holder.args(["build", "--package", "keyledger-cli"]);
            // What a commit is measured beside.
            let mut commits = cargo();
            commits.args(["build", "--release", "--package", "keyledger-benches", "--bin", "commits"]);
            all.extend([holder, commits].map(Step::new));
            let (python, missing) = python::with_package(project);
            all.extend(missing);
            all.extend(self.node_tests(&python, tests));
            if tests.is_empty() {
                all.extend(browser::steps(self));
                all.extend(packaging::steps(self));
            }
            if !self.is_quick {
                let mut weigh = cargo();
                weigh.args(["run", "--quiet", "--package", "xtask", "--", "wasm", "--size"]);
                weigh.arg(self.package.join("dist/native/keyledger_bg.wasm"));
                all.push(Step::new(weigh));
            }
        }
        all
    }

    /// From sources to the tarball.
    fn pack(&self) -> Vec<Step> {
        let _ = std::fs::create_dir_all(self.scratch());
        let native = self.package.join("dist/native");
        let _ = std::fs::remove_dir_all(self.package.join("dist"));
        let mut glue = cargo();
        glue.args(["run", "--quiet", "--package", "xtask", "--", "wasm", "--glue"]).arg(self.module()).arg(&native);
        let mut pack = self.npm(&["pack", "--silent", "--pack-destination"]);
        pack.command.arg(self.folder()).current_dir(&self.package);
        vec![
            self.rustup(),
            self.build(),
            Step::new(glue),
            self.npm(&["ci", "--no-audit", "--no-fund"]),
            self.npm(&["run", "build"]),
            pack,
        ]
    }

    fn rustup(&self) -> Step {
        let mut command = Command::new("rustup");
        command.args(if self.is_quick { ["target", "add", TARGET] } else { ["component", "add", "rust-src"] });
        Step::new(command)
    }

    /// With a standard library that unwinds: a panic is then an error of one call, and not the end of the instance.
    /// In a `drop` too: redb panics there when it meets damage, and 13 KB less are not worth an instance.
    fn build(&self) -> Step {
        let mut build = cargo();
        build.args(["build", "--package", "keyledger-wasm", "--target", TARGET]);
        build.env("CARGO_TARGET_DIR", &self.target);
        if !self.is_quick {
            build.args(["--profile", "wasm", "-Zbuild-std=std,panic_unwind", "-Zbuild-std-features=optimize_for_size"]);
            build.env("RUSTC_BOOTSTRAP", "1");
            build.env("RUSTFLAGS", "-Cpanic=unwind -Zlocation-detail=none -Zfmt-debug=none");
        }
        Step::new(build)
    }

    fn module(&self) -> PathBuf {
        let profile = if self.is_quick { "debug" } else { "wasm" };
        self.target.join(TARGET).join(profile).join("keyledger_wasm.wasm")
    }

    /// The tarball, as whoever installs it has it.
    fn install(&self) -> Vec<Step> {
        let scratch = self.scratch();
        let _ = std::fs::remove_dir_all(scratch.join("node_modules"));
        let _ =
            std::fs::write(scratch.join("package.json"), r#"{"name": "scratch", "private": true, "type": "module"}"#);
        let tarball = self.folder().join(tarball_name());
        let mut install = self.npm(&["install", "--no-save", "--no-audit", "--no-fund", "--offline"]);
        install.command.arg(tarball).current_dir(&scratch);
        vec![install]
    }

    /// Two files at a time, but one where time is measured.
    fn node_tests(&self, python: &Path, tests: &[String]) -> Vec<Step> {
        if !tests.is_empty() {
            return vec![self.node_test(python, 1, tests)];
        }
        let (measured, others): (Vec<_>, Vec<_>) =
            tests_in(&self.package.join("tests/node")).into_iter().partition(|path| measures_time(path));
        vec![self.node_test(python, 2, others), self.node_test(python, 1, measured)]
    }

    fn node_test(&self, python: &Path, at_a_time: u8, files: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Step {
        let mut node = Command::new("node");
        node.args(["--expose-gc", "--test", "--test-reporter=spec", &format!("--test-concurrency={at_a_time}")]);
        node.env("KEYLEDGER_SCRATCH", self.scratch());
        let program = |path: &str| self.target.join(format!("{path}{}", std::env::consts::EXE_SUFFIX));
        node.env("KEYLEDGER_PROGRAM", program("debug/keyledger"));
        node.env("KEYLEDGER_PYTHON", python);
        node.env("KEYLEDGER_COMMITS", program("release/commits"));
        node.args(files);
        Step::new(node)
    }

    fn npm(&self, words: &[&str]) -> Step {
        let mut npm = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
        npm.args(words).current_dir(&self.package);
        Step::new(npm)
    }
}

/// Whether this is the Node.js that the package asks for; it says so where it is not.
const IS_NODE_20: &str = "if (parseInt(process.versions.node) < 20) {
    console.error(`the npm package needs Node.js 20 or later, and this is ${process.version}: see https://nodejs.org/en/download`);
    process.exit(1);
}";

/// Node.js and npm. Debian's own may be too old: the first step fails then, and says what to do.
fn made_possible() -> Vec<Step> {
    let asked = || {
        let mut node = Command::new("node");
        node.args(["-e", IS_NODE_20]);
        node
    };
    let is_there = debian::quietly(&mut asked()) && debian::quietly(Command::new("npm").arg("--version"));
    if is_there {
        return Vec::new();
    }
    debian::install(false, &["nodejs", "npm"]).into_iter().chain([Step::new(asked())]).collect()
}

fn tarball_name() -> String {
    format!("keyledger-{}.tgz", env!("CARGO_PKG_VERSION"))
}

/// Whether a test file holds how long something takes against a limit, and so has the machine for itself.
fn measures_time(file: &Path) -> bool {
    ["commits.test.mjs", "handles.test.mjs", "thread.test.mjs"].iter().any(|name| file.ends_with(name))
}

/// The test files of a folder.
fn tests_in(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut tests: Vec<_> = files.map(|file| file.path()).collect();
    tests.retain(|path| path.to_string_lossy().ends_with(".test.mjs"));
    tests.sort();
    tests
}
