//! What a test needs of the system that it runs on. Where that is missing nothing was shown: with `CI=true` the test fails, and a person at
//! a desk is told what was not tried.

#![forbid(unsafe_code)]

use std::io::Write;
use std::process::Command;

/// What was found; `None`: it is missing, and no test shows anything that needs it.
///
/// # Panics
/// If it is missing and `CI` is set. `advice` names the command that mends that.
pub fn needed<T>(found: Option<T>, what: &str, advice: &str) -> Option<T> {
    if found.is_none() {
        let current = std::thread::current();
        let told = missing(current.name().unwrap_or("a test"), what, advice);
        assert!(!is_ci(), "{told}");
        // Not by `eprintln`, which is shown for a test that fails alone.
        let _ = writeln!(std::io::stderr(), "{told}");
    }
    found
}

/// The program of that name, to be run; the Debian package that has it is `package`.
///
/// # Panics
/// Those of [`needed`].
pub fn program(name: &str, package: &str) -> Option<Command> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).any(|folder| folder.join(name).is_file());
    let what = format!("the program {name}");
    needed(found.then(|| Command::new(name)), &what, &format!("apt-get install {package}"))
}

fn missing(test: &str, what: &str, advice: &str) -> String {
    format!("NOT TRIED: {test}: {what} is missing. To have it: {advice}")
}

fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !["", "0", "false"].contains(&value.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_given_and_what_is_missing_is_told_with_its_command() {
        assert_eq!(needed(Some(7), "seven", "count"), Some(7));
        assert!(program("cargo", "cargo").is_some());
        let told = missing("a_test", "the program no-such", "apt-get install no-such");
        assert_eq!(told, "NOT TRIED: a_test: the program no-such is missing. To have it: apt-get install no-such");
    }

    #[test]
    fn in_ci_what_is_missing_fails_the_test() {
        let tried = std::panic::catch_unwind(|| program("no-such-program", "no-such-package"));
        match tried {
            Ok(found) => assert!(found.is_none() && !is_ci()),
            Err(told) => {
                assert!(is_ci());
                let told = told.downcast_ref::<String>().expect("words");
                assert!(told.contains("apt-get install no-such-package"), "{told}");
            }
        }
    }
}
