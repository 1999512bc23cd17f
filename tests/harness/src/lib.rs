//! What the suites share: a fake disk, a reference model, a runner for the conformance scenarios, a judge of histories,
//! and ways to be another process or to end a future.

pub mod again;
pub mod conformance;
pub mod disk;
pub mod futures;
pub mod herd;
pub mod history;
pub mod model;
pub mod scripted;
pub mod settings;
