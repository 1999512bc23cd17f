//! Changes laid over what lies below them, in one scan.

use std::iter::Peekable;
use std::ops::ControlFlow;

use super::{KeyRange, Order, Snapshot, Space, StoreError, Visit};

/// Scans `base` with `changes` over it: of a key that both have, the change counts. `changes` come in the order of the scan and
/// lie in its range.
pub(crate) fn scan_with<K: AsRef<[u8]>, V: AsRef<[u8]>>(
    base: &dyn Snapshot,
    space: Space,
    range: KeyRange<'_>,
    order: Order,
    changes: impl Iterator<Item = (K, Option<V>)>,
    visit: Visit<'_>,
) -> Result<(), StoreError> {
    let mut changes = changes.peekable();
    let mut ended = false;
    base.scan(space, range, order, &mut |key, value| {
        let flow = visit_before(&mut changes, key, order, visit);
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
    order: Order,
    visit: Visit<'_>,
) -> ControlFlow<()> {
    let comes_first = |changed: &[u8]| match order {
        Order::Ascending => changed < key,
        Order::Descending => changed > key,
    };
    while let Some((changed, change)) = changes.next_if(|(changed, _)| comes_first(changed.as_ref())) {
        if let Some(value) = change {
            visit(changed.as_ref(), value.as_ref())?;
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
