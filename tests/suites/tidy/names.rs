//! Names that only the file made for them may say.

use super::source::{Token, starts, tokens};
use super::tree::File;

/// A name, and the beginnings of the paths of the files that may say it.
struct Reserved {
    name: &'static str,
    /// Whether only the beginning of a path counts: the module `store::redb` is not the crate `redb`.
    crate_only: bool,
    files: &'static [&'static str],
}

const RESERVED: &[Reserved] = &[
    Reserved { name: "redb", crate_only: true, files: &["core/src/store/redb"] },
    Reserved { name: "SystemTime", crate_only: false, files: &["core/src/clock"] },
    Reserved { name: "Instant", crate_only: false, files: &["core/src/clock"] },
    Reserved { name: "getrandom", crate_only: true, files: &["core/src/entropy"] },
    Reserved { name: "unsafe", crate_only: false, files: &[] },
];

/// Every place of the library that says a name which is not for it.
fn offences(files: &[File]) -> Vec<String> {
    let in_file = |file: &File| {
        let tokens = tokens(file);
        let forbidden = RESERVED.iter().filter(|name| !name.files.iter().any(|start| file.path.starts_with(start)));
        let lines = forbidden.flat_map(|reserved| lines(&tokens, reserved));
        lines.map(|(name, line)| format!("{}:{line}: {name} is not for this file", file.path)).collect::<Vec<_>>()
    };
    files.iter().flat_map(in_file).collect()
}

fn lines(tokens: &[Token], reserved: &Reserved) -> Vec<(&'static str, usize)> {
    let says = |at: &usize| tokens[*at].text == reserved.name && (!reserved.crate_only || names_crate(tokens, *at));
    (0..tokens.len()).filter(says).map(|at| (reserved.name, tokens[at].line)).collect()
}

fn names_crate(tokens: &[Token], at: usize) -> bool {
    let within_path = at >= 2 && starts(tokens, at - 2, &[":", ":"]) && at >= 3 && is_word(&tokens[at - 3].text);
    let imported = at >= 1 && tokens[at - 1].text == "use";
    !within_path && (imported || starts(tokens, at + 1, &[":", ":"]))
}

fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_') && text != "use"
}

#[cfg(test)]
mod tests {
    use super::{File, offences};
    use crate::{refuse, tree};

    fn sample(path: &str, text: &str) -> Vec<String> {
        offences(&[File { path: path.to_owned(), text: text.to_owned() }])
    }

    #[test]
    fn only_the_file_made_for_it_names_engine_time_and_dice() {
        refuse(&offences(&tree::library_files()));
    }

    #[test]
    fn the_library_forbids_unsafe_code() {
        let files = tree::library_files();
        let root = files.iter().find(|file| file.path == "core/src/lib.rs").expect("the library has a root");
        assert!(root.text.contains("#![forbid(unsafe_code)]"), "core/src/lib.rs does not forbid it");
    }

    #[test]
    fn a_name_in_the_wrong_file_is_refused() {
        let here = "core/src/ledger.rs";
        assert_eq!(sample(here, "\nuse redb::Database;"), ["core/src/ledger.rs:2: redb is not for this file"]);
        assert_eq!(sample(here, "fn f() { ::redb::open() }").len(), 1);
        assert_eq!(sample(here, "use std::time::{Duration, Instant};").len(), 1);
        assert_eq!(sample(here, "fn f() { unsafe { g() } }").len(), 1);
        assert_eq!(sample(here, "fn f() { getrandom::fill(&mut bytes) }").len(), 1);
    }

    #[test]
    fn the_same_name_is_welcome_where_it_belongs() {
        assert!(sample("core/src/store/redb/backend.rs", "use redb::Database;").is_empty());
        assert!(sample("core/src/clock.rs", "use std::time::Instant;").is_empty());
        assert!(sample("core/src/ledger.rs", "use crate::store::redb::RedbStore;").is_empty());
    }
}
