//! Calls that fail when they are told to.

use std::io;

// Input/output error, on every system that has such numbers.
const EIO: i32 = 5;

/// What is still to go wrong, and whether something has.
#[derive(Debug, Default)]
pub(super) struct Faults {
    syncs_left: Option<u64>,
    calls_left: Option<u64>,
    stopped: bool,
    struck: bool,
}

impl Faults {
    pub(super) fn stop_at_sync(&mut self, number: u64) {
        assert!(number > 0, "the first sync is number 1");
        self.syncs_left = Some(number);
    }

    pub(super) fn fail_call(&mut self, number: u64) {
        assert!(number > 0, "the first call is number 1");
        self.calls_left = Some(number);
    }

    pub(super) fn have_struck(&self) -> bool {
        self.struck
    }

    /// Counts a call, and fails it if its turn has come.
    pub(super) fn strike(&mut self, is_sync: bool) -> io::Result<()> {
        let fails = count_down(&mut self.calls_left);
        let stops = is_sync && count_down(&mut self.syncs_left);
        self.stopped |= stops;
        self.struck |= fails || stops;
        if fails || self.stopped { Err(io::Error::from_raw_os_error(EIO)) } else { Ok(()) }
    }
}

fn count_down(left: &mut Option<u64>) -> bool {
    *left = left.and_then(|left| left.checked_sub(1));
    *left == Some(0)
}
