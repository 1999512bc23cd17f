//! The WebAssembly half of the npm package `keyledger`: one class to each handle of the core, one method to each of its calls.

mod disk;
mod error;
mod host;
mod ledger;
