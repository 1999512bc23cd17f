//! Runnable answers to the questions that users have: see the files beside this one.
//!
//! The library part is what the programs of the payments example share.

pub mod payments;
