//! Looking into a ledger: one record, or pages of them.

use std::time::Duration;

use super::Ledger;
use crate::engine::{Listed, Listing, Seen};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::key::{Key, KeyId, OperationName, Scope};
use crate::machine::record::{AuditEntry, ParkReason, Record, State, Step};
use crate::operation::Effect;
use crate::response::Response;
use crate::unreadable::Unreadable;

/// A record's state by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StateName {
    /// Somebody runs it, or did until a kill.
    InProgress,
    /// It surely did not happen; whoever comes next may run it.
    Released,
    /// Done, with an answer.
    Completed,
    /// Done, with a final no.
    Failed,
    /// Held for a person.
    Parked,
    /// Settled so long ago that only the refusal is left.
    Tombstone,
}

impl StateName {
    /// Every state, in the order of a record's life.
    pub const ALL: [StateName; 6] = [
        StateName::InProgress,
        StateName::Released,
        StateName::Completed,
        StateName::Failed,
        StateName::Parked,
        StateName::Tombstone,
    ];

    /// The state of that name, as [`as_str`](StateName::as_str) has it.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// The name that every language and the scenarios use.
    pub const fn as_str(self) -> &'static str {
        match self {
            StateName::InProgress => "in_progress",
            StateName::Released => "released",
            StateName::Completed => "completed",
            StateName::Failed => "failed",
            StateName::Parked => "parked",
            StateName::Tombstone => "tombstone",
        }
    }
}

/// A record as a person sees it. Instants are milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordView {
    id: KeyId,
    record: Record,
    lapsed: bool,
    volatile: bool,
    parked_since: Option<u64>,
}

impl RecordView {
    /// Whose record it is.
    pub fn key_id(&self) -> &KeyId {
        &self.id
    }

    /// Its state as it counts now: a lapsed AtMostOnce record is parked, which the next begin will write down (section 4). Another
    /// lapsed record is still in progress: see [`is_lapsed`](RecordView::is_lapsed).
    pub fn state(&self) -> StateName {
        match &self.record.state {
            State::InProgress { .. } if self.parked_since.is_some() => StateName::Parked,
            State::InProgress { .. } => StateName::InProgress,
            State::Released(_) => StateName::Released,
            State::Completed(..) => StateName::Completed,
            State::Failed(..) => StateName::Failed,
            State::Parked { .. } => StateName::Parked,
            State::Tombstone(_) => StateName::Tombstone,
        }
    }

    /// Stored as in progress, with a lease that is over. An AtMostOnce record counts as parked then.
    pub fn is_lapsed(&self) -> bool {
        self.lapsed
    }

    /// Kept in memory alone (E2).
    pub fn is_volatile(&self) -> bool {
        self.volatile
    }

    /// The fence of its last claim.
    pub fn fence(&self) -> u64 {
        self.record.fence
    }

    /// How often it was granted.
    pub fn attempt(&self) -> u32 {
        self.record.attempt
    }

    /// The strictest effect that any granted begin has named (E1).
    pub fn effect(&self) -> Effect {
        self.record.effect
    }

    /// That of its first begin (F7).
    pub fn fingerprint(&self) -> Fingerprint {
        self.record.fingerprint
    }

    /// What the caller of `begin` stored for whoever recovers it.
    pub fn memo(&self) -> &[u8] {
        &self.record.memo
    }

    /// The steps that were recorded.
    pub fn steps(&self) -> &[Step] {
        &self.record.steps
    }

    /// What persons decided about it.
    pub fn audit(&self) -> &[AuditEntry] {
        &self.record.audit
    }

    /// When it was first granted.
    pub fn first_granted_at_ms(&self) -> u64 {
        self.record.first_granted.wall_ms
    }

    /// In progress, or lapsed: when its lease ends or ended, by the wall clock.
    pub fn lease_end_ms(&self) -> Option<u64> {
        match &self.record.state {
            State::InProgress { lease, .. } => Some(lease.end_wall_ms()),
            State::Released(_)
            | State::Completed(..)
            | State::Failed(..)
            | State::Parked { .. }
            | State::Tombstone(_) => None,
        }
    }

    /// When it was settled or released.
    pub fn settled_at_ms(&self) -> Option<u64> {
        self.kept().map(|kept| kept.settled_at)
    }

    /// Until when its answer is replayed.
    pub fn retained_until_ms(&self) -> Option<u64> {
        self.kept().map(|kept| kept.retained_until)
    }

    /// When its tombstone ends.
    pub fn gone_at_ms(&self) -> Option<u64> {
        self.kept().map(|kept| kept.gone_at)
    }

    /// The stored answer.
    pub fn response(&self) -> Option<&Response> {
        match &self.record.state {
            State::Completed(response, _) | State::Failed(response, _) => Some(response),
            State::InProgress { .. } | State::Released(_) | State::Parked { .. } | State::Tombstone(_) => None,
        }
    }

    /// Why it is parked, and since when. The owner of a lapsed AtMostOnce record is lost since its lease ended.
    pub fn parked(&self) -> Option<(&ParkReason, u64)> {
        let reason = match &self.record.state {
            State::Parked { reason, .. } => reason,
            State::InProgress { .. }
            | State::Released(_)
            | State::Completed(..)
            | State::Failed(..)
            | State::Tombstone(_) => &ParkReason::OwnerLost,
        };
        self.parked_since.map(|since| (reason, since))
    }

    fn kept(&self) -> Option<&crate::machine::record::Kept> {
        match &self.record.state {
            State::Released(kept) | State::Completed(_, kept) | State::Failed(_, kept) | State::Tombstone(kept) => {
                Some(kept)
            }
            State::InProgress { .. } | State::Parked { .. } => None,
        }
    }

    fn of(seen: Seen) -> Self {
        let Seen { id, record, lapsed, volatile, parked_since } = seen;
        Self { id, record, lapsed, volatile, parked_since }
    }
}

/// Which records [`Ledger::list`] shows.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    listing: Listing,
}

impl Filter {
    /// All of them, a hundred to a page.
    pub fn all() -> Self {
        Self::default()
    }

    /// Those in this state. A lapsed AtMostOnce record counts as parked (section 4).
    pub fn state(mut self, state: StateName) -> Self {
        self.listing.state = Some(state.as_str());
        self
    }

    /// Those that wait for a person: parked, and lapsed AtMostOnce ones.
    pub fn parked(self) -> Self {
        self.state(StateName::Parked)
    }

    /// Those of this operation.
    pub fn operation(mut self, operation: OperationName) -> Self {
        self.listing.operation = Some(operation);
        self
    }

    /// Those of this scope.
    pub fn scope(mut self, scope: Scope) -> Self {
        self.listing.scope = Some(scope);
        self
    }

    /// Those with this key, of whatever scope and operation. Without a scope every record is looked at.
    pub fn key(mut self, key: Key) -> Self {
        self.listing.key = Some(key);
        self
    }

    /// Those first granted at most so long ago.
    pub fn newer_than(mut self, age: Duration) -> Self {
        self.listing.newer_than_ms = Some(crate::clock::millis(age));
        self
    }

    /// Those first granted at least so long ago.
    pub fn older_than(mut self, age: Duration) -> Self {
        self.listing.older_than_ms = Some(crate::clock::millis(age));
        self
    }

    /// Each record where it lies, in no order that means anything, instead of what waits for somebody first. One whose lease ends
    /// between two pages is then on one of them all the same.
    pub fn by_place(mut self) -> Self {
        self.listing.by_place = true;
        self
    }

    /// At most so many to a page. Default 100; a page of none is `InvalidArgument` where the filter is used.
    pub fn limit(mut self, limit: usize) -> Self {
        self.listing.limit = limit;
        self
    }

    /// From where the page before ended.
    pub fn after(mut self, cursor: Cursor) -> Self {
        self.listing.after = Some(cursor.0);
        self
    }
}

impl Filter {
    fn is_of_some(&self) -> Result<()> {
        if self.listing.limit > 0 {
            return Ok(());
        }
        Err(Error::InvalidArgument("a page holds at least one record".into()))
    }
}

/// Where a page ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(Vec<u8>);

impl Cursor {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

/// A page of records: first those that wait for somebody (parked, or with a lease that is over; of one operation the oldest first), then
/// the other unsettled ones, then settled ones, in no order that means anything. A key id is in it once at the most.
#[derive(Debug, Clone)]
pub struct Page {
    /// The records.
    pub records: Vec<RecordView>,
    /// Where the next page begins; `None` after the last.
    pub next: Option<Cursor>,
}

impl Page {
    fn of(listed: Listed) -> (Self, Vec<Unreadable>) {
        let records = listed.seen.into_iter().map(RecordView::of).collect();
        let unreadable = listed.unreadable.into_iter().map(Unreadable::of).collect();
        (Self { records, next: listed.next.map(Cursor) }, unreadable)
    }
}

impl Ledger {
    /// The record of a key id as it counts now; `None` is no record.
    ///
    /// # Errors
    /// Those of storage.
    pub fn inspect(&self, id: &KeyId) -> Result<Option<RecordView>> {
        Ok(self.engine().inspect(&self.engine().address(id.clone()))?.map(RecordView::of))
    }

    /// One page of the records that the filter lets through.
    ///
    /// Each page is a view of its own instant. A key id whose record stays as it is is on exactly one of the pages; one that is
    /// settled, parked or granted between two of them may be on both, or on neither, and one whose lease ends then on neither, save
    /// [`by_place`](Filter::by_place). What must not be missed is asked for again
    /// from the start.
    ///
    /// # Errors
    /// `InvalidArgument` for a page of no records; those of storage.
    pub fn list(&self, filter: &Filter) -> Result<Page> {
        filter.is_of_some()?;
        Ok(Page::of(self.engine().list(&filter.listing)?).0)
    }

    /// [`list`](Ledger::list) on a file of which a part cannot be read: that is passed over, and told. Records come as
    /// [`by_place`](Filter::by_place) has them, since an index may be what is damaged.
    ///
    /// # Errors
    /// As [`list`](Ledger::list); `Corrupt` only where not even the ledger's own rows can be read.
    pub fn salvage(&self, filter: &Filter) -> Result<(Page, Vec<Unreadable>)> {
        let mut filter = filter.clone();
        filter.listing.past_damage = true;
        filter.is_of_some()?;
        Ok(Page::of(self.engine().list(&filter.listing)?))
    }
}
