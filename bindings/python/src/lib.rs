//! The native half of the Python package `keyledger`: one class to each handle of the core, one method to each of its calls.
//!
//! What is Python about the package (decorators, context managers, adapters) is written in Python, in `python/keyledger`. The
//! interpreter's lock is let go of around every call that may wait for a disk, a lock or another thread.

#![expect(
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    reason = "pyo3 extracts arguments into values, and Python names as many as it likes"
)]

mod argument;
mod begin;
mod block;
mod borrowed;
mod claim;
mod client;
mod clock;
mod decision;
mod error;
mod fingerprint;
mod growth;
mod http;
mod imported;
mod interpreter;
mod janitor;
mod json;
mod keeping;
mod key_id;
mod ledger;
mod looking;
mod operation;
mod outbox;
mod patience;
mod response;
mod rows;
mod settling;
mod waiting;

use pyo3::prelude::*;

/// What Python imports.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::begin::PyBegin;
    #[pymodule_export]
    use crate::block::Block;
    #[pymodule_export]
    use crate::claim::PyClaim;
    #[pymodule_export]
    use crate::client::{PyHttpAnswer, PyHttpRequest, PyHttpSend, PyKeyField, answer_bytes_max};
    #[pymodule_export]
    use crate::clock::PyManualClock;
    #[pymodule_export]
    use crate::decision::{Acquired, Gone, InProgress, Mismatch, Parked, Replay, nobody_was_told};
    #[pymodule_export]
    use crate::error::{error_codes, register_errors};
    #[pymodule_export]
    use crate::fingerprint::{PyFingerprint, PyMembers};
    #[pymodule_export]
    use crate::growth::PyGrowth;
    #[pymodule_export]
    use crate::http::{answer::PyAnswer, answer::PyStored, asked::Asked, route::PyRoute};
    #[pymodule_export]
    use crate::interpreter::{nobody_inside, shut_gate};
    #[pymodule_export]
    use crate::janitor::{PyJanitor, Tick};
    #[pymodule_export]
    use crate::keeping::{AtLeast, Compacted, PyFileCheck, PyFileSizes, PyForgotten, PyStats, PySwept};
    #[pymodule_export]
    use crate::key_id::{PyKeyId, derive_key};
    #[pymodule_export]
    use crate::ledger::PyLedger;
    #[pymodule_export]
    use crate::looking::{PyAuditEntry, PyCursor, PyPage, PyRecordView};
    #[pymodule_export]
    use crate::operation::PyOperation;
    #[pymodule_export]
    use crate::outbox::{
        PyCancel, PyChanges, PyDecided, PyDelivery, PyDrained, PyDriver, PyDriverHandle, PyEnqueue, PyEnqueued,
        PyEntry, PyEntryPage, PyLane, PyLaneState, PyOutbox, PyOutboxStats, PyOutcome, PyProgress, PyReport, PyResumed,
        PyStop, PyTryError, PyTurn,
    };
    #[pymodule_export]
    use crate::response::PyResponse;
    #[pymodule_export]
    use crate::rows::{PyBatch, PyTransaction};
}
