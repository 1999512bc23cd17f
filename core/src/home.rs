//! The process that a handle belongs to (P3).

use std::sync::{Arc, OnceLock};

use crate::process::Owner;

/// Opens the same thing once more, in a forked child; `None` where that fails.
pub(crate) type OpenAnew<T> = Box<dyn Fn() -> Option<Arc<T>> + Send + Sync>;

/// Where something was opened.
pub(crate) struct Home<T> {
    owner: Owner,
    anew: Option<OpenAnew<T>>,
    child: OnceLock<Arc<T>>,
}

impl<T> Home<T> {
    /// This process, which has the thing for itself.
    pub(crate) fn alone() -> Self {
        Self { owner: Owner::this(), anew: None, child: OnceLock::new() }
    }

    /// This process, among others.
    pub(crate) fn shared(anew: OpenAnew<T>) -> Self {
        Self { owner: Owner::this(), anew: Some(anew), child: OnceLock::new() }
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.anew.is_some()
    }

    /// Whether this is a forked child of the process that opened it. It must touch nothing: a lock that a thread of the parent's
    /// held is never given back here.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.owner.is_elsewhere()
    }

    /// The child's own, opened by the first call that asks for it; `None` at home, and where there is none to be had.
    pub(crate) fn of_child(&self) -> Option<&Arc<T>> {
        let anew = self.anew.as_ref().filter(|_| self.is_elsewhere())?;
        if self.child.get().is_none()
            && let Some(child) = anew()
        {
            let _ = self.child.set(child);
        }
        self.child.get()
    }
}
