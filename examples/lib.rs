//! Runnable answers to the questions that users have: see the files beside this one.
//!
//! `cargo run -p keyledger-examples --example first_steps` is the place to begin.
//!
//! The library part is what the programs of the payments example share.

pub mod payments;
