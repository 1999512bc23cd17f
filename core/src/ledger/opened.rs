//! What a handle was opened with.

use std::sync::Arc;

use crate::engine::Engine;

/// The engine that a handle was opened with. It is out of reach: whoever wants an engine gets the one of this process (P3).
#[derive(Clone)]
pub(super) struct Opened(Arc<Engine>);

impl Opened {
    pub(super) fn with(engine: Arc<Engine>) -> Self {
        Self(engine)
    }

    /// The engine of this process.
    pub(super) fn here(&self) -> &Arc<Engine> {
        self.0.here()
    }
}
