//! What the suites share: a fake disk, a reference model, a runner for the conformance scenarios.

pub mod conformance;
pub mod disk;
pub mod model;
pub mod settings;
