//! Time, and the life of a handle.

use std::time::Duration;

use keyledger_harness::disk::Crash;

use super::{Driver, Verdict};
use crate::stage::DECLARED;
use crate::translate;

impl Driver {
    pub(super) fn advance(&mut self, span: u64) {
        self.store.clock.advance(Duration::from_millis(span));
        self.model.advance(span);
    }

    pub(super) fn advance_to_deadline(&mut self, nth: usize, off: i64) {
        let ahead = self.model.deadlines(&DECLARED);
        if let Some(span) = ahead.get(nth % ahead.len().max(1)) {
            self.advance(span.saturating_add_signed(off));
        }
    }

    pub(super) fn jump_wall(&mut self, by: i64) {
        self.store.clock.jump_wall(by);
        self.model.jump_wall(by);
    }

    /// P6: between the two, every call is `Suspended`.
    pub(super) fn suspend(&mut self) -> Verdict {
        self.ledger.suspend().map_err(|error| format!("suspend: {error}"))?;
        let meanwhile = self.ledger.sweep(1).map(|_| ()).map_err(|error| translate::code(&error));
        self.same("a call while suspended", &meanwhile, &Err("suspended"))?;
        self.ledger.resume().map_err(|error| format!("resume: {error}"))?;
        self.model.suspend_and_resume();
        self.watch.volatile_ended(&self.model);
        Ok(())
    }

    /// L7 and S6: `reopen()` on the same handle is no opening, and claims outlive it.
    pub(super) fn reopen_handle(&mut self) -> Verdict {
        self.ledger.reopen().map_err(|error| format!("reopen: {error}"))
    }

    /// P7. The claims of the closed handle are let go of only after it is closed.
    pub(super) fn close_and_open(&mut self) -> Verdict {
        if !self.store.lasts() {
            return Ok(());
        }
        self.close()?;
        self.model.close_and_open();
        self.open_again()
    }

    /// What a kill or a loss of power leaves, opened by the next process.
    pub(super) fn kill(&mut self, crash: Crash) -> Verdict {
        if !self.store.lasts() {
            return Ok(());
        }
        self.store.kill(crash);
        self.close()?;
        self.model.kill_and_open();
        self.open_again()
    }

    fn close(&mut self) -> Verdict {
        self.ledger.close().map_err(|error| format!("close: {error}"))?;
        let after = self.ledger.sweep(1).map(|_| ()).map_err(|error| translate::code(&error));
        self.same("a call after close", &after, &Err("closed"))?;
        self.ledger.close().map_err(|error| format!("P7: close is idempotent: {error}"))
    }

    fn open_again(&mut self) -> Verdict {
        for grant in &mut self.grants {
            grant.claim = None;
        }
        self.watch.process_ended();
        self.ledger = self.store.open().map_err(|error| format!("open: {error}"))?;
        Ok(())
    }
}
