//! Which modules of the library a file names.

use super::source::{Token, closing, starts, tokens, without_tests};
use super::tree::File;
use std::collections::{BTreeMap, BTreeSet};

/// A module as its path below the crate: `machine::begin`. The crate itself is the empty path.
pub(crate) type Module = String;

/// One naming of a module by another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Import {
    pub(crate) from: Module,
    pub(crate) to: Module,
    /// Where: file and line.
    pub(crate) place: String,
}

/// The module that a file of the library is.
pub(crate) fn module_of(path: &str) -> Module {
    let inner = path.trim_start_matches("core/src/").trim_end_matches(".rs");
    let inner = inner.strip_suffix("/mod").unwrap_or(inner);
    if inner == "lib" { String::new() } else { inner.replace('/', "::") }
}

/// Every import between the modules of a library.
///
/// The crate's root only lists what there is: a name taken from it counts as taken from the module that it re-exports.
pub(crate) fn imports(files: &[File]) -> Vec<Import> {
    let modules: BTreeSet<Module> = files.iter().map(|file| module_of(&file.path)).collect();
    let root = files.iter().find(|file| module_of(&file.path).is_empty());
    let exports = root.map(|file| exports(file, &modules)).unwrap_or_default();
    let others = files.iter().filter(|file| !module_of(&file.path).is_empty() && !is_test_module(&file.path));
    others.flat_map(|file| file_imports(file, &modules, &exports)).collect()
}

/// A module that only tests have, in a file of its own.
pub(crate) fn is_test_module(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.ends_with("_tests.rs") || path.contains("/tests/")
}

fn file_imports(file: &File, modules: &BTreeSet<Module>, exports: &BTreeMap<String, Module>) -> Vec<Import> {
    let from = module_of(&file.path);
    let mut found = Vec::new();
    for (path, line) in named_paths(file, modules) {
        let to = resolve(&path, modules, exports);
        if to != from {
            found.push(Import { from: from.clone(), to, place: format!("{}:{line}", file.path) });
        }
    }
    found
}

/// What the root re-exports, by name.
fn exports(root: &File, modules: &BTreeSet<Module>) -> BTreeMap<String, Module> {
    let paths = named_paths(root, modules).into_iter();
    let named = paths.filter_map(|(path, _)| path.last().cloned().map(|name| (name, path)));
    named.map(|(name, path)| (name, resolve(&path, modules, &BTreeMap::new()))).collect()
}

/// The longest beginning of the path that is a module; for what the root re-exports, the module it came from.
fn resolve(path: &[String], modules: &BTreeSet<Module>, exports: &BTreeMap<String, Module>) -> Module {
    let known = (0..=path.len()).rev().map(|length| path[..length].join("::")).find(|prefix| modules.contains(prefix));
    let module = known.unwrap_or_default();
    if module.is_empty() {
        path.first().and_then(|name| exports.get(name)).cloned().unwrap_or_default()
    } else {
        module
    }
}

/// Every path into the crate that a file names outside its tests, from the crate's root, with its line.
fn named_paths(file: &File, modules: &BTreeSet<Module>) -> Vec<(Vec<String>, usize)> {
    let all = tokens(file);
    let code = without_tests(&all);
    let here = module_of(&file.path);
    let mut found = Vec::new();
    for at in 0..code.len() {
        let follows_path = at >= 2 && starts(&code, at - 2, &[":", ":"]);
        if !follows_path
            && starts(&code, at + 1, &[":", ":"])
            && let Some(base) = base(&code[at].text, &here, modules)
        {
            walk(&code, at + 3, base, &mut found);
        }
    }
    found
}

/// Where a path begins that starts with this word: a keyword, or a child of the module.
fn base(word: &str, here: &str, modules: &BTreeSet<Module>) -> Option<Vec<String>> {
    let own: Vec<String> = here.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let child: Vec<String> = own.iter().cloned().chain([word.to_owned()]).collect();
    match word {
        "crate" => Some(Vec::new()),
        "self" => Some(own),
        "super" => Some(own[..own.len().saturating_sub(1)].to_vec()),
        _ if modules.contains(&child.join("::")) => Some(child),
        _ => None,
    }
}

/// Follows a path, or each path of a group in braces, from `at`.
fn walk(code: &[Token], at: usize, mut path: Vec<String>, found: &mut Vec<(Vec<String>, usize)>) {
    let Some(token) = code.get(at) else { return };
    match token.text.as_str() {
        "{" => {
            let end = closing(code, at);
            let mut start = at + 1;
            while start < end {
                walk(code, start, path.clone(), found);
                start = next_of_group(code, start, end);
            }
        }
        "super" => {
            path.pop();
            walk(code, at + 3, path, found);
        }
        "self" | "*" => found.push((path, token.line)),
        word => {
            path.push(word.to_owned());
            if starts(code, at + 1, &[":", ":"]) {
                walk(code, at + 3, path, found);
            } else {
                found.push((path, token.line));
            }
        }
    }
}

/// The beginning of the next path of a group, past the comma.
fn next_of_group(code: &[Token], start: usize, end: usize) -> usize {
    let mut at = start;
    while at < end && code[at].text != "," {
        at = if code[at].text == "{" { closing(code, at) + 1 } else { at + 1 };
    }
    at + 1
}

#[cfg(test)]
mod tests {
    use super::{File, imports};

    fn library(files: &[(&str, &str)]) -> Vec<File> {
        files.iter().map(|(path, text)| File { path: format!("core/src/{path}"), text: (*text).to_owned() }).collect()
    }

    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        imports(&library(files)).iter().map(|import| format!("{} {}", import.from, import.to)).collect()
    }

    #[test]
    fn imports_are_seen_in_every_way_of_writing_them() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; pub use c::{Thing, deep::Other};"),
            ("a.rs", "use crate::{b::{X, Y}, c::deep::Other}; use crate::Thing; fn f() { m!(super::b::g()) }"),
            ("b.rs", "#[cfg(test)] mod tests { use crate::a::Z; }"),
            ("c/mod.rs", "mod deep; use self::deep::Other; fn f() { deep::g() }"),
            ("c/deep.rs", "fn f() { crate::b::X }"),
        ];
        let expected = ["a b", "a b", "a c::deep", "a c", "a b", "c c::deep", "c c::deep", "c::deep b"];
        assert_eq!(edges(&files), expected);
    }
}
