//! One record as it counts now, and what a listing asks for.

use super::{Engine, EngineError};
use crate::codec::address::{Address, RowKey};
use crate::key::{Key, KeyId, OperationName, Scope};
use crate::machine::record::{Record, Stamp, State};
use crate::machine::recover::{counts_as_parked, is_lapsed};

/// How many records a page holds unless told otherwise.
const PAGE: usize = 100;

/// A record, as it counts at some instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) id: KeyId,
    pub(crate) record: Record,
    pub(crate) lapsed: bool,
    pub(crate) volatile: bool,
    /// Parked, or lapsed and AtMostOnce: since when it counts as parked.
    pub(crate) parked_since: Option<u64>,
}

/// Which records a page shows.
#[derive(Debug, Clone)]
pub(crate) struct Listing {
    pub(crate) state: Option<&'static str>,
    pub(crate) operation: Option<OperationName>,
    pub(crate) scope: Option<Scope>,
    /// The key alone, whatever its scope and operation.
    pub(crate) key: Option<Key>,
    pub(crate) older_than_ms: Option<u64>,
    pub(crate) newer_than_ms: Option<u64>,
    /// Each record where it lies, whether or not it waits for somebody: one whose lease ends between two pages is in one of them.
    pub(crate) by_place: bool,
    /// What cannot be read is passed over, and told. Only by place: an index may be what is damaged.
    pub(crate) past_damage: bool,
    pub(crate) limit: usize,
    /// The byte of the part and the key in it that the page before ended with.
    pub(crate) after: Option<Vec<u8>>,
}

impl Listing {
    /// Whether each record is listed where it lies.
    pub(super) fn is_by_place(&self) -> bool {
        self.by_place || self.past_damage
    }
}

impl Default for Listing {
    fn default() -> Self {
        Self {
            state: None,
            operation: None,
            scope: None,
            key: None,
            older_than_ms: None,
            newer_than_ms: None,
            by_place: false,
            past_damage: false,
            limit: PAGE,
            after: None,
        }
    }
}

impl Engine {
    pub(crate) fn inspect(&self, address: &Address) -> Result<Option<Seen>, EngineError> {
        let (found, _, now) = self.find_now(address)?;
        self.see(address, &found, now);
        let volatile = found.is_volatile();
        Ok(found.into_record().map(|record| self.seen(address.id.clone(), &address.row, record, volatile, now)))
    }

    /// The record as a person sees it: a lease that was renewed in memory is its lease.
    pub(super) fn seen(&self, id: KeyId, row: &RowKey, mut record: Record, volatile: bool, now: Stamp) -> Seen {
        self.memory.see(row, &record, now);
        let witness = self.memory.look(row).witness;
        let lapsed = is_lapsed(&record, &witness, now);
        let as_parked = counts_as_parked(&record, &witness, now);
        let parked_since = match &mut record.state {
            State::InProgress { lease, .. } => {
                *lease = witness.lease(record.fence, *lease);
                // One that was dropped here is over before its lease (S2); when, nobody has written down.
                as_parked.then(|| lease.end_wall_ms().min(now.wall_ms))
            }
            State::Parked { since, .. } => Some(*since),
            State::Released(_) | State::Completed(..) | State::Failed(..) | State::Tombstone(_) => None,
        };
        Seen { id, record, lapsed, volatile, parked_since }
    }
}

pub(super) fn state_name(seen: &Seen) -> &'static str {
    match &seen.record.state {
        State::InProgress { .. } if seen.parked_since.is_some() => "parked",
        State::InProgress { .. } => "in_progress",
        State::Released(_) => "released",
        State::Completed(..) => "completed",
        State::Failed(..) => "failed",
        State::Parked { .. } => "parked",
        State::Tombstone(_) => "tombstone",
    }
}
