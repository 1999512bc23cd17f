//! What the suites share: a fake disk, a reference model, a runner for the conformance scenarios, and a judge of histories.

pub mod conformance;
pub mod disk;
pub mod history;
pub mod model;
pub mod settings;
