//! What an outbox was opened with.

use std::time::Duration;

use crate::machine::backoff::{Backoff, BudgetTerms};
use crate::machine::entry::EntryTerms;
use crate::options;

/// What an outbox was opened with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutboxTerms {
    pub(crate) entry: EntryTerms,
    pub(crate) budget: BudgetTerms,
    pub(crate) max_entries: u64,
    pub(crate) max_bytes: u64,
}

impl OutboxTerms {
    /// The defaults of contract section 12; also for whoever only looks or sweeps.
    pub(crate) const DEFAULT: OutboxTerms = OutboxTerms {
        entry: EntryTerms {
            backoff: Backoff {
                base_ms: const_millis(options::BACKOFF_BASE),
                cap_ms: const_millis(options::BACKOFF_CAP),
                multiplier: options::BACKOFF_MULTIPLIER,
                jitter: true,
            },
            lease_ms: const_millis(options::LEASE),
            max_tries: options::MAX_TRIES,
            max_age_ms: None,
            resend_window_ms: const_millis(options::RESEND_WINDOW),
            purpose_retention_ms: const_millis(options::PURPOSE_RETENTION),
            retention_ms: const_millis(options::SETTLED_RETENTION),
            retry_after_max_ms: const_millis(options::RETRY_AFTER_MAX),
        },
        budget: BudgetTerms { capacity: options::BUDGET, refill_ms: const_millis(options::BUDGET_REFILL) },
        max_entries: options::OUTBOX_ENTRIES_MAX,
        max_bytes: options::OUTBOX_BYTES_MAX,
    };
}

/// Whole milliseconds of a span that is known to be short.
const fn const_millis(span: Duration) -> u64 {
    span.as_secs() * 1000 + span.subsec_millis() as u64
}
