//! Reading on past damage: what a person can still have of a file of which a part cannot be read.
//!
//! A row that does not match its seal is passed over. Where the tree itself leads nowhere, the next key is looked for from which
//! on it can be read: keys are taken for numbers, and the distance grows by a sixteenth until a place is found, then is halved.

use std::ops::{Bound, ControlFlow, RangeBounds};

use super::{Engine, EngineError};
use crate::codec::address::{Address, RowKey};
use crate::codec::{self, line};
use crate::fingerprint::hex;
use crate::key::KeyId;
use crate::store::{KeyRange, Snapshot, Space, StoreError, Visit};

/// Something in the file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// Where it is.
    pub(crate) place: String,
    /// Whose record it is, where what is left of it says so.
    pub(crate) id: Option<KeyId>,
    /// The entry that it is, or belongs to.
    pub(crate) entry: Option<u64>,
    /// Why it cannot be read.
    pub(crate) why: String,
}

/// What a scan met and did not show.
#[derive(Debug)]
pub(super) struct Torn {
    space: Space,
    what: What,
    why: String,
}

#[derive(Debug)]
enum What {
    Row {
        key: Vec<u8>,
        bytes: Vec<u8>,
    },
    /// Whatever lies behind one key, up to the next that can be read.
    Stretch {
        behind: Option<Vec<u8>>,
        up_to: Option<Vec<u8>>,
    },
}

impl Torn {
    /// A row that is whole, and makes no sense.
    pub(super) fn row(space: Space, key: &[u8], bytes: &[u8], why: &impl ToString) -> Self {
        Torn { space, what: What::Row { key: key.to_vec(), bytes: bytes.to_vec() }, why: why.to_string() }
    }

    /// In words, for a person.
    pub(super) fn told(self, engine: &Engine) -> Unreadable {
        let (mut id, mut entry) = (None, None);
        let place = match &self.what {
            What::Row { key, bytes } => {
                if matches!(self.space, Space::Records | Space::Live) {
                    id = codec::id_in(bytes).filter(|id| is_row_of(engine, id, key));
                }
                let first = key.first().copied().filter(|_| self.space == Space::Outbox);
                if first.is_some_and(|first| [line::ENTRIES, line::REQUESTS].contains(&first)) {
                    entry = line::read_id(key).ok();
                }
                format!("{}: row {}", name_of(self.space), hex(key))
            }
            What::Stretch { behind, up_to } => {
                let behind = behind
                    .as_ref()
                    .map_or_else(|| "from the start".to_owned(), |key| format!("behind row {}", hex(key)));
                let up_to =
                    up_to.as_ref().map_or_else(|| "to the end".to_owned(), |key| format!("up to row {}", hex(key)));
                format!("{}: {behind}, {up_to}", name_of(self.space))
            }
        };
        Unreadable { place, id, entry, why: self.why }
    }
}

impl Unreadable {
    /// A sentence.
    pub(crate) fn sentence(&self) -> String {
        let Unreadable { place, id, entry, why } = self;
        match (id, entry) {
            (Some(id), _) => format!("the record of {id} cannot be read ({place}): {why}"),
            (None, Some(entry)) => format!("entry {entry} cannot be read ({place}): {why}"),
            (None, None) => format!("not to be read: {place}: {why}"),
        }
    }
}

/// The row key is a keyed hash of the key id: damaged names do not match it.
fn is_row_of(engine: &Engine, id: &KeyId, key: &[u8]) -> bool {
    let Address { row, .. } = engine.address(id.clone());
    key == RowKey::as_bytes(&row).as_slice()
}

fn name_of(space: Space) -> &'static str {
    match space {
        Space::Rows => "the program's own rows",
        Space::Records => "settled records",
        Space::Expiry => "the index of what ends when",
        Space::Meta => "the ledger's own rows",
        Space::Live => "records in progress or parked",
        Space::Unsettled => "the index of what is unsettled",
        Space::Outbox => "the outbox",
    }
}

/// Scans as `scan` does, and goes on past what cannot be read, of which `torn` is told. Comes to an end in any file: each row that
/// is shown or torn lies behind the one before.
pub(super) fn scan_past(
    view: &dyn Snapshot,
    space: Space,
    (from, to): KeyRange<'_>,
    visit: Visit<'_>,
    torn: &mut dyn FnMut(Torn),
) -> Result<(), StoreError> {
    let mut from = from.map(<[u8]>::to_vec);
    loop {
        let mut walk = Walk { visit: &mut *visit, last: None, ended: false };
        let Err(error) = view.scan(space, (borrowed(&from), to), &mut |key, value| walk.show(key, value)) else {
            return Ok(());
        };
        let Some(why) = error.damage().map(str::to_owned) else { return Err(error) };
        let behind = walk.last.take().map_or_else(|| from.clone(), Bound::Excluded);
        let (what, next) = where_to(view, space, (borrowed(&behind), to), error)?;
        let up_to = match (&what, &next) {
            (What::Row { key, .. }, _) => Bound::Included(key.as_slice()),
            (What::Stretch { .. }, Some(next)) => borrowed(next),
            (What::Stretch { .. }, None) => to,
        };
        // What is in memory over the damaged place is well.
        view.scan_above(space, (borrowed(&behind), up_to), &mut |key, value| walk.show(key, value))?;
        if !matches!(&what, What::Row { key, .. } if walk.last.as_ref() == Some(key)) {
            torn(Torn { space, what, why });
        }
        match next {
            Some(Bound::Excluded(next)) if !walk.ended => from = Bound::Included(next),
            Some(Bound::Included(row)) if !walk.ended => from = Bound::Excluded(row),
            _ => return Ok(()),
        }
    }
}

/// A scan under way.
struct Walk<'a> {
    visit: Visit<'a>,
    /// The last row that was shown.
    last: Option<Vec<u8>>,
    ended: bool,
}

impl Walk<'_> {
    fn show(&mut self, key: &[u8], value: &[u8]) -> ControlFlow<()> {
        let last = self.last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(key);
        let flow = (self.visit)(key, value);
        self.ended = flow.is_break();
        flow
    }
}

/// Where something that cannot be read ends: with a row, or before one; `None`: with the range.
type End = Option<Bound<Vec<u8>>>;

/// What cannot be read at the start of `range`, and where that ends.
fn where_to(
    view: &dyn Snapshot,
    space: Space,
    range: KeyRange<'_>,
    error: StoreError,
) -> Result<(What, End), StoreError> {
    match error {
        StoreError::Row { key, bytes } if lies_there(view, space, range, &key)? => {
            Ok((What::Row { key: key.clone(), bytes }, Some(Bound::Included(key))))
        }
        _ => {
            let behind = match range.0 {
                Bound::Included(key) | Bound::Excluded(key) => Some(key.to_vec()),
                Bound::Unbounded => None,
            };
            let up_to = next_readable(view, space, behind.as_deref().unwrap_or_default(), range.1)?;
            Ok((What::Stretch { behind, up_to: up_to.clone() }, up_to.map(Bound::Excluded)))
        }
    }
}

/// Whether a damaged row lies where its key says, so that the scan can go on behind it.
fn lies_there(view: &dyn Snapshot, space: Space, range: KeyRange<'_>, key: &[u8]) -> Result<bool, StoreError> {
    if !RangeBounds::<[u8]>::contains(&range, key) {
        return Ok(false);
    }
    match view.get(space, key, &mut |_| ()) {
        Ok(found) => Ok(found),
        Err(StoreError::Row { key: found, .. }) => Ok(found == key),
        Err(error) if error.damage().is_some() => Ok(false),
        Err(error) => Err(error),
    }
}

fn borrowed(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}

/// The first bytes of a key, as a number: of a record's they tell its scope and half of its hash.
const DIGITS: usize = 16;

/// The first key behind `behind` from which on there is something that can be read, or nothing at all; `None` where there is none
/// below `to`.
fn next_readable(
    view: &dyn Snapshot,
    space: Space,
    behind: &[u8],
    to: Bound<&[u8]>,
) -> Result<Option<Vec<u8>>, StoreError> {
    let start = number_of(behind);
    let (mut bad, mut distance, last) = (start, 1, last_below(to));
    let mut good = loop {
        let next = start.saturating_add(distance).min(last);
        if next <= bad {
            return Ok(None);
        }
        if can_be_read_from(view, space, next, to)? {
            break next;
        }
        bad = next;
        // A sixteenth more each time: few pages that are whole are passed over.
        distance = distance.saturating_add((distance / 16).max(1));
    };
    while good - bad > 1 {
        let between = bad + (good - bad) / 2;
        if can_be_read_from(view, space, between, to)? {
            good = between;
        } else {
            bad = between;
        }
    }
    Ok(Some(good.to_be_bytes().to_vec()))
}

/// The last number whose key is surely below `to`.
fn last_below(to: Bound<&[u8]>) -> u128 {
    match to {
        Bound::Included(to) | Bound::Excluded(to) => number_of(to).saturating_sub(1),
        Bound::Unbounded => u128::MAX,
    }
}

fn number_of(key: &[u8]) -> u128 {
    let (mut digits, length) = ([0; DIGITS], key.len().min(DIGITS));
    digits[..length].copy_from_slice(&key[..length]);
    u128::from_be_bytes(digits)
}

fn can_be_read_from(view: &dyn Snapshot, space: Space, from: u128, to: Bound<&[u8]>) -> Result<bool, StoreError> {
    let from = from.to_be_bytes();
    let range = (Bound::Included(from.as_slice()), to);
    match view.scan(space, range, &mut |_, _| ControlFlow::Break(())) {
        Ok(()) => Ok(true),
        // The scan will tell of it, and go on behind it.
        Err(StoreError::Row { key, .. }) => lies_there(view, space, range, &key),
        Err(error) if error.damage().is_some() => Ok(false),
        Err(error) => Err(error),
    }
}

/// The error, or in its place what it says of damage.
pub(super) fn damage_in(error: EngineError) -> Result<String, EngineError> {
    match error {
        EngineError::Store(error) if error.damage().is_some() => Ok(error.damage().unwrap_or_default().to_owned()),
        EngineError::Decode(error) => Ok(error.to_string()),
        error => Err(error),
    }
}

#[cfg(test)]
mod tests;
