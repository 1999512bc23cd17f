//! Rows of the caller's own tables, under keys that the caller of this module makes.

use std::ops::{Bound, ControlFlow};

use super::{EngineError, Session};
use crate::store::{Snapshot, Space};

/// A row: key and value.
pub(crate) type RawRow = (Vec<u8>, Vec<u8>);

pub(crate) fn get(view: &dyn Snapshot, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
    let mut value = None;
    view.get(Space::Rows, key, &mut |bytes| value = Some(bytes.to_vec()))?;
    Ok(value)
}

/// At most `limit` rows in `start..end`, in key order.
pub(crate) fn scan(view: &dyn Snapshot, start: &[u8], end: &[u8], limit: usize) -> Result<Vec<RawRow>, EngineError> {
    let mut rows = Vec::new();
    if limit == 0 || start >= end {
        return Ok(rows);
    }
    view.scan(Space::Rows, (Bound::Included(start), Bound::Excluded(end)), &mut |key, value| {
        rows.push((key.to_vec(), value.to_vec()));
        if rows.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(rows)
}

impl Session<'_> {
    pub(crate) fn get_row(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
        get(self.overlay, key)
    }

    pub(crate) fn scan_rows(&self, start: &[u8], end: &[u8], limit: usize) -> Result<Vec<RawRow>, EngineError> {
        scan(self.overlay, start, end, limit)
    }

    pub(crate) fn put_row(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.overlay.put(Space::Rows, key, value);
    }

    pub(crate) fn delete_row(&mut self, key: Vec<u8>) {
        self.overlay.delete(Space::Rows, key);
    }
}
