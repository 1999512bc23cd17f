//! Changes laid over what lies below them, in one scan.

use std::borrow::Cow;
use std::iter::Peekable;
use std::ops::ControlFlow;

use super::{KeyRange, Snapshot, Space, StoreError, Visit};

/// A key and what it has become: nothing, where it was deleted.
pub(crate) type Changed<'a> = (Cow<'a, [u8]>, Option<Cow<'a, [u8]>>);

type Changes<'i, 'a> = dyn Iterator<Item = Changed<'a>> + 'i;

/// Scans `base` with `changes` over it: of a key that both have, the change counts. `changes` come in key order and lie in
/// the range.
pub(crate) fn scan_with(
    base: &dyn Snapshot,
    space: Space,
    range: KeyRange<'_>,
    changes: &mut Changes<'_, '_>,
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
        ended = change.is_some_and(|value| visit(&key, &value).is_break());
    }
    Ok(())
}

/// Visits the changes that come before `key`.
fn visit_before(changes: &mut Peekable<&mut Changes<'_, '_>>, key: &[u8], visit: Visit<'_>) -> ControlFlow<()> {
    while let Some((earlier, change)) = changes.next_if(|(earlier, _)| **earlier < *key) {
        if let Some(value) = change {
            visit(&earlier, &value)?;
        }
    }
    ControlFlow::Continue(())
}

/// Visits `key` as it counts.
fn visit_at(
    changes: &mut Peekable<&mut Changes<'_, '_>>,
    key: &[u8],
    value: &[u8],
    visit: Visit<'_>,
) -> ControlFlow<()> {
    match changes.next_if(|(changed, _)| **changed == *key) {
        Some((_, Some(newer))) => visit(key, &newer),
        Some((_, None)) => ControlFlow::Continue(()),
        None => visit(key, value),
    }
}
