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
/// A re-export is a table of contents, no import: whoever takes a name through it takes it from the module that it comes from.
pub(crate) fn imports(files: &[File]) -> Vec<Import> {
    let library = Library::of(files);
    let others = files.iter().filter(|file| !module_of(&file.path).is_empty() && !is_test_module(&file.path));
    others.flat_map(|file| library.imports_of(file)).collect()
}

/// A module that only tests have, in a file of its own.
pub(crate) fn is_test_module(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.ends_with("_tests.rs") || path.contains("/tests/")
}

/// The modules of a library, and what each re-exports.
struct Library {
    modules: BTreeSet<Module>,
    exports: BTreeMap<(Module, String), Vec<String>>,
}

impl Library {
    fn of(files: &[File]) -> Self {
        let modules = files.iter().map(|file| module_of(&file.path)).collect();
        let mut exports = BTreeMap::new();
        for file in files {
            for named in named_paths(file, &modules).into_iter().filter(|named| named.exported) {
                exports.insert((module_of(&file.path), named.name), named.path);
            }
        }
        Self { modules, exports }
    }

    fn imports_of(&self, file: &File) -> Vec<Import> {
        let from = module_of(&file.path);
        let taken = named_paths(file, &self.modules).into_iter().filter(|named| !named.exported);
        let found = taken.map(|named| (self.source_of(named.path), named.line));
        let others = found.filter(|(to, _)| *to != from);
        others.map(|(to, line)| Import { from: from.clone(), to, place: format!("{}:{line}", file.path) }).collect()
    }

    /// The module that a path leads into, past every re-export.
    fn source_of(&self, mut path: Vec<String>) -> Module {
        loop {
            let is_module = |length: &usize| self.modules.contains(&path[..*length].join("::"));
            let length = (0..=path.len()).rev().find(is_module).unwrap_or_default();
            let module = path[..length].join("::");
            let export = path.get(length).and_then(|name| self.exports.get(&(module.clone(), name.clone())));
            match export {
                Some(origin) if *origin != path => path = [origin, &path[length + 1..]].concat(),
                Some(_) | None => return module,
            }
        }
    }
}

/// One path into the crate, as a file names it.
#[derive(Clone)]
struct Named {
    /// From the crate's root.
    path: Vec<String>,
    /// What the file calls it.
    name: String,
    line: usize,
    exported: bool,
}

/// Every path into the crate that a file names outside its tests.
fn named_paths(file: &File, modules: &BTreeSet<Module>) -> Vec<Named> {
    let all = tokens(file);
    let code = without_tests(&all);
    let mut here = Inner::of(&module_of(&file.path));
    let mut found = Vec::new();
    for at in 0..code.len() {
        here.step(&code, at);
        let follows_path = at >= 2 && starts(&code, at - 2, &[":", ":"]);
        let is_visibility = at >= 1 && code[at - 1].text == "in";
        if !follows_path
            && !is_visibility
            && starts(&code, at + 1, &[":", ":"])
            && let Some(path) = base(&code[at].text, &here.path, modules)
        {
            let start = Named { path, name: String::new(), line: code[at].line, exported: is_export(&code, at) };
            walk(&code, at + 3, start, &mut found);
        }
    }
    found
}

/// Whether the path that begins at `at` stands in a `pub use`, whoever may see it.
fn is_export(code: &[Token], at: usize) -> bool {
    at >= 2 && code[at - 1].text == "use" && (code[at - 2].text == "pub" || code[at - 2].text == ")")
}

/// The module that a place in a file is in: that of the file, or one written inside it.
struct Inner {
    path: Vec<String>,
    /// Where each module inside the file ends.
    ends: Vec<usize>,
}

impl Inner {
    fn of(module: &str) -> Self {
        let path = module.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        Self { path, ends: Vec::new() }
    }

    fn step(&mut self, code: &[Token], at: usize) {
        if self.ends.last() == Some(&at) {
            self.ends.pop();
            self.path.pop();
        }
        if starts(code, at, &["mod"]) && starts(code, at + 2, &["{"]) {
            self.path.push(code[at + 1].text.clone());
            self.ends.push(closing(code, at + 2));
        }
    }
}

/// Where a path begins that starts with this word: a keyword, or a child of the module.
fn base(word: &str, own: &[String], modules: &BTreeSet<Module>) -> Option<Vec<String>> {
    let child: Vec<String> = own.iter().cloned().chain([word.to_owned()]).collect();
    match word {
        "crate" => Some(Vec::new()),
        "self" => Some(own.to_vec()),
        "super" => Some(own[..own.len().saturating_sub(1)].to_vec()),
        _ if modules.contains(&child.join("::")) => Some(child),
        _ => None,
    }
}

/// Follows a path, or each path of a group in braces, from `at`.
fn walk(code: &[Token], at: usize, mut named: Named, found: &mut Vec<Named>) {
    let Some(token) = code.get(at) else { return };
    named.line = token.line;
    match token.text.as_str() {
        "{" => {
            let end = closing(code, at);
            let mut start = at + 1;
            while start < end {
                walk(code, start, named.clone(), found);
                start = next_of_group(code, start, end);
            }
        }
        "super" => {
            named.path.pop();
            walk(code, at + 3, named, found);
        }
        "self" | "*" => found.push(named),
        word => {
            named.path.push(word.to_owned());
            word.clone_into(&mut named.name);
            if starts(code, at + 1, &[":", ":"]) {
                walk(code, at + 3, named, found);
            } else {
                if starts(code, at + 1, &["as"]) {
                    code[at + 2].text.clone_into(&mut named.name);
                }
                found.push(named);
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
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::{b::{X, Y}, c::deep::Other}; fn f() { m!(super::b::g()) }"),
            ("b.rs", "#[cfg(test)] mod tests { use crate::a::Z; }"),
            ("c/mod.rs", "mod deep; use self::deep::Other; fn f() { deep::g() }"),
            ("c/deep.rs", "fn f() { crate::b::X }"),
        ];
        assert_eq!(edges(&files), ["a b", "a b", "a c::deep", "a b", "c c::deep", "c c::deep", "c::deep b"]);
    }

    #[test]
    fn a_module_inside_a_file_is_a_step_further_down() {
        let files = [
            ("lib.rs", ""),
            ("a/b.rs", "mod inner { use super::super::c::X; pub(in super::super) fn f() {} } use super::c::Y;"),
            ("a/c.rs", ""),
        ];
        assert_eq!(edges(&files), ["a::b a::c", "a::b a::c"]);
    }

    #[test]
    fn a_re_export_is_looked_through() {
        let files = [
            ("lib.rs", "mod a; mod c; pub use c::{Thing as Named, Other};"),
            ("a.rs", "use crate::{Named, Other, Unknown};"),
            ("c.rs", "mod deep; pub(crate) use self::deep::Other; pub struct Thing;"),
            ("c/deep.rs", "use super::Thing;"),
        ];
        assert_eq!(edges(&files), ["a c", "a c::deep", "a ", "c::deep c"]);
    }
}
