//! `cargo xtask`: the commands of the project.

mod bench;
mod debian;
mod demo;
mod fuzz;
mod interrupt;
mod mutants;
mod plot;
mod project;
mod python;
mod soak;
mod test;
mod wasm;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// What one can ask the project to do.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Measure, beside other engines
    Bench(bench::Args),
    /// Run a bank, a payment server and sixteen clients, kill the server five times, and compare what everybody saw
    Demo(demo::Args),
    /// Give the decoders, and the ledger beside its model, whatever bytes reach most of their code
    Fuzz(fuzz::Args),
    /// Break the code in ways that have names, one at a time, in a copy; the tests have to catch each
    Mutants(mutants::Args),
    /// Draw the pictures of the documentation anew
    Plot,
    /// Build the Python wheel, install it into an environment of its own, and run its tests
    Python(python::Args),
    /// Try to break a ledger, round after round with a fresh seed, for as long as you like
    Soak(soak::Args),
    /// Run every test, or the parts that are named; this is what CI runs
    Test(test::Args),
    /// Build the npm package, install its tarball into a scratch project, and run its tests
    Wasm(wasm::Args),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().task {
        Task::Bench(args) => bench::run(&args),
        Task::Demo(args) => demo::run(&args),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::Mutants(args) => mutants::run(&args),
        Task::Plot => plot::run(),
        Task::Python(args) => python::run(&args),
        Task::Soak(args) => soak::run(&args),
        Task::Test(args) => test::run(&args),
        Task::Wasm(args) => wasm::run(&args),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
