//! Idempotency keys over HTTP, once for every language: pure functions over bytes and small types.
//!
//! For a server in Rust there is a layer on top of them, `tower::IdempotencyLayer`: with the feature `axum` for axum, with `tower`
//! for plain hyper and what else speaks tower. Without one of them this documentation does not show it either:
//! `cargo doc -p keyledger-http --features axum`. The guide to it is `docs/http.md`. Whoever sends requests needs [`client`] alone.
//!
//! A server's adapter calls, in this order: [`Route::receive`] with the method and the key's field lines; its own scope function;
//! [`Route::begin`] with the request; the ledger; [`Route::rule`]. If that says [`Ruling::Run`], the handler runs, then come
//! [`Route::settlement`], [`fitting`], the ledger again, and [`Route::conclude`]. Where settling fails with anything but `ClaimLost`,
//! the adapter leaves the outcome to the ledger, as a future of settling that it drops (S3). Nothing here asks the time, opens a
//! socket or spawns a task.
//!
//! The rules are those of `docs/http-rules.md`, numbered H1 to H17 for servers and C1 to C4 for clients.

#![forbid(unsafe_code)]

mod answers;
pub mod client;
mod date;
mod filter;
mod keep;
mod key;
pub mod message;
mod problem;
mod route;
mod setting;
mod settling;
#[cfg(feature = "tower")]
pub mod tower;

pub use answers::{Conclusion, EXPIRES_FIELD, EXPOSED, OWN_FIELDS, REPLAYED_FIELD, Ruling, Settled};
pub use keep::{Keep, by_status, fitting};
pub use key::{KEY_FIELD, MalformedKey, key_of_lines};
pub use message::Answer;
pub use problem::{Case, PROBLEM_MEDIA_TYPE, TYPES};
pub use route::{BODY_BYTES_MAX, Passage, REQUEST_BYTES_MAX, Route, RouteOperation};
pub use setting::RouteError;

/// The code blocks of the guide.
#[cfg(all(doctest, feature = "axum", feature = "transport"))]
#[doc = include_str!("../../../docs/http.md")]
pub struct Guide;

/// The code blocks of the outbox's guide.
#[cfg(all(doctest, feature = "transport"))]
#[doc = include_str!("../../../docs/outbox.md")]
pub struct OutboxGuide;
