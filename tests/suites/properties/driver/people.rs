//! Recovery workers, persons who resolve and forget, and the sweep.

use keyledger_harness::model::{Code, Forgotten, Id, Swept};

use super::claims::code_of;
use super::{Driver, Verdict};
use crate::command::{Found, Target, Which};
use crate::stage::{DECLARED, KEYS, SCOPES};
use crate::translate;

impl Driver {
    fn target(&self, key: Target) -> Id {
        match key {
            Target::Of(pick) => self.picked(pick).0,
            Target::Named(declared, scope, key) => Id::new(SCOPES[scope], &DECLARED[declared].name, KEYS[key]),
        }
    }

    /// Which of several the ledger hands out first is its own choice; how many, and what each is, is not.
    pub(super) fn recover(&mut self, declared: usize, limit: usize) -> Verdict {
        let operation = &DECLARED[declared];
        let due = self.model.recoverable(&operation.name);
        let claims = self.ledger.recover(&translate::operation(declared), limit);
        let claims = claims.map_err(|error| format!("recover: {error}"))?;
        self.same("number of recovered claims", &claims.len(), &due.len().min(limit))?;
        for claim in claims {
            let seen = self.granted(claim)?;
            self.watch.recovered(&seen, operation.lease, &self.model)?;
            let expected = self.model.recover_one(operation, &seen.id);
            self.same("recovered claim", &Some(seen), &expected)?;
        }
        Ok(())
    }

    pub(super) fn resolve(&mut self, key: Target, which: Which, found: Found) -> Verdict {
        let id = self.target(key);
        let shown = self.model.inspect(&id).map_or(u64::MAX, |view| view.fence);
        let fence = match which {
            Which::Shown => shown,
            Which::Earlier => shown.saturating_sub(1).max(1),
        };
        let (real_id, real_fence) = (translate::id(&id), self.real_fence(fence));
        let seen =
            code_of(self.ledger.resolve(&real_id, real_fence, translate::resolution(found), "eve", "looked it up"));
        let expected = self.model.resolve(&id, fence, &translate::model_resolution(found)).map_err(Code::as_str);
        self.note("resolve", &seen);
        self.same("resolve", &seen, &expected)
    }

    pub(super) fn resolve_many(&mut self, declared: usize, found: Found) -> Verdict {
        let name = &DECLARED[declared].name;
        let filter = keyledger::Filter::all().operation(keyledger::OperationName::new(name).expect("a valid name"));
        let seen = self.ledger.resolve_many(&filter, &translate::resolution(found), "eve", "all of them");
        let seen = seen.map_err(|error| format!("resolve_many: {error}"))?;
        let expected = self.model.resolve_many(name, &translate::model_resolution(found));
        self.same("number resolved", &seen, &expected)
    }

    pub(super) fn forget(&mut self, key: Target, even_if_unknown: bool) -> Verdict {
        let id = self.target(key);
        let seen =
            self.ledger.forget(&translate::id(&id), even_if_unknown).map_err(|error| format!("forget: {error}"))?;
        let expected = self.model.forget(&id, even_if_unknown);
        self.watch.forgotten(|forgotten| *forgotten == id, &self.model);
        self.same("forgotten", &forgotten(&seen), &expected)
    }

    pub(super) fn forget_scope(&mut self, scope: usize, even_if_unknown: bool) -> Verdict {
        let real_scope = keyledger::Scope::new(SCOPES[scope]).expect("a valid scope");
        let seen =
            self.ledger.forget_scope(&real_scope, even_if_unknown).map_err(|error| format!("forget_scope: {error}"))?;
        let expected = self.model.forget_scope(SCOPES[scope], even_if_unknown);
        self.watch.forgotten(|forgotten| forgotten.scope == SCOPES[scope], &self.model);
        self.same("forgotten", &forgotten(&seen), &expected)
    }

    /// Where a sweep has to choose between records of one age, it is asked to sweep the rest at once.
    pub(super) fn sweep(&mut self, limit: usize) -> Verdict {
        let limit = if self.model.sweep_has_a_choice(limit) { 100 } else { limit };
        let seen = self.ledger.sweep(limit).map_err(|error| format!("sweep: {error}"))?;
        let seen = Swept { tombstoned: seen.tombstoned, removed: seen.removed, more: seen.more };
        let expected = self.model.sweep(limit);
        self.same("swept", &seen, &expected)
    }
}

fn forgotten(seen: &keyledger::Forgotten) -> Forgotten {
    Forgotten {
        settled: seen.settled,
        released: seen.released,
        tombstones: seen.tombstones,
        unsettled: seen.unsettled,
        kept_unsettled: seen.kept_unsettled,
    }
}
