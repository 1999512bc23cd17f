//! Runs `bindings/conformance/` through the public surface: scenarios with a manual clock, and vectors.
//!
//! What a scenario may say is in `bindings/conformance/README.md`. Every step is done, what happened becomes JSON, and
//! `compare` holds it against what was expected.

mod answers;
mod compare;
pub mod coverage;
mod file;
mod outbox;
mod scenario;
pub mod schema;
mod steps;
mod values;
pub mod vectors;
mod world;

pub use file::{Case, cases, folder};
pub use scenario::{Need, Scenario};
pub use steps::run;
pub use world::Store;
