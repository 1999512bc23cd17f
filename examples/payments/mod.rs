//! A small payment service, as four programs: the server, the bank that it calls, what its operator runs, and a client with an
//! outbox.
//!
//! `cargo xtask demo` starts them, kills server and clients again and again, and compares what everybody has written down.

pub mod journal;
pub mod operations;
pub mod records;
pub mod serving;
