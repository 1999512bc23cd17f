//! The scenarios and vectors of `bindings/conformance/`, one test each, and that together they cover the contract.

use std::collections::BTreeSet;

use keyledger_harness::conformance::vectors::{Vector, vectors};
use keyledger_harness::conformance::{Case, Need, Store, cases, coverage, run, schema};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let cases = cases();
    let mut trials = whole(&cases);
    trials.extend(vectors().into_iter().map(vector));
    trials.extend(cases.iter().flat_map(scenario));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// One test for each store that the scenario can run in; none where its input cannot be written in Rust at all, because a type
/// rules it out: a negative duration, text that is not UTF-8, a lone surrogate.
fn scenario(case: &Case) -> Vec<Trial> {
    let needs = &case.scenario.needs;
    if needs.iter().any(|need| *need != Need::File) {
        return Vec::new();
    }
    let stores: &[Store] = if needs.contains(&Need::File) { &[Store::File] } else { &[Store::Memory, Store::File] };
    stores.iter().map(|store| trial(case, *store)).collect()
}

fn trial(case: &Case, store: Store) -> Trial {
    let kind = match store {
        Store::Memory => "memory",
        Store::File => "file",
    };
    let name = format!("{}: {}", case.file, case.scenario.name);
    let case = case.clone();
    Trial::test(name, move || Ok(run(&case, store)?)).with_kind(kind)
}

fn vector(vector: Vector) -> Trial {
    let name = format!("{}: {}", vector.list, vector.name);
    Trial::test(name, move || Ok(vector.check()?)).with_kind("vector")
}

fn whole(cases: &[Case]) -> Vec<Trial> {
    let cited = coverage::cited(cases);
    let of_cited = cited.clone();
    let names: Vec<String> = cases.iter().map(|case| format!("{}: {}", case.file, case.scenario.name)).collect();
    vec![
        Trial::test("every rule and row is cited by a scenario", move || {
            none("cited by no scenario", &coverage::missing(&cited))
        }),
        Trial::test("every rule that is cited is there", move || none("no rule", &coverage::unknown(&of_cited))),
        Trial::test("every file is as the schema says", || none("not as the schema says", &schema::offences())),
        Trial::test("no two scenarios of a file have one name", move || distinct(&names)),
    ]
}

fn none<T: std::fmt::Debug>(what: &str, found: &[T]) -> Result<(), Failed> {
    if found.is_empty() { Ok(()) } else { Err(format!("{what}: {found:?}").into()) }
}

fn distinct(names: &[String]) -> Result<(), Failed> {
    let mut seen = BTreeSet::new();
    none("told twice", &names.iter().filter(|name| !seen.insert(*name)).collect::<Vec<_>>())
}
