//! `cargo xtask fuzz`: libFuzzer on the targets of fuzz/, with the stable compiler and without cargo-fuzz.

use crate::interrupt;
use crate::project::{Project, cargo, cargo_path};
use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader, Read};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// What to fuzz, and how long.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The targets, by the names of their folders in fuzz/corpus; all of them when none is named
    targets: Vec<String>,
    /// How long each
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Give one target this file alone, which repeats what was found
    #[arg(long)]
    input: Option<PathBuf>,
    /// Leave what was found to be new in fuzz/corpus
    #[arg(long)]
    keep: bool,
}

/// What libFuzzer needs of the compiler: counters of edges, and what was compared with what.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Fuzzes as many targets at a time as there are processors; the exit code is zero only if nothing was found.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    interrupt::listen()?;
    let project = Project::load()?;
    let workplace = Workplace::of(&project)?;
    workplace.build()?;
    let known = workplace.targets()?;
    let unknown = args.targets.iter().find(|target| !known.contains(target));
    ensure!(unknown.is_none(), "there is no target {}: {known:?}", unknown.map_or("", String::as_str));
    let mut found = Vec::new();
    let meant = |target: &&String| args.targets.is_empty() || args.targets.contains(target);
    let chosen: Vec<&String> = known.iter().filter(meant).collect();
    let at_a_time = std::thread::available_parallelism().map_or(1, NonZero::get);
    for together in chosen.chunks(at_a_time) {
        if interrupt::happened() {
            break;
        }
        let mut running = Vec::new();
        for target in together {
            println!("=== {target}");
            let mut command = workplace.command(target, args)?;
            command.stderr(Stdio::piped());
            let mut child = interrupt::start(&mut command).with_context(|| format!("cannot start {target}"))?;
            let (said, name) = (child.stderr.take().context("it has no output")?, (*target).clone());
            running.push((target, child, std::thread::spawn(move || tell(&name, said))));
        }
        for (target, mut child, telling) in running {
            let _ = telling.join();
            let status = child.wait()?;
            interrupt::ended(&child);
            if !status.success() && !interrupt::happened() {
                found.push(target.as_str());
            }
        }
    }
    for target in &found {
        println!("FAILED: {target}: `cargo xtask fuzz {target} --input FILE` repeats it; the file is named above");
    }
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints what libFuzzer says of a target, as it comes: not the dictionary that it recommends at the end, which is hundreds of lines.
fn tell(target: &str, said: impl Read) {
    let mut is_dictionary = false;
    for line in BufReader::new(said).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        is_dictionary |= line.starts_with("###### Recommended");
        if !is_dictionary {
            println!("{target}: {line}");
        }
        is_dictionary &= !line.starts_with("###### End");
    }
}

/// Where the targets are, and where what comes of them goes.
struct Workplace {
    folder: PathBuf,
    build: PathBuf,
    host: String,
}

impl Workplace {
    fn of(project: &Project) -> Result<Self> {
        let rustc = cargo_path().with_file_name(format!("rustc{}", std::env::consts::EXE_SUFFIX));
        let version = Command::new(rustc).arg("-vV").output().context("rustc does not tell its version")?;
        let version = String::from_utf8(version.stdout)?;
        let host =
            version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc does not tell its host")?;
        let (folder, build) = (project.root.join("fuzz"), project.target_folder.join("fuzz"));
        Ok(Self { folder, build, host: host.to_owned() })
    }

    /// With a target named, so that the compiler's own helpers are compiled without counters.
    fn build(&self) -> Result<()> {
        let mut command = cargo();
        command.args(["build", "--release", "--bins", "--locked", "--target", &self.host, "--target-dir"]);
        command.arg(&self.build).current_dir(&self.folder).env("RUSTFLAGS", COVERAGE);
        ensure!(command.status().context("cannot start cargo")?.success(), "the targets do not compile");
        Ok(())
    }

    fn targets(&self) -> Result<Vec<String>> {
        let entries = std::fs::read_dir(self.folder.join("corpus")).context("there is no corpus")?;
        let names: std::io::Result<Vec<String>> =
            entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect();
        let mut names = names?;
        names.sort();
        Ok(names)
    }

    fn command(&self, target: &str, args: &Args) -> Result<Command> {
        let mut command = Command::new(self.build.join(&self.host).join("release").join(target));
        command.current_dir(&self.folder).env("RUST_BACKTRACE", "0");
        if let Some(input) = &args.input {
            command.arg(std::path::absolute(input)?);
            return Ok(command);
        }
        let (seeds, fresh) = (self.folder.join("corpus").join(target), self.build.join("corpus").join(target));
        let findings = self.build.join("findings");
        for folder in [&fresh, &findings] {
            std::fs::create_dir_all(folder)?;
        }
        command.arg(format!("-max_total_time={}", args.seconds));
        command.args([
            "-max_len=4096",
            "-len_control=0",
            "-timeout=20",
            "-print_final_stats=1",
            "-print_funcs=0",
            "-verbosity=0",
        ]);
        command.arg(format!("-artifact_prefix={}{}", findings.display(), std::path::MAIN_SEPARATOR));
        let first: &Path = if args.keep { &seeds } else { &fresh };
        command.arg(first).args((!args.keep).then_some(seeds));
        Ok(command)
    }
}
