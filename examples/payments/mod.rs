//! A small payment service, as three programs: the server, the bank that it calls, and what its operator runs.
//!
//! `cargo xtask demo` starts them, kills the server again and again, and compares what everybody has written down.

pub mod journal;
pub mod operations;
pub mod records;
pub mod serving;
