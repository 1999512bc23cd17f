//! Which ledgers' closures this thread is inside of: a call back into one of them could only wait for itself (G2).

use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    static INSIDE: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Says that this thread runs a closure of an engine until it is dropped.
pub(crate) struct Inside;

impl Inside {
    pub(crate) fn enter<Engine>(engine: &Arc<Engine>) -> Self {
        INSIDE.with_borrow_mut(|inside| inside.push(name_of(&**engine)));
        Self
    }
}

/// Says that this thread does somebody else's work until it is dropped: what it is inside of is not that caller's concern.
pub(crate) struct Outside(Vec<usize>);

impl Outside {
    pub(crate) fn enter() -> Self {
        Self(INSIDE.take())
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        INSIDE.set(std::mem::take(&mut self.0));
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.with_borrow_mut(Vec::pop);
    }
}

pub(crate) fn is_inside<Engine>(engine: &Engine) -> bool {
    INSIDE.with_borrow(|inside| inside.contains(&name_of(engine)))
}

/// An engine's address names it for as long as it lives, and it outlives its closures.
fn name_of<Engine>(engine: &Engine) -> usize {
    std::ptr::from_ref(engine).addr()
}
