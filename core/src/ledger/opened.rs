//! What a handle was opened with.

use std::sync::Arc;

#[cfg(unix)]
use crate::door::Door;
use crate::engine::Engine;
#[cfg(unix)]
use crate::error::Error;
use crate::error::Result;

/// The engine that a handle was opened with, and the admin socket, if there is one. The engine is out of reach: whoever wants an engine
/// gets the one of this process (P3).
#[derive(Clone)]
pub(super) struct Opened {
    engine: Arc<Engine>,
    #[cfg(unix)]
    door: Option<Arc<Door>>,
}

impl Opened {
    pub(super) fn with(engine: Arc<Engine>) -> Self {
        Self {
            engine,
            #[cfg(unix)]
            door: None,
        }
    }

    #[cfg(unix)]
    pub(super) fn behind(self, door: Door) -> Self {
        Self { door: Some(Arc::new(door)), ..self }
    }

    /// The engine of this process.
    pub(super) fn here(&self) -> &Arc<Engine> {
        self.engine.here()
    }

    /// The admin socket answers no more, until it is opened again.
    #[cfg_attr(not(unix), expect(clippy::unused_self, reason = "where there are sockets, it may have one"))]
    pub(super) fn shut_door(&self) {
        #[cfg(unix)]
        if let Some(door) = &self.door {
            door.shut();
        }
    }

    /// The admin socket answers again.
    #[cfg_attr(
        not(unix),
        expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "where there are sockets, it can fail")
    )]
    pub(super) fn open_door(&self) -> Result<()> {
        #[cfg(unix)]
        if let Some(door) = &self.door {
            door.open_again().map_err(|error| no_door(&error))?;
        }
        Ok(())
    }
}

/// There can be no socket there.
#[cfg(unix)]
pub(super) fn no_door(error: &std::io::Error) -> Error {
    Error::Unavailable(format!(
        "no admin socket: {error}; give it another, shorter path with admin_socket_at, or open without"
    ))
}
