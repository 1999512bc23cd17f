//! Changes laid over what lies below them, in one scan.

use std::iter::Peekable;
use std::ops::ControlFlow;

use super::{KeyRange, Snapshot, Space, StoreError, Visit};

/// Scans `base` with `changes` over it: of a key that both have, the change counts. `changes` come in key order and lie in
/// the range.
pub(crate) fn scan_with<K: AsRef<[u8]>, V: AsRef<[u8]>>(
    base: &dyn Snapshot,
    space: Space,
    range: KeyRange<'_>,
    changes: impl Iterator<Item = (K, Option<V>)>,
    visit: Visit<'_>,
) -> Result<(), StoreError> {
    let mut changes = changes.peekable();
    let mut ended = false;
    base.scan(space, range, &mut |key, value| {
        let flow = visit_before(&mut changes, key, visit);
        let flow = if flow.is_break() { flow } else { visit_at(&mut changes, key, value, visit) };
        ended = flow.is_break();
        flow
    })?;
    while !ended && let Some((key, change)) = changes.next() {
        ended = change.is_some_and(|value| visit(key.as_ref(), value.as_ref()).is_break());
    }
    Ok(())
}

/// Visits the changes that come before `key`.
fn visit_before<K: AsRef<[u8]>, V: AsRef<[u8]>>(
    changes: &mut Peekable<impl Iterator<Item = (K, Option<V>)>>,
    key: &[u8],
    visit: Visit<'_>,
) -> ControlFlow<()> {
    while let Some((earlier, change)) = changes.next_if(|(earlier, _)| earlier.as_ref() < key) {
        if let Some(value) = change {
            visit(earlier.as_ref(), value.as_ref())?;
        }
    }
    ControlFlow::Continue(())
}

/// Visits `key` as it counts.
fn visit_at<K: AsRef<[u8]>, V: AsRef<[u8]>>(
    changes: &mut Peekable<impl Iterator<Item = (K, Option<V>)>>,
    key: &[u8],
    value: &[u8],
    visit: Visit<'_>,
) -> ControlFlow<()> {
    match changes.next_if(|(changed, _)| changed.as_ref() == key) {
        Some((_, Some(newer))) => visit(key, newer.as_ref()),
        Some((_, None)) => ControlFlow::Continue(()),
        None => visit(key, value),
    }
}
