//! Who may import whom: the table of the house.

use super::paths::Import;

/// One row: these modules may import from those, and from each other.
struct Layer {
    modules: &'static [&'static str],
    may_import: &'static [&'static [&'static str]],
}

const VALUES: &[&str] = &["key", "fingerprint", "operation", "response", "options", "clock", "entropy"];
const MACHINE: &[&str] = &["machine"];
const CODEC: &[&str] = &["codec"];
const PROCESS: &[&str] = &["process"];
/// What calls are under way on a thread, and what is left of those that end badly.
const UNDER_WAY: &[&str] = &["inside", "unwinding"];
const STORE: &[&str] = &["store"];
const COMMIT: &[&str] = &["commit"];
const ENGINE: &[&str] = &["engine", "volatile", "outbox_memory", "fences", "home", "wake"];
const PARTS: &[&str] = &[
    "begin",
    "claim",
    "decision",
    "limits",
    "transaction",
    "sweep",
    "outbox",
    "delivery",
    "transport",
    "driver",
    "stats",
    "unreadable",
    "queued",
];
/// What errors carry.
const ENTRY: &[&str] = &["entry"];
const ERROR: &[&str] = &["error"];
/// What hosts' tests may reach below the public surface.
const TEST_SUPPORT: &[&str] = &["test_support"];
const FUZZING: &[&str] = &["fuzzing"];
/// A socket that carries lines.
const DOOR: &[&str] = &["door"];
const LEDGER: &[&str] = &["ledger", "janitor", "admin"];

const LAYERS: &[Layer] = &[
    Layer { modules: VALUES, may_import: &[] },
    Layer { modules: MACHINE, may_import: &[VALUES] },
    Layer { modules: CODEC, may_import: &[VALUES, MACHINE] },
    Layer { modules: PROCESS, may_import: &[] },
    Layer { modules: UNDER_WAY, may_import: &[] },
    Layer { modules: STORE, may_import: &[PROCESS, UNDER_WAY] },
    Layer { modules: &["test_support"], may_import: &[STORE] },
    Layer { modules: COMMIT, may_import: &[PROCESS, UNDER_WAY, STORE] },
    Layer { modules: ENGINE, may_import: &[VALUES, MACHINE, CODEC, PROCESS, UNDER_WAY, STORE, COMMIT] },
    Layer { modules: PARTS, may_import: &[ENGINE, MACHINE, CODEC, PROCESS, VALUES, ENTRY, ERROR] },
    Layer { modules: ENTRY, may_import: &[VALUES, MACHINE, ENGINE] },
    Layer { modules: ERROR, may_import: &[VALUES, MACHINE, CODEC, STORE, COMMIT, ENGINE, ENTRY] },
    Layer { modules: TEST_SUPPORT, may_import: &[STORE] },
    Layer { modules: FUZZING, may_import: &[CODEC] },
    Layer { modules: DOOR, may_import: &[PROCESS] },
    Layer {
        modules: LEDGER,
        may_import: &[VALUES, MACHINE, CODEC, PROCESS, STORE, COMMIT, ENGINE, PARTS, ENTRY, ERROR, DOOR],
    },
];

/// Every import that the table does not allow, and every module that has no place in it.
fn offences(imports: &[Import]) -> Vec<String> {
    let judge = |import: &Import| {
        let (from, to) = (top(&import.from), top(&import.to));
        let Some(layer) = layer_of(from) else { return Some(format!("{}: {from} has no place", import.place)) };
        let allowed = layer.modules.contains(&to) || layer.may_import.iter().any(|modules| modules.contains(&to));
        (!allowed)
            .then(|| format!("{}: {from} may not import {}", import.place, if to.is_empty() { "the root" } else { to }))
    };
    imports.iter().filter_map(judge).collect()
}

fn layer_of(module: &str) -> Option<&'static Layer> {
    LAYERS.iter().find(|layer| layer.modules.contains(&module))
}

/// The module below the crate's root that a module belongs to.
fn top(module: &str) -> &str {
    module.split("::").next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Import, layer_of, offences, top};
    use crate::{paths, refuse, tree};

    fn import(from: &str, to: &str) -> Import {
        Import { from: from.to_owned(), to: to.to_owned(), place: "here".to_owned() }
    }

    #[test]
    fn modules_import_only_what_lies_below_them() {
        refuse(&offences(&paths::imports(&tree::library_files())));
    }

    #[test]
    fn every_module_has_a_place_in_the_table() {
        let modules = tree::library_files().into_iter().map(|file| paths::module_of(&file.path));
        let homeless: Vec<String> =
            modules.filter(|module| !module.is_empty() && layer_of(top(module)).is_none()).collect();
        refuse(&homeless);
    }

    #[test]
    fn an_import_upwards_is_refused() {
        assert_eq!(offences(&[import("store::redb", "codec::v1")]), ["here: store may not import codec"]);
        assert_eq!(offences(&[import("machine::begin", "engine")]), ["here: machine may not import engine"]);
        assert_eq!(offences(&[import("key", "")]), ["here: key may not import the root"]);
        assert_eq!(offences(&[import("helper", "key")]), ["here: helper has no place"]);
        assert!(offences(&[import("machine::begin", "key"), import("ledger", "store")]).is_empty());
    }
}
