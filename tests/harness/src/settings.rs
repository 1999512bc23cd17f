//! What a run of the suites can be told by the environment: `cargo xtask soak` tells it, and so may whoever repeats a failure.

use std::fmt::Debug;
use std::str::FromStr;

/// The seed of everything that is random, `KEYLEDGER_SEED`. Without it every run is the same.
pub fn seed() -> u64 {
    number("KEYLEDGER_SEED").unwrap_or(1)
}

/// Whether somebody drew the seed. What a run then comes across is chance: only the one without it has to come across everything.
pub fn is_drawn() -> bool {
    number::<u64>("KEYLEDGER_SEED").is_some()
}

/// The number that a variable holds, if there is such a variable.
///
/// # Panics
/// If it holds no such number: a run that does not do what it was told shows nothing.
pub fn number<N: FromStr<Err: Debug>>(variable: &str) -> Option<N> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|error| panic!("{variable}={text}: {error:?}")))
}
