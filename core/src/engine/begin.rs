//! `begin`: answered from a snapshot where nothing changes, granted in memory where that is enough, else in a session.

use std::sync::Arc;

use super::{Engine, EngineError, Found, Session, find};
use crate::codec::address::Address;
use crate::machine::begin::{Ask, Verdict, begin, grant, park};
use crate::machine::record::{Kept, ParkReason, Record, State};
use crate::operation::Effect;
use crate::response::Response;

/// One key id, and what is asked for it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) address: Address,
    pub(crate) ask: Ask,
}

/// What `begin` answers.
pub(crate) enum Answer {
    Acquired(Granted),
    Replay { response: Response, failed: bool, kept: Kept },
    InProgress { running_ms: u64, left_ms: u64 },
    Mismatch,
    Parked { reason: ParkReason, since: u64 },
    Gone,
}

/// A claim on its way to whoever asked. If it never gets there, it is released: its handler cannot have run (section 4).
/// A recovery worker's claim that never gets there ends its lease instead: what the old owner did is as unknown as before.
pub(crate) struct Granted {
    engine: Arc<Engine>,
    address: Address,
    record: Option<Box<Record>>,
    recovered: bool,
}

impl Granted {
    pub(crate) fn new(engine: Arc<Engine>, address: Address, record: Record) -> Self {
        Self { engine, address, record: Some(Box::new(record)), recovered: false }
    }

    /// A claim that was handed out by `recover`.
    pub(crate) fn recovered(engine: Arc<Engine>, address: Address, record: Record) -> Self {
        Self { engine, address, record: Some(Box::new(record)), recovered: true }
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// The claim has reached whoever asked.
    pub(crate) fn deliver(mut self) -> Box<Record> {
        self.record.take().expect("a claim is delivered once")
    }
}

impl Drop for Granted {
    fn drop(&mut self) {
        let Some(record) = self.record.take().filter(|_| !self.engine.is_elsewhere()) else { return };
        if self.recovered {
            self.engine.drop_undelivered(&self.address, record.fence);
        } else {
            self.engine.release_undelivered(&self.address, record.fence);
        }
    }
}

impl Engine {
    /// Decides about one key id. On return a claim that must be found again after a kill is on disk (E2).
    pub(crate) fn begin(self: &Arc<Self>, asked: &Asked) -> Result<Answer, EngineError> {
        if let Some(answer) = self.begin_without_commit(asked)? {
            return Ok(answer);
        }
        let asked = asked.clone();
        self.session(move |session| session.begin(&asked))
    }

    /// Decides about each in order, in one commit.
    pub(crate) fn begin_many(self: &Arc<Self>, asked: Vec<Asked>) -> Result<Vec<Answer>, EngineError> {
        self.session(move |session| asked.iter().map(|asked| session.begin(asked)).collect())
    }

    /// The answer, where it changes nothing on disk; `None` where a session must decide.
    pub(crate) fn begin_without_commit(self: &Arc<Self>, asked: &Asked) -> Result<Option<Answer>, EngineError> {
        let (found, witness, now) = self.find_now(&asked.address)?;
        self.see(&asked.address, &found, now);
        match begin(found.record(), &witness, &asked.ask, now) {
            Verdict::Grant if self.stays_in_memory(&found, &asked.ask) => self.grant_in_memory(asked),
            Verdict::Grant | Verdict::Park(_) => Ok(None),
            told => Ok(Some(tell(&told, found))),
        }
    }

    /// S9: as `begin` would answer now, save that nothing is granted or stored: where it would grant, the answer is InProgress.
    pub(crate) fn begin_nothing(self: &Arc<Self>, asked: &Asked) -> Result<Answer, EngineError> {
        let (found, witness, now) = self.find_now(&asked.address)?;
        Ok(match begin(found.record(), &witness, &asked.ask, now) {
            Verdict::Grant => Answer::InProgress { running_ms: 0, left_ms: 0 },
            Verdict::Park(reason) => Answer::Parked { reason, since: now.wall_ms },
            told => tell(&told, found),
        })
    }

    /// E2: decides once more while nobody else can, and grants without a commit. A commit in hand for the key id decides instead.
    fn grant_in_memory(self: &Arc<Self>, asked: &Asked) -> Result<Option<Answer>, EngineError> {
        let granted = self.memory.with(&asked.address, |slot| -> Result<Option<Record>, EngineError> {
            if slot.commits > 0 {
                return Ok(None);
            }
            let glimpse = slot.glimpse();
            let (snapshot, now) = (self.snapshot()?, self.now());
            let found = find(&*snapshot, &asked.address, glimpse, now)?;
            let verdict = begin(found.record(), &slot.witness, &asked.ask, now);
            if verdict != Verdict::Grant || !self.stays_in_memory(&found, &asked.ask) {
                return Ok(None);
            }
            let Some(fence) = self.fences.take_durable() else { return Ok(None) };
            let record = grant(found.record(), &asked.ask, fence, now);
            slot.witness.forget_before(fence);
            slot.volatile = Some(record.clone());
            Ok(Some(record))
        })?;
        Ok(granted.map(|record| Answer::Acquired(Granted::new(self.clone(), asked.address.clone(), record))))
    }
}

/// An answer that changes nothing.
fn tell(verdict: &Verdict, found: Found) -> Answer {
    match verdict {
        Verdict::InProgress { running_ms, left_ms } => {
            Answer::InProgress { running_ms: *running_ms, left_ms: *left_ms }
        }
        Verdict::Mismatch => Answer::Mismatch,
        Verdict::Gone => Answer::Gone,
        Verdict::Replay | Verdict::Parked | Verdict::Grant | Verdict::Park(_) => told_by(found.into_record()),
    }
}

impl Engine {
    /// E2: InLedger with no record on disk, and no other process that must know. A grant over a record on disk goes to disk,
    /// whatever the effect; also over one that is past its time and not swept yet, which a wall clock that is set back would
    /// bring to life again.
    fn stays_in_memory(&self, found: &Found, ask: &Ask) -> bool {
        let raised = found.record().map_or(ask.effect, |record| record.effect.max(ask.effect));
        !self.is_shared() && raised == Effect::InLedger && found.stored.is_none()
    }
}

/// What a settled or parked record tells.
fn told_by(record: Option<Record>) -> Answer {
    match record.map(|record| record.state) {
        Some(State::Completed(response, kept)) => Answer::Replay { response, failed: false, kept },
        Some(State::Failed(response, kept)) => Answer::Replay { response, failed: true, kept },
        Some(State::Parked { reason, since, .. }) => Answer::Parked { reason, since },
        Some(State::InProgress { .. } | State::Released(_) | State::Tombstone(_)) | None => {
            unreachable!("the machine tells outcomes of settled and parked records alone")
        }
    }
}

impl Session<'_> {
    /// Decides about one key id and stores what follows from it.
    pub(crate) fn begin(&mut self, asked: &Asked) -> Result<Answer, EngineError> {
        let (found, witness) = self.find(&asked.address)?;
        self.engine.see(&asked.address, &found, self.now);
        match begin(found.record(), &witness, &asked.ask, self.now) {
            Verdict::Grant => self.grant(asked, &found),
            Verdict::Park(reason) => self.park(asked, &found, reason),
            told => Ok(tell(&told, found)),
        }
    }

    fn grant(&mut self, asked: &Asked, found: &Found) -> Result<Answer, EngineError> {
        let fence = self.fence()?;
        let record = grant(found.record(), &asked.ask, fence, self.now);
        if self.engine.stays_in_memory(found, &asked.ask) {
            self.grant_in_memory(&asked.address, record.clone());
        } else {
            self.write(&asked.address, found.stored.as_ref(), Some(&record))?;
            self.granted_on_disk(&asked.address, fence);
        }
        Ok(Answer::Acquired(Granted::new(self.engine.clone(), asked.address.clone(), record)))
    }

    fn park(&mut self, asked: &Asked, found: &Found, reason: ParkReason) -> Result<Answer, EngineError> {
        if let Some(record) = found.record() {
            let parked = park(record, reason.clone(), self.now);
            self.write(&asked.address, found.stored.as_ref(), Some(&parked))?;
        }
        Ok(Answer::Parked { reason, since: self.now.wall_ms })
    }
}
