//! Commands of recovery workers, of persons, of the janitor, and of whoever holds the handle.

use keyledger::{Error, Filter, Forgotten, Janitor, Operation, Resolution, Response, Settlement};

use super::journal::Change;
use super::names::{id, scope_of};
use super::sketch::Sketch;
use super::world::World;

type Done = Result<(), Error>;

impl World {
    /// Hands out every lapsed or parked record of the operation that a worker may have; these are their names, oldest first.
    pub(crate) fn recover(&mut self, operation: &'static Operation, names: &[&'static str]) -> Done {
        let now = self.now();
        let taken = |name: &&'static str| {
            let id = id(operation, name);
            let recovered = Sketch { recovered: true, ..self.journal.records[&id].granted_again(b"", now) };
            Change::record(&id, recovered)
        };
        self.journal.expect(names.iter().map(taken).collect());
        let claims = self.ledger.recover(operation, names.len() + 1)?;
        self.journal.acknowledge();
        let found: Vec<&str> = claims.iter().map(|claim| claim.key_id().key().as_str()).collect();
        // Handed out twice at one instant, they are equally old.
        assert!(found == names || !self.seen_to.is_empty(), "recovery finds {names:?}, oldest first: {found:?}");
        for claim in claims {
            let name = names.iter().find(|name| **name == claim.key_id().key().as_str());
            self.keep(name.expect("one of those"), claim);
        }
        Ok(())
    }

    pub(crate) fn resolve(&mut self, operation: &'static Operation, name: &str, resolution: &Resolution) -> Done {
        let id = id(operation, name);
        let parked = self.journal.records[&id].clone();
        let fence = parked.fence.expect("somebody was told");
        self.journal.expect(vec![Change::record(&id, self.resolved(&parked, resolution))]);
        self.ledger.resolve(&id, fence, resolution.clone(), "ada", "asked the bank")?;
        self.journal.acknowledge();
        Ok(())
    }

    /// Every parked record of the operation, each in a commit of its own.
    pub(crate) fn resolve_many(&mut self, operation: &'static Operation, resolution: &Resolution) -> Done {
        let ours = |(id, sketch): &(&keyledger::KeyId, &Sketch)| {
            id.operation().as_str() == operation.name() && sketch.waits_for_a_person(self.now())
        };
        let parked = self.journal.records.iter().filter(ours);
        let changes = parked.map(|(id, sketch)| Change::record(id, self.resolved(sketch, resolution))).collect();
        self.journal.expect_each(changes);
        let filter = Filter::all().operation(id(operation, "any").operation().clone());
        self.ledger.resolve_many(&filter, resolution, "ada", "all of them")?;
        self.journal.acknowledge();
        Ok(())
    }

    /// Says the same again where it was said before.
    fn resolved(&self, sketch: &Sketch, resolution: &Resolution) -> Sketch {
        if !sketch.waits_for_a_person(self.now()) {
            return sketch.clone();
        }
        let sketch = Sketch { audit: sketch.audit + 1, ..sketch.clone() };
        match resolution {
            Resolution::Completed(response) => sketch.completed(response, self.now()),
            Resolution::Failed(response) => sketch.failed(response, self.now()),
            Resolution::NotDone => sketch.released(self.now()),
            other => panic!("there is no such resolution: {other:?}"),
        }
    }

    pub(crate) fn forget(&mut self, operation: &'static Operation, name: &str, even_if_unknown: bool) -> Done {
        let id = id(operation, name);
        self.journal.expect(vec![Change::record(&id, None)]);
        let Forgotten { kept_unsettled, .. } = self.ledger.forget(&id, even_if_unknown)?;
        self.journal.acknowledge();
        assert_eq!(kept_unsettled, 0);
        Ok(())
    }

    /// Forgets the scope of this key, all of it in one commit.
    pub(crate) fn forget_scope(&mut self, name: &str) -> Done {
        let scope = scope_of(name);
        let known = self.journal.records.keys().filter(|id| *id.scope() == scope);
        self.journal.expect(known.map(|id| Change::record(id, None)).collect());
        self.ledger.forget_scope(&scope, true)?;
        self.journal.acknowledge();
        Ok(())
    }

    /// Whatever is due counts as its next state already: nothing that is shown changes.
    pub(crate) fn sweep(&mut self, limit: usize) -> Done {
        self.journal.expect(vec![]);
        self.ledger.sweep(limit)?;
        self.journal.acknowledge();
        Ok(())
    }

    /// A janitor's step: it sweeps, and completes the lapsed records of the operation, which are these.
    pub(crate) fn tick(&mut self, operation: &'static Operation, names: &[&'static str]) -> Done {
        let (now, found) = (self.now(), Response::text("the janitor found it"));
        let stages = names.iter().filter_map(|name| {
            let id = id(operation, name);
            let old = self.journal.record(&id, now).filter(Sketch::is_open_to_recovery)?;
            let taken = Sketch { recovered: true, ..old.granted_again(b"", now) };
            let completed = taken.completed(&found, now);
            Some([vec![Change::record(&id, taken)], vec![Change::record(&id, completed)]])
        });
        self.journal.expect_commits(stages.flatten().collect());
        let settlement = Settlement::Complete(found);
        let janitor = Janitor::builder(&self.ledger).recover(operation, move |_| Ok(settlement.clone())).build()?;
        janitor.tick()?;
        self.journal.acknowledge();
        self.compare()?;
        Ok(())
    }

    /// P6: volatile claims end, durable ones stay, and what was renewed in memory is on disk.
    pub(crate) fn suspend(&mut self) -> Done {
        self.journal.expect(vec![]);
        self.ledger.suspend()?;
        self.journal.store_leases();
        self.journal.acknowledge();
        Ok(())
    }

    pub(crate) fn resume(&mut self) -> Done {
        self.journal.expect(vec![]);
        self.ledger.resume()
    }

    pub(crate) fn reopen(&mut self) -> Done {
        self.journal.expect(vec![]);
        self.ledger.reopen()
    }

    pub(crate) fn compact(&mut self) -> Done {
        self.journal.expect(vec![]);
        self.ledger.compact(true).map(drop)
    }

    /// P7: twice is no error.
    pub(crate) fn close(&mut self) -> Done {
        self.journal.expect(vec![]);
        self.ledger.close()?;
        self.ledger.close()?;
        self.journal.store_leases();
        Ok(())
    }
}
