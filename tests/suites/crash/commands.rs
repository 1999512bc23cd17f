//! Commands that claim keys and settle claims. Each tells the journal what it is about to change before it asks the ledger.

use keyledger::{Begin, Claim, Decision, Effect, Error, KeyId, Operation, Response, SettleError, Settlement};

use super::journal::Change;
use super::names::{fingerprint, id, key, scope_of};
use super::sketch::Sketch;
use super::world::World;

type Done = Result<(), Error>;

impl World {
    /// Begins a key that is to be granted, and keeps the claim under the key's name.
    pub(crate) fn begin(&mut self, operation: &'static Operation, name: &'static str, memo: &[u8]) -> Done {
        self.journal.expect(self.granted(operation, name, memo).into_iter().collect());
        let decision = self.ledger.begin_with(&ask(operation, name).memo(memo))?;
        self.journal.acknowledge();
        self.keep(name, acquired(decision));
        Ok(())
    }

    /// Begins keys that are to be granted, and the first of them once more, all in one commit.
    pub(crate) fn begin_many(&mut self, names: &[(&'static Operation, &'static str)]) -> Done {
        let granted = names.iter().filter_map(|(operation, name)| self.granted(operation, name, b"one of many"));
        self.journal.expect(granted.collect());
        let twice = names.iter().chain(&names[..1]);
        let asked: Vec<Begin> = twice.map(|(operation, name)| ask(operation, name).memo(*b"one of many")).collect();
        let mut decisions = self.ledger.begin_many(&asked)?;
        self.journal.acknowledge();
        let again = decisions.pop().expect("a decision each");
        assert!(matches!(again, Decision::InProgress(_)), "{again:?}");
        for ((_, name), decision) in names.iter().zip(decisions) {
            self.keep(name, acquired(decision));
        }
        Ok(())
    }

    /// Begins a key whose owner is lost and that may not run twice.
    pub(crate) fn begin_lost(&mut self, operation: &'static Operation, name: &'static str) -> Done {
        let (id, now) = (id(operation, name), self.now());
        let lost = self.journal.record(&id, now).expect("it was begun");
        self.journal.expect(vec![Change::record(&id, lost.parked(super::names::OWNER_LOST))]);
        let decision = self.ledger.begin_with(&ask(operation, name))?;
        self.journal.acknowledge();
        assert!(matches!(&decision, Decision::Parked(_)), "{decision:?}");
        Ok(())
    }

    pub(crate) fn complete(&mut self, name: &'static str, body: &str) -> Done {
        self.settle(name, &Settlement::Complete(Response::text(body)))
    }

    pub(crate) fn settle(&mut self, name: &'static str, settlement: &Settlement) -> Done {
        let claim = self.claims.remove(name).expect("a claim is held");
        let settled = settled(&self.claimed(&claim), settlement, self.now());
        let forgotten = matches!(settlement, Settlement::Release) && !self.journal.records.contains_key(claim.key_id());
        let change = (!forgotten).then(|| Change::record(claim.key_id(), settled));
        self.journal.expect(change.into_iter().collect());
        let ended = match settlement.clone() {
            Settlement::Complete(response) => claim.complete(response),
            Settlement::Fail(response) => claim.fail(response),
            Settlement::Release => claim.release(),
            Settlement::Park(reason) => claim.park(reason),
            other => panic!("there is no such way to settle: {other:?}"),
        };
        self.given_back(name, ended)
    }

    /// The claim is over, and whoever settles it is told so.
    pub(crate) fn complete_lost(&mut self, name: &'static str) -> Done {
        self.journal.expect(vec![]);
        let claim = self.claims.remove(name).expect("a claim was held");
        let Err(SettleError { claim, source }) = claim.complete(Response::text("too late")) else {
            panic!("it is lost")
        };
        if matches!(source, Error::ClaimLost) {
            return Ok(());
        }
        self.claims.insert(name, *claim);
        Err(source)
    }

    /// S6: an error gives the claim back.
    pub(crate) fn given_back(&mut self, name: &'static str, ended: Result<(), SettleError>) -> Done {
        match ended {
            Ok(()) => {
                self.journal.acknowledge();
                Ok(())
            }
            Err(SettleError { claim, source }) => {
                self.claims.insert(name, *claim);
                Err(source)
            }
        }
    }

    pub(crate) fn record_step(&mut self, name: &'static str, step: &str, value: &[u8]) -> Done {
        let claim = self.claims.get_mut(name).expect("a claim is held");
        let mut sketch = self.journal.records[claim.key_id()].clone();
        if !sketch.steps.iter().any(|(known, _)| known == step) {
            sketch.steps.push((step.to_owned(), value.to_vec()));
        }
        self.journal.expect(vec![Change::record(claim.key_id(), sketch)]);
        let result = claim.step::<Error>(step, || Ok(value.to_vec()))?;
        self.journal.acknowledge();
        assert_eq!(result, value);
        Ok(())
    }

    /// Kept in memory until somebody stores it.
    pub(crate) fn heartbeat(&mut self, name: &'static str) -> Done {
        self.claims[name].heartbeat()?;
        let end = self.now() + super::names::LEASE_MS;
        if let Some(sketch) = self.journal.records.get_mut(self.claims[name].key_id()) {
            sketch.lease_ends.push(end);
        }
        Ok(())
    }

    /// The owner goes away without a word, and no byte is written.
    pub(crate) fn drop_claim(&mut self, name: &'static str) {
        drop(self.claims.remove(name).expect("a claim is held"));
    }

    /// Remembers a claim that was granted.
    pub(crate) fn keep(&mut self, name: &'static str, claim: Claim) {
        self.journal.told_fence(claim.key_id(), claim.fence());
        self.claims.insert(name, claim);
    }

    /// What a grant puts on disk: nothing for an `InLedger` operation that the disk does not know (E2).
    pub(crate) fn granted(&self, operation: &'static Operation, name: &str, memo: &[u8]) -> Option<Change> {
        let (id, now) = (id(operation, name), self.now());
        let sketch = match self.journal.record(&id, now) {
            Some(old) => old.granted_again(memo, now),
            None if operation.effect() == Effect::InLedger => return None,
            None => Sketch::granted(operation, memo, now),
        };
        Some(Change::record(&id, sketch))
    }

    /// The record that a claim is on, also where it is in memory alone.
    pub(crate) fn claimed(&self, claim: &Claim) -> Sketch {
        let sketch = self.journal.records.get(claim.key_id()).cloned();
        sketch.unwrap_or_else(|| Sketch {
            fence: Some(claim.fence()),
            attempt: claim.attempt(),
            ..Sketch::granted(super::names::operation_of(claim.key_id()), claim.memo(), self.now())
        })
    }

    /// What begin tells about a key, where it changes nothing.
    pub(crate) fn ask_about(&self, id: &KeyId) -> Result<Decision, Error> {
        let operation = super::names::operation_of(id);
        self.ledger.begin(operation, id.scope(), id.key(), fingerprint(id.key().as_str()))
    }
}

pub(crate) fn ask(operation: &'static Operation, name: &str) -> Begin {
    Begin::new(operation, &scope_of(name), &key(name), fingerprint(name))
}

pub(crate) fn acquired(decision: Decision) -> Claim {
    match decision {
        Decision::Acquired(claim) => claim,
        other => panic!("not granted: {other:?}"),
    }
}

fn settled(sketch: &Sketch, settlement: &Settlement, now: u64) -> Sketch {
    match settlement {
        Settlement::Complete(response) => sketch.completed(response, now),
        Settlement::Fail(response) => sketch.failed(response, now),
        Settlement::Release => sketch.released(now),
        Settlement::Park(reason) => sketch.parked(reason),
        other => panic!("there is no such way to settle: {other:?}"),
    }
}
