//! Which ledgers' closures this thread is inside of (G2).

use std::sync::Arc;

use crate::inside::{Inside, Names, Outside};

thread_local! {
    static CLOSURES: Names = const { Names::new() };
}

/// Says that this thread runs a closure of an engine until what it returns is dropped.
pub(crate) fn enter<Engine>(engine: &Arc<Engine>) -> Inside {
    Inside::enter(&CLOSURES, &**engine)
}

/// Says that this thread does somebody else's work until what it returns is dropped. It hides no call of a disk, which is everybody's.
pub(super) fn leave() -> Outside {
    Outside::of(&CLOSURES)
}

pub(super) fn is_inside<Engine>(engine: &Engine) -> bool {
    crate::inside::is_inside(&CLOSURES, engine)
}
