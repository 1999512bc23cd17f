//! Ending a claim: the second table of contract section 4, and a person's `resolve`.

use super::record::{AuditEntry, Lease, ParkReason, Record, Stamp, State, Step};
use crate::operation::Effect;
use crate::response::Response;

/// How a claim ends.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Settlement {
    /// It was done, and this is the answer.
    Complete(Response),
    /// A final no, told again to every retry.
    Fail(Response),
    /// It surely did not happen: whoever comes next may run it.
    Release,
    /// Nobody knows whether it happened; the reason in words.
    Park(String),
}

/// What settling comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled {
    /// Write this record.
    Store(Box<Record>),
    /// This fence has settled with the same call and content: ok, nothing to write.
    Already,
    /// The claim is somebody else's, or settled otherwise.
    Lost,
}

/// Decides on `record`, which has been aged already.
pub(crate) fn settle(record: Option<&Record>, fence: u64, settlement: &Settlement, now: Stamp) -> Settled {
    let Some(record) = record.filter(|record| record.fence == fence) else { return Settled::Lost };
    match &record.state {
        State::InProgress { .. } => store(record, settled_state(record, settlement, now)),
        State::Parked { by_begin: true, .. } if tells_an_outcome(settlement) => {
            store(record, settled_state(record, settlement, now))
        }
        state @ (State::Released(_)
        | State::Completed(..)
        | State::Failed(..)
        | State::Parked { .. }
        | State::Tombstone(_)) => {
            if is_the_same(state, settlement) {
                Settled::Already
            } else {
                Settled::Lost
            }
        }
    }
}

fn store(record: &Record, state: State) -> Settled {
    Settled::Store(Box::new(record.clone().with_state(state)))
}

/// A recovery worker raised an error: the record is parked again, its owner as lost as before.
pub(crate) fn park_again(record: Option<&Record>, fence: u64, now: Stamp) -> Settled {
    match record {
        Some(record) if record.fence == fence && matches!(record.state, State::InProgress { .. }) => {
            store(record, State::Parked { reason: ParkReason::OwnerLost, since: now.wall_ms, by_begin: false })
        }
        Some(_) | None => Settled::Lost,
    }
}

/// S1: an outcome is welcome even from an owner that was given up.
fn tells_an_outcome(settlement: &Settlement) -> bool {
    match settlement {
        Settlement::Complete(_) | Settlement::Fail(_) => true,
        Settlement::Release | Settlement::Park(_) => false,
    }
}

fn settled_state(record: &Record, settlement: &Settlement, now: Stamp) -> State {
    let kept = record.retention.kept_from(now);
    match settlement {
        Settlement::Complete(response) => State::Completed(response.clone(), kept),
        Settlement::Fail(response) => State::Failed(response.clone(), kept),
        Settlement::Release => State::Released(kept),
        Settlement::Park(words) => {
            State::Parked { reason: ParkReason::Handler(words.clone()), since: now.wall_ms, by_begin: false }
        }
    }
}

fn is_the_same(state: &State, settlement: &Settlement) -> bool {
    match (state, settlement) {
        (State::Completed(stored, _), Settlement::Complete(response))
        | (State::Failed(stored, _), Settlement::Fail(response)) => stored == response,
        (State::Released(_), Settlement::Release) => true,
        (State::Parked { reason: ParkReason::Handler(stored), .. }, Settlement::Park(words)) => stored == words,
        _ => false,
    }
}

/// What a heartbeat comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beat {
    /// The lease that counts from now on.
    Renewed(Lease),
    Lost,
}

/// A heartbeat from the claim with this fence: its lease is renewed from now.
pub(crate) fn heartbeat(record: Option<&Record>, fence: u64, lease_ms: u64, now: Stamp) -> Beat {
    match record {
        Some(record) if record.fence == fence && matches!(record.state, State::InProgress { .. }) => {
            Beat::Renewed(Lease { from: now, ms: lease_ms })
        }
        Some(_) | None => Beat::Lost,
    }
}

/// The same record with its lease renewed, for a ledger that stores heartbeats.
pub(crate) fn with_lease(record: &Record, lease: Lease) -> Record {
    match record.state {
        State::InProgress { granted, .. } => record.clone().with_state(State::InProgress { granted, lease }),
        State::Released(_) | State::Completed(..) | State::Failed(..) | State::Parked { .. } | State::Tombstone(_) => {
            record.clone()
        }
    }
}

/// What recording a step comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StepVerdict {
    Store(Box<Record>),
    Already,
    /// Names are unique within a record, and this one has another value.
    OtherValue,
    /// E2: steps are refused for InLedger.
    Refused,
    /// All steps of the record together would have so many bytes.
    TooLarge(usize),
    Lost,
}

/// Records a step's result, from the claim with this fence. All steps of a record have `bytes_max` bytes together at the most
/// (L4).
pub(crate) fn record_step(record: Option<&Record>, fence: u64, step: &Step, bytes_max: usize) -> StepVerdict {
    let Some(record) = record.filter(|record| record.fence == fence) else { return StepVerdict::Lost };
    let in_progress = matches!(record.state, State::InProgress { .. });
    let stored = record.steps.iter().find(|stored| stored.name == step.name);
    match stored {
        Some(_) if is_parked_by_begin(record) => StepVerdict::Lost,
        Some(stored) if stored.value == step.value => StepVerdict::Already,
        Some(_) if in_progress => StepVerdict::OtherValue,
        Some(_) => StepVerdict::Lost,
        None if !in_progress => StepVerdict::Lost,
        None if record.effect == Effect::InLedger => StepVerdict::Refused,
        None => match bytes_of(&record.steps).saturating_add(bytes_of(std::slice::from_ref(step))) {
            bytes if bytes > bytes_max => StepVerdict::TooLarge(bytes),
            _ => {
                let mut record = record.clone();
                record.steps.push(step.clone());
                StepVerdict::Store(Box::new(record))
            }
        },
    }
}

/// Names and values.
fn bytes_of(steps: &[Step]) -> usize {
    steps.iter().map(|step| step.name.len() + step.value.len()).sum()
}

/// A begin gave this fence up: of its calls only an outcome still counts (S1).
fn is_parked_by_begin(record: &Record) -> bool {
    matches!(record.state, State::Parked { by_begin: true, .. })
}

/// What a person found out about a parked record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resolution {
    /// It happened, and this is the answer.
    Completed(Response),
    /// It ended in a final no, and this is the answer.
    Failed(Response),
    /// It did not happen. **Only for when the old owner can no longer act**: whoever comes next runs it.
    NotDone,
}

impl Resolution {
    /// The word that stands in the audit trail.
    pub fn as_str(&self) -> &'static str {
        match self {
            Resolution::Completed(_) => "completed",
            Resolution::Failed(_) => "failed",
            Resolution::NotDone => "not_done",
        }
    }

    fn as_settlement(&self) -> Settlement {
        match self {
            Resolution::Completed(response) => Settlement::Complete(response.clone()),
            Resolution::Failed(response) => Settlement::Fail(response.clone()),
            Resolution::NotDone => Settlement::Release,
        }
    }
}

/// A person settles a parked record, by the fence that `inspect` showed. `Lost` means it is not parked under that fence.
///
/// A lapsed AtMostOnce record counts as parked (section 4): `lapsed` says that its lease is over.
pub(crate) fn resolve(
    record: Option<&Record>,
    lapsed: bool,
    fence: u64,
    resolution: &Resolution,
    decided: AuditEntry,
    now: Stamp,
) -> Settled {
    let Some(record) = record.filter(|record| record.fence == fence) else { return Settled::Lost };
    let settlement = resolution.as_settlement();
    let parked = matches!(record.state, State::Parked { .. }) || (lapsed && record.effect == Effect::AtMostOnce);
    if !parked {
        return if is_the_same(&record.state, &settlement) { Settled::Already } else { Settled::Lost };
    }
    let mut resolved = record.clone().with_state(settled_state(record, &settlement, now));
    resolved.audit.push(decided);
    Settled::Store(Box::new(resolved))
}
