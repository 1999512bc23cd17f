//! How a driver ends when it cannot go on.

use crate::delivery::Report;
use crate::error::Error;

/// A driver could not go on; here are the outcomes that it could not store.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub struct DriverError {
    /// What went wrong.
    pub source: Error,
    /// What came of deliveries, and is not known to be stored. [`Outbox::settle`](crate::Outbox::settle) takes it, also that of a
    /// ledger that was opened again. Without it those entries are sent again, with their keys, after their leases.
    pub reports: Vec<Report>,
}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Self {
        error.source
    }
}
