//! The rules of the house, held by tests.
//!
//! Each check is a function from sources to offences. It is run twice: on this tree, where it must find nothing, and on a bad
//! sample beside it, where it must find something: a check that cannot fail holds nothing.

mod contract;
mod graph;
mod layers;
mod names;
mod paths;
mod size;
mod source;
mod spelling;
mod supply;
mod tree;
mod words;

/// Fails with one offence on a line.
fn refuse(offences: &[String]) {
    assert!(offences.is_empty(), "{} offences:\n{}", offences.len(), offences.join("\n"));
}
