//! No module of the library is in a cycle of imports.

use super::paths::{Import, Module};
use std::collections::{BTreeMap, BTreeSet};

/// The first cycle found from each module that is in one, as a line that shows the way round.
fn cycles(imports: &[Import]) -> Vec<String> {
    let mut next: BTreeMap<&Module, BTreeSet<&Module>> = BTreeMap::new();
    for import in imports {
        next.entry(&import.from).or_default().insert(&import.to);
    }
    let ways = next.keys().filter_map(|start| way_round(start, &next));
    ways.map(|way| way.iter().map(|module| module.as_str()).collect::<Vec<_>>().join(" -> ")).collect()
}

/// A way from a module back to itself, the shortest.
fn way_round<'a>(start: &'a Module, next: &BTreeMap<&'a Module, BTreeSet<&'a Module>>) -> Option<Vec<&'a Module>> {
    let mut ways = std::collections::VecDeque::from([vec![start]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for &module in next.get(way[way.len() - 1]).into_iter().flatten() {
            let longer = || way.iter().copied().chain([module]).collect::<Vec<_>>();
            if module == start {
                return Some(longer());
            }
            if seen.insert(module) {
                ways.push_back(longer());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Import, cycles};
    use crate::{paths, refuse, tree};

    fn import(from: &str, to: &str) -> Import {
        Import { from: from.to_owned(), to: to.to_owned(), place: String::new() }
    }

    #[test]
    fn no_module_is_in_a_cycle() {
        refuse(&cycles(&paths::imports(&tree::library_files())));
    }

    #[test]
    fn a_cycle_over_three_modules_is_found() {
        let around = [import("a", "b"), import("b", "c"), import("c", "a"), import("c", "d")];
        assert_eq!(cycles(&around), ["a -> b -> c -> a", "b -> c -> a -> b", "c -> a -> b -> c"]);
        assert!(cycles(&around[..2]).is_empty());
    }
}
