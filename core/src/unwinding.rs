//! What is done where a call is left by unwinding.
//!
//! A panic can be caught. What a host throws through the module, such as its "stack overflow" where hardly any stack was left, no
//! `catch_unwind` catches: it only drops what it passes.

/// Does something if it is dropped before the call that it watches has ended.
pub(crate) struct IfLeft<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> IfLeft<F> {
    pub(crate) fn then(act: F) -> Self {
        Self(Some(act))
    }

    /// The call has ended as calls do.
    pub(crate) fn came_back(mut self) {
        self.0 = None;
    }
}

impl<F: FnOnce()> Drop for IfLeft<F> {
    fn drop(&mut self) {
        if let Some(act) = self.0.take() {
            act();
        }
    }
}
