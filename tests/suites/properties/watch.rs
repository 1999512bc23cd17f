//! Section 5, checked from outside: from what callers were told and what `inspect` showed, without any rule of section 4.

use std::collections::BTreeMap;

use keyledger_harness::model::{Decision, Granted, Id, Model, Response, View};

use super::command::Command;
use super::stage::ids;

/// What callers and onlookers know.
#[derive(Default)]
pub(crate) struct Watch {
    /// What `inspect` showed before the command.
    shown: BTreeMap<Id, View>,
    /// Whoever was granted a claim in this process and has not ended it: fence, and until when by the monotonic clock.
    owners: BTreeMap<Id, (u64, u64)>,
    /// Outcomes that callers were told, until the end of their retention.
    told: BTreeMap<Id, Outcome>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Outcome {
    response: Response,
    failed: bool,
    until: u64,
}

impl Watch {
    pub(crate) fn before(&mut self, model: &Model) {
        self.shown = shown(model);
    }

    /// A caller of `begin` is answered.
    pub(crate) fn decided(&mut self, id: &Id, decision: &Decision, lease: u64, model: &Model) -> Result<(), String> {
        match decision {
            Decision::Acquired(granted) => {
                let state = self.shown.get(id).map(|view| view.state);
                if let Some("completed" | "failed" | "parked" | "tombstone") = state {
                    return Err(format!("I3: a claim is granted on {state:?}"));
                }
                self.owned(granted, lease, model)
            }
            Decision::Replay { response, failed, expires_at, .. } => {
                let outcome = Outcome { response: response.clone(), failed: *failed, until: *expires_at };
                match self.told.insert(id.clone(), outcome.clone()) {
                    Some(before) if before != outcome => Err(format!("I2: told {before:?}, then {outcome:?}")),
                    _ => Ok(()),
                }
            }
            Decision::InProgress { .. } | Decision::Mismatch | Decision::Parked { .. } | Decision::Gone => Ok(()),
        }
    }

    /// A recovery worker is handed a claim.
    pub(crate) fn recovered(&mut self, granted: &Granted, lease: u64, model: &Model) -> Result<(), String> {
        match self.shown.get(&granted.id).map(|view| view.state) {
            Some("in_progress" | "parked") => self.owned(granted, lease, model),
            state => Err(format!("I3: recovery is handed {state:?}")),
        }
    }

    fn owned(&mut self, granted: &Granted, lease: u64, model: &Model) -> Result<(), String> {
        let owner = (granted.fence, model.mono + lease);
        match self.owners.insert(granted.id.clone(), owner) {
            Some((fence, until)) if model.mono < until => {
                Err(format!("I1: the claim of fence {fence} lives until {until}"))
            }
            _ => Ok(()),
        }
    }

    /// A heartbeat was answered with ok.
    pub(crate) fn renewed(&mut self, id: &Id, fence: u64, lease: u64, model: &Model) {
        self.owners.insert(id.clone(), (fence, model.mono + lease));
    }

    /// A claim was settled or dropped by its owner.
    pub(crate) fn ended(&mut self, id: &Id, fence: u64) {
        if self.owners.get(id).is_some_and(|owner| owner.0 == fence) {
            self.owners.remove(id);
        }
    }

    /// P6: the owners of volatile claims have lost them.
    pub(crate) fn volatile_ended(&mut self, model: &Model) {
        self.owners.retain(|id, _| model.inspect(id).is_some());
    }

    /// The process is gone, and its owners with it.
    pub(crate) fn process_ended(&mut self) {
        self.owners.clear();
    }

    /// A person asked for it.
    pub(crate) fn forgotten(&mut self, ids: impl Fn(&Id) -> bool, model: &Model) {
        self.owners.retain(|id, _| !ids(id) || model.inspect(id).is_some());
        self.told.retain(|id, _| !ids(id));
    }

    /// After the command: I2 for what is stored, I6.
    pub(crate) fn after(&mut self, command: &Command, model: &Model) -> Result<(), String> {
        let now = shown(model);
        if matches!(command, Command::Sweep(_)) && now != self.shown {
            return Err(format!("I6: a sweep changes what is seen, from {:?} to {now:?}", self.shown));
        }
        self.told.retain(|_, outcome| model.wall < outcome.until);
        for (id, outcome) in &self.told {
            let stored = now.get(id).and_then(|view| view.response.as_ref());
            if stored != Some(&outcome.response) {
                return Err(format!("I2: {id:?} was told {outcome:?}, and {stored:?} is stored"));
            }
        }
        Ok(())
    }
}

fn shown(model: &Model) -> BTreeMap<Id, View> {
    ids().into_iter().filter_map(|id| model.inspect(&id).map(|view| (id, view))).collect()
}
