//! The WebAssembly half of the npm package `keyledger`: one class to each handle of the core, one method to each of its calls.
//!
//! What is JavaScript about the package (options, classes, `using`, stores) is written in TypeScript, in `js/`. Each call runs to its
//! end inside WebAssembly, save where it calls a store or a closure of the caller's.

#![expect(unreachable_pub, reason = "what JavaScript calls is public to it, and wasm-bindgen insists on the word")]
#![expect(
    clippy::needless_pass_by_value,
    clippy::unused_self,
    reason = "wasm-bindgen hands over values, and makes a method of what the package calls on a ledger"
)]

mod argument;
mod claim;
mod decision;
mod disk;
mod error;
mod fingerprint;
mod host;
mod http;
mod keeping;
mod ledger;
mod looking;
mod numbers;
mod object;
mod operation;
mod outbox;
mod promise;
mod transaction;
