//! The parts of `cargo xtask test`, in the order in which they run: what is quick to fail comes first.

use crate::project::{Project, cargo, cargo_path};
use crate::{python, wasm as npm};
use std::path::Path;
use std::process::Command;

/// One part: what is said of it, and the commands that it is made of.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) steps: fn(&Project) -> Vec<Step>,
}

/// One command, and how it has to end.
pub(crate) struct Step {
    pub(crate) command: Command,
    pub(crate) expect: Expect,
}

impl Step {
    /// A command that has to end with success.
    pub(crate) fn new(command: Command) -> Self {
        Self { command, expect: Expect::Success }
    }
}

/// How a command has to end.
#[derive(Clone, Copy)]
pub(crate) enum Expect {
    /// With success.
    Success,
    /// With an error, and with this member of the JSON object on its last line above zero: it was broken on purpose.
    Caught(&'static str),
}

/// Suites that are a part of their own, and so no part of `tests`.
const SUITES_APART: [&str; 3] = ["tidy", "readme", "conformance"];

/// For the C library's allocator: the fake disk's images are megabytes, and a third of the time of the crash suite goes by when each of
/// them is asked of the system and given back.
pub(crate) const LARGE_IMAGES: [(&str, &str); 3] = [
    ("MALLOC_MMAP_THRESHOLD_", "4294967296"),
    ("MALLOC_TRIM_THRESHOLD_", "4294967296"),
    ("MALLOC_TOP_PAD_", "67108864"),
];

const WASM: &str = "wasm32-unknown-unknown";

pub(crate) const ALL: &[Part] = &[
    Part { name: "format", about: "rustfmt has nothing to say", steps: format },
    Part { name: "lint", about: "clippy has nothing to say", steps: lint },
    Part { name: "tidy", about: "the rules of the house, held by tests", steps: |_| suite("tidy") },
    Part { name: "tests", about: "unit tests and integration tests", steps: tests },
    Part { name: "conformance", about: "the scenarios that every language runs", steps: |_| suite("conformance") },
    Part { name: "vectors", about: "the vectors are what their script writes", steps: vectors },
    Part { name: "readme", about: "the code blocks of README.md", steps: |_| suite("readme") },
    Part { name: "docs", about: "doc tests, and documentation without warnings", steps: docs },
    Part { name: "wasm", about: "clippy has nothing to say of what compiles for WebAssembly", steps: wasm },
    Part { name: "examples", about: "every example runs to its end", steps: examples },
    python::PART,
    npm::PART,
    Part { name: "demo", about: "nothing is charged twice, nothing is lost", steps: demo },
    Part {
        name: "demo-broken",
        about: "the demo catches a server that does not claim, and clients that keep no key",
        steps: demo_broken,
    },
    Part { name: "schedules", about: "the commit queue under a scheduler of its own", steps: schedules },
    Part { name: "soak", about: "one short round of the soak", steps: soak },
    Part { name: "fuzz", about: "the decoders, and commands beside the model, under libFuzzer", steps: fuzz },
    Part { name: "bench", about: "the comparison with SQLite runs, in a short form", steps: bench },
];

fn step(words: &[&str]) -> Step {
    let mut command = cargo();
    command.args(words);
    Step::new(command)
}

fn xtask(words: &[&str], expect: Expect) -> Step {
    let mut step = step(&["run", "--quiet", "--package", "xtask", "--"]);
    step.command.args(words);
    Step { expect, ..step }
}

fn format(_: &Project) -> Vec<Step> {
    vec![step(&["fmt", "--all", "--check"])]
}

fn lint(_: &Project) -> Vec<Step> {
    vec![step(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])]
}

/// `--workspace` even for one suite: another choice of packages is another choice of features, and builds all of it anew.
fn suite(name: &str) -> Vec<Step> {
    vec![step(&["test", "--workspace", "--test", name])]
}

fn tests(project: &Project) -> Vec<Step> {
    let mut all = step(&["test", "--workspace", "--no-fail-fast", "--lib", "--bins"]);
    for name in project.targets("test").iter().filter(|name| !SUITES_APART.contains(&name.as_str())) {
        all.command.args(["--test", name]);
    }
    // Whoever changes what the command line prints looks at it, and stores it: cargo test does not.
    all.command.envs(LARGE_IMAGES).env("INSTA_UPDATE", "no");
    vec![all]
}

/// The script shares nothing with the Rust code, and so needs another language.
fn vectors(project: &Project) -> Vec<Step> {
    let mut check = Command::new(if cfg!(windows) { "python" } else { "python3" });
    check.arg(project.root.join("bindings/conformance/vectors.py")).arg("--check");
    vec![Step::new(check)]
}

fn docs(_: &Project) -> Vec<Step> {
    let mut doc = step(&["doc", "--workspace", "--no-deps"]);
    doc.command.env("RUSTDOCFLAGS", "-D warnings");
    vec![step(&["test", "--workspace", "--doc"]), doc]
}

fn wasm(_: &Project) -> Vec<Step> {
    let mut add = Command::new("rustup");
    add.args(["target", "add", WASM]);
    let add = (!has_wasm()).then_some(Step::new(add));
    let mut clippy = step(&["clippy", "--target", WASM]);
    for package in ["keyledger", "keyledger-http", "keyledger-wasm"] {
        clippy.command.args(["--package", package]);
    }
    clippy.command.args(["--", "-D", "warnings"]);
    add.into_iter().chain([clippy]).collect()
}

/// Looks for the target's libraries themselves: not every toolchain came through rustup.
fn has_wasm() -> bool {
    let rustc = cargo_path().with_file_name(format!("rustc{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", WASM]).output();
    output.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

fn examples(project: &Project) -> Vec<Step> {
    let run = |name: String| {
        let program = project.target_folder.join("debug/examples").join(name + std::env::consts::EXE_SUFFIX);
        Step::new(Command::new(program))
    };
    let build = step(&["build", "--workspace", "--examples"]);
    std::iter::once(build).chain(project.targets("example").into_iter().map(run)).collect()
}

fn demo(_: &Project) -> Vec<Step> {
    vec![xtask(&["demo", "--json"], Expect::Success)]
}

fn demo_broken(_: &Project) -> Vec<Step> {
    let caught = |what| xtask(&["demo", "--break", what, "--json"], Expect::Caught("charged_twice"));
    vec![caught("claims"), caught("keys")]
}

fn schedules(_: &Project) -> Vec<Step> {
    vec![step(&["test", "--package", "keyledger", "--features", "schedules", "--lib", "schedules"])]
}

fn soak(_: &Project) -> Vec<Step> {
    vec![xtask(&["soak", "--short"], Expect::Success)]
}

/// A minute for each target, or as long as the environment says.
fn fuzz(_: &Project) -> Vec<Step> {
    let seconds = std::env::var("KEYLEDGER_FUZZ_SECONDS").unwrap_or_else(|_| "60".to_owned());
    let mut format = step(&["fmt", "--check", "--manifest-path"]);
    format.command.arg(Path::new("fuzz").join("Cargo.toml"));
    vec![format, xtask(&["fuzz", "--seconds", &seconds], Expect::Success)]
}

fn bench(_: &Project) -> Vec<Step> {
    vec![xtask(&["bench", "smoke", "--short"], Expect::Success)]
}
