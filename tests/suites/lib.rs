//! The suites are integration tests; this library holds the documents whose code blocks are run as doc tests.

/// The code blocks of README.md.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
