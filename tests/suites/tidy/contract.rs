//! Every rule of the contract is cited by a test that holds it, or stands on the list of those that none holds yet.

use super::paths::is_test_module;
use super::tree::{File, is_rust};
use std::collections::BTreeSet;

/// Rules that no test holds yet, and why.
const NOT_YET: &[(&str, &str)] = &[];

/// The rules of a contract, in its order: list items that begin with a letter and a number.
fn rules(contract: &str) -> Vec<String> {
    let items = contract.lines().filter_map(|line| line.strip_prefix("- ")?.split(' ').next());
    items.filter(|word| is_rule(word)).map(str::to_owned).collect()
}

fn is_rule(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|first| first.is_ascii_uppercase())
        && !letters.as_str().is_empty()
        && letters.all(|digit| digit.is_ascii_digit())
}

/// The rules that tests and scenarios cite.
fn cited(files: &[File]) -> BTreeSet<String> {
    files.iter().filter_map(test_text).flat_map(cited_in).collect()
}

/// The part of a file that is a test: all of a suite or a scenario, the end of a file of the library.
fn test_text(file: &File) -> Option<&str> {
    let path = file.path.as_str();
    let scenario = path.starts_with("bindings/conformance/");
    let of_http = path.starts_with("bindings/http/tests/");
    let suite = of_http || path.starts_with("tests/suites/") && !path.starts_with("tests/suites/tidy/");
    let library = path.starts_with("core/src/") && is_rust(path);
    if scenario || suite || (library && is_test_module(path)) {
        Some(&file.text)
    } else if library {
        file.text.find("#[cfg(test)]").map(|start| &file.text[start..])
    } else {
        None
    }
}

fn cited_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| is_rule(word));
    let names = text.split("fn ").skip(1).filter_map(|rest| rest.split('(').next());
    let in_names = names.flat_map(|name| name.split('_')).map(str::to_uppercase).filter(|word| is_rule(word));
    words.map(str::to_owned).chain(in_names).collect()
}

/// Rules that are neither held nor listed, and rules that are listed although they are held.
fn offences(rules: &[String], cited: &BTreeSet<String>, not_yet: &[(&str, &str)]) -> Vec<String> {
    let listed = |rule: &str| not_yet.iter().any(|(name, _)| *name == rule);
    let unheld = rules.iter().filter(|rule| !cited.contains(*rule) && !listed(rule));
    let stale = not_yet.iter().map(|(rule, _)| rule).filter(|rule| cited.contains(**rule));
    let unknown = not_yet.iter().map(|(rule, _)| rule).filter(|name| rules.iter().all(|rule| rule != **name));
    unheld
        .map(|rule| format!("{rule}: no test cites it"))
        .chain(stale.map(|rule| format!("{rule}: a test cites it now: take it off the list")))
        .chain(unknown.map(|rule| format!("{rule}: the contract has no such rule")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{File, NOT_YET, cited, cited_in, offences, rules};
    use crate::{refuse, tree};
    use std::collections::BTreeSet;

    #[test]
    fn every_rule_of_the_contract_is_held_or_listed() {
        let contract = std::fs::read_to_string(tree::root().join("docs/contract.md")).expect("there is a contract");
        let rules = rules(&contract);
        for (rule, why) in NOT_YET {
            println!("not held by a test yet: {rule}: {why}");
        }
        println!("{} of {} rules are held by tests", rules.len() - NOT_YET.len(), rules.len());
        refuse(&offences(&rules, &cited(&tree::files()), NOT_YET));
    }

    #[test]
    fn rules_are_the_numbered_items() {
        let contract = "text L9\n- L1 scope\n- L10 more\n  of L2\n- O3 outbox\n- Lease is a word\n";
        assert_eq!(rules(contract), ["L1", "L10", "O3"]);
    }

    #[test]
    fn citations_stand_in_comments_names_and_scenarios() {
        let text = "// L7, S1: why\n#[test] fn e2_and_i5_hold() { let t1 = 1; }";
        assert_eq!(cited_in(text).into_iter().collect::<Vec<_>>(), ["E2", "I5", "L7", "S1"]);
        let library = "// F1 is held elsewhere\n#[cfg(test)]\nmod tests { // F2\n }";
        let file = |path: &str| File { path: path.to_owned(), text: library.to_owned() };
        assert_eq!(cited(&[file("core/src/key.rs")]), BTreeSet::from(["F2".to_owned()]));
        assert_eq!(cited(&[file("tests/suites/x.rs")]).len(), 2);
        assert!(cited(&[file("README.md"), file("tests/suites/tidy/x.rs")]).is_empty());
    }

    #[test]
    fn a_rule_without_a_test_is_an_offence_and_so_is_a_stale_list() {
        let all = ["L1".to_owned(), "L2".to_owned(), "L3".to_owned()];
        let cited = BTreeSet::from(["L1".to_owned(), "L2".to_owned()]);
        assert_eq!(offences(&all, &cited, &[]), ["L3: no test cites it"]);
        assert!(offences(&all, &cited, &[("L3", "later")]).is_empty());
        assert_eq!(offences(&all, &cited, &[("L3", "later"), ("L2", "later")]).len(), 1);
        assert_eq!(offences(&all, &cited, &[("L3", "later"), ("L9", "later")]).len(), 1);
    }
}
