//! Limits at the door (L4, L5), and the form in which responses are stored (S4).

use std::time::Duration;

use crate::clock::millis;
use crate::error::{Error, Result};
use crate::machine::record::Step;
use crate::machine::settle::{Resolution, Settlement};
use crate::options::{LEASE_MS_MAX, Options};

/// L5: a lease or heartbeat of zero is refused. Milliseconds.
pub(crate) fn valid_lease(lease: Duration) -> Result<u64> {
    match millis(lease) {
        0 => Err(Error::InvalidArgument("a lease must be at least one millisecond".into())),
        lease_ms => Ok(lease_ms.min(LEASE_MS_MAX)),
    }
}

/// The settlement as it is stored: a body over the limit is omitted.
pub(crate) fn stored_form(settlement: Settlement, options: Options) -> Settlement {
    match settlement {
        Settlement::Complete(response) => Settlement::Complete(response.within(options.max_response_bytes)),
        Settlement::Fail(response) => Settlement::Fail(response.within(options.max_response_bytes)),
        settlement @ (Settlement::Release | Settlement::Park(_)) => settlement,
    }
}

/// The resolution as it is stored: a body over the limit is omitted.
pub(crate) fn stored_resolution(resolution: Resolution, options: Options) -> Resolution {
    match resolution {
        Resolution::Completed(response) => Resolution::Completed(response.within(options.max_response_bytes)),
        Resolution::Failed(response) => Resolution::Failed(response.within(options.max_response_bytes)),
        Resolution::NotDone => Resolution::NotDone,
    }
}

/// A row of the caller's own tables is as long as a response at the most.
pub(crate) fn check_row_value(value: &[u8], options: Options) -> Result<()> {
    check_length("a row's value", value.len(), options.max_response_bytes)
}

/// A step has a name, and is as long as a response at the most.
pub(crate) fn check_step(step: &Step, options: Options) -> Result<()> {
    if step.name.is_empty() {
        return Err(Error::InvalidArgument("a step needs a name".into()));
    }
    check_length("a step's name", step.name.len(), options.max_response_bytes)?;
    check_length("a step's value", step.value.len(), options.max_response_bytes)
}

/// Refuses what is longer than its limit.
pub(crate) fn check_length(what: &'static str, bytes: usize, max: usize) -> Result<()> {
    if bytes > max {
        return Err(Error::TooLarge { what, bytes: bytes as u64, max: max as u64 });
    }
    Ok(())
}
