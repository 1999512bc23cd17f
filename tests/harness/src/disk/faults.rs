//! Calls that fail when they are told to.

use std::io;

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// EIO, from any call. Nothing was done.
    Io,
    /// ENOSPC, from a call that may need space. Nothing was done.
    NoSpace,
    /// EINTR, from any call. Nothing was done.
    Interrupted,
    /// EIO in the middle of a read: half of what was asked for is there, and the rest is as it was. (A read that ends without an
    /// error is one of a disk that became shorter: that is damage, and told as such.)
    ShortRead,
    /// ENOSPC in the middle of a write: half of it is written.
    ShortWrite,
}

impl Fault {
    /// Every one of them.
    pub const ALL: [Fault; 5] = [Fault::Io, Fault::NoSpace, Fault::Interrupted, Fault::ShortRead, Fault::ShortWrite];

    fn befalls(self, call: Call) -> bool {
        match self {
            Fault::Io | Fault::Interrupted => true,
            Fault::NoSpace => matches!(call, Call::Write | Call::SetLen | Call::Sync),
            Fault::ShortRead => call == Call::Read,
            Fault::ShortWrite => call == Call::Write,
        }
    }

    // The numbers are those of Linux; on other systems some of them say something else, and nobody reads them.
    fn strike(self) -> Strike {
        match self {
            Fault::Io => Strike::Hits(io::Error::from_raw_os_error(5)),
            Fault::NoSpace => Strike::Hits(io::Error::from_raw_os_error(28)),
            Fault::Interrupted => Strike::Hits(io::Error::from_raw_os_error(4)),
            Fault::ShortRead => Strike::HitsHalfway(io::Error::from_raw_os_error(5)),
            Fault::ShortWrite => Strike::HitsHalfway(io::Error::from_raw_os_error(28)),
        }
    }
}

/// What is asked of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Read,
    Write,
    SetLen,
    Sync,
    Other,
}

/// What becomes of a call.
pub(super) enum Strike {
    Misses,
    Hits(io::Error),
    HitsHalfway(io::Error),
}

/// What is still to go wrong, and whether something has.
#[derive(Debug, Default)]
pub(super) struct Faults {
    syncs_left: Option<u64>,
    calls_left: Option<(u64, Fault)>,
    stopped: bool,
    struck: bool,
}

impl Faults {
    pub(super) fn stop_at_sync(&mut self, number: u64) {
        assert!(number > 0, "the first sync is number 1");
        self.syncs_left = Some(number);
    }

    pub(super) fn fail_call(&mut self, number: u64, fault: Fault) {
        assert!(number > 0, "the first call is number 1");
        self.calls_left = Some((number, fault));
    }

    pub(super) fn have_struck(&self) -> bool {
        self.struck
    }

    /// Counts a call, and says what becomes of it.
    pub(super) fn strike(&mut self, call: Call) -> Strike {
        let fault = self.fault_for(call);
        self.stopped |= call == Call::Sync && self.stops_now();
        self.struck |= fault.is_some() || self.stopped;
        if self.stopped { Fault::Io.strike() } else { fault.map_or(Strike::Misses, Fault::strike) }
    }

    fn fault_for(&mut self, call: Call) -> Option<Fault> {
        let (left, fault) = self.calls_left.filter(|(_, fault)| fault.befalls(call))?;
        self.calls_left = (left > 1).then_some((left - 1, fault));
        (left == 1).then_some(fault)
    }

    fn stops_now(&mut self) -> bool {
        self.syncs_left = self.syncs_left.map(|left| left.saturating_sub(1));
        self.syncs_left == Some(0)
    }
}
