//! Limits at the door (L4, L5), and the form in which outcomes are stored (S4).

use std::time::Duration;

use crate::clock::millis;
use crate::error::{Error, Result};
use crate::machine::classify::{DeliveryOutcome, Kind};
use crate::machine::person::EntryResolution;
use crate::machine::record::Step;
use crate::machine::settle::{Resolution, Settlement};
use crate::options::{
    LEASE_MS_MAX, MEDIA_TYPE_BYTES_MAX, NOTE_BYTES_MAX, Options, PARK_REASON_BYTES_MAX, WHO_BYTES_MAX,
};
use crate::response::Response;

/// L5: a lease or heartbeat of zero is refused. Milliseconds.
pub(crate) fn valid_lease(lease: Duration) -> Result<u64> {
    match millis(lease) {
        0 => Err(Error::InvalidArgument("a lease must be at least one millisecond".into())),
        lease_ms => Ok(lease_ms.min(LEASE_MS_MAX)),
    }
}

/// The settlement as it is stored.
pub(crate) fn stored_form(settlement: Settlement, options: Options) -> Result<Settlement> {
    Ok(match settlement {
        Settlement::Complete(response) => Settlement::Complete(stored_response(response, options)?),
        Settlement::Fail(response) => Settlement::Fail(stored_response(response, options)?),
        Settlement::Release => Settlement::Release,
        Settlement::Park(reason) => {
            check_length("the reason", reason.len(), PARK_REASON_BYTES_MAX)?;
            Settlement::Park(reason)
        }
    })
}

/// The response as it is stored: a body over the limit is omitted, a media type over its own is refused.
pub(crate) fn stored_response(response: Response, options: Options) -> Result<Response> {
    check_length("the media type", response.media_type().len(), MEDIA_TYPE_BYTES_MAX)?;
    Ok(response.within(options.max_response_bytes))
}

/// The resolution as it is stored.
pub(crate) fn stored_resolution(resolution: Resolution, options: Options) -> Result<Resolution> {
    Ok(match resolution {
        Resolution::Completed(response) => Resolution::Completed(stored_response(response, options)?),
        Resolution::Failed(response) => Resolution::Failed(stored_response(response, options)?),
        Resolution::NotDone => Resolution::NotDone,
    })
}

/// The outcome of a delivery as it is stored.
pub(crate) fn stored_outcome(mut outcome: DeliveryOutcome, options: Options) -> Result<DeliveryOutcome> {
    if let Kind::Answered { response, .. } = &mut outcome.kind {
        *response = stored_response(response.clone(), options)?;
    }
    Ok(outcome)
}

/// What somebody found out about an entry, as it is stored.
pub(crate) fn stored_entry_resolution(resolution: EntryResolution, options: Options) -> Result<EntryResolution> {
    Ok(match resolution {
        EntryResolution::Yes(response) => EntryResolution::Yes(stored_response(response, options)?),
        EntryResolution::No(response) => EntryResolution::No(stored_response(response, options)?),
        EntryResolution::Dead => EntryResolution::Dead,
        EntryResolution::Resend => EntryResolution::Resend,
    })
}

/// Who resolves a record, and why: both stay in its audit trail, and nobody is no one (L4).
pub(crate) fn check_person(who: &str, note: &str) -> Result<()> {
    if who.trim().is_empty() {
        return Err(Error::InvalidArgument("who decides must be named: it stays in the audit trail".into()));
    }
    check_length("who", who.len(), WHO_BYTES_MAX)?;
    check_length("the note", note.len(), NOTE_BYTES_MAX)
}

/// A row of the caller's own tables is as long as a response at the most.
pub(crate) fn check_row_value(value: &[u8], options: Options) -> Result<()> {
    check_length("a row's value", value.len(), options.max_response_bytes)
}

/// A step has a name, and is as long as a response at the most. All steps of a record together are, too: that is checked where
/// the others are known.
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
