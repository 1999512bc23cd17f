//! The ledger and the model, side by side: each command is given to both, and the answers are compared.

mod claims;
mod life;
mod people;
mod rows;

use std::collections::BTreeSet;
use std::fmt::Debug;

use keyledger::{Claim, Decision, Ledger};
use keyledger_harness::model::{self, Id, Model};

use super::command::{Ask, Command, Pick};
use super::look;
use super::stage::{DECLARED, WALL_START};
use super::store::{Kind, Store};
use super::translate;
use super::watch::Watch;

/// How the two differ, in words.
pub(crate) type Verdict = Result<(), String>;

/// A claim that was granted, in the order of the grants: its place is the model's fence, less one.
pub(crate) struct Grant {
    pub(crate) id: Id,
    pub(crate) fence: u64,
    pub(crate) claim: Option<Claim>,
}

/// Both, and what has happened so far.
pub(crate) struct Driver {
    pub(super) store: Store,
    pub(super) ledger: Ledger,
    pub(super) model: Model,
    pub(super) grants: Vec<Grant>,
    pub(super) watch: Watch,
    said: Vec<String>,
    answers: BTreeSet<String>,
}

/// Runs a story and tells which kinds of answers came; the error tells all of it up to the first difference.
pub(crate) fn run(story: &[Command], kind: Kind) -> Result<BTreeSet<String>, String> {
    let mut driver = Driver::new(kind)?;
    for (number, command) in story.iter().enumerate() {
        driver.said.push(format!("{:>2}. {command:?}", number + 1));
        if let Err(difference) = driver.step(command) {
            return Err(format!("{}\n    {difference}", driver.said.join("\n")));
        }
    }
    Ok(driver.answers)
}

impl Driver {
    fn new(kind: Kind) -> Result<Self, String> {
        let store = Store::new(kind);
        let ledger = store.open().map_err(|error| error.to_string())?;
        let model = Model::new(WALL_START, 0);
        Ok(Self {
            store,
            ledger,
            model,
            grants: Vec::new(),
            watch: Watch::default(),
            said: Vec::new(),
            answers: BTreeSet::new(),
        })
    }

    fn step(&mut self, command: &Command) -> Verdict {
        self.watch.before(&self.model);
        self.apply(command)?;
        look::same_everywhere(self)?;
        self.watch.after(command, &self.model)
    }

    fn apply(&mut self, command: &Command) -> Verdict {
        match command {
            Command::Begin(ask) => self.begin(ask),
            Command::BeginMany(asks) => self.begin_many(asks),
            Command::Settle(pick, via, call) => self.settle(*pick, *via, call),
            Command::CompleteWith(pick, rows, text) => self.complete_with(*pick, rows, *text),
            Command::Transaction(rows, claim) => self.transaction(rows, *claim),
            Command::Heartbeat(pick, via, lease) => self.heartbeat(*pick, *via, *lease),
            Command::Step(pick, via, name, value) => self.record_step(*pick, *via, name, value),
            Command::Recover { declared, limit } => self.recover(*declared, *limit),
            Command::Resolve { key, fence, resolution } => self.resolve(*key, *fence, *resolution),
            Command::ResolveMany { declared, resolution } => self.resolve_many(*declared, *resolution),
            Command::Forget { key, even_if_unknown } => self.forget(*key, *even_if_unknown),
            Command::ForgetScope { scope, even_if_unknown } => self.forget_scope(*scope, *even_if_unknown),
            Command::Sweep(limit) => self.sweep(*limit),
            Command::Suspend => self.suspend(),
            Command::ReopenHandle => self.reopen_handle(),
            Command::CloseAndOpen => self.close_and_open(),
            Command::Kill(crash) => self.kill(*crash),
            Command::Drop(_) | Command::Advance(_) | Command::ToDeadline { .. } | Command::JumpWall(_) => {
                self.happen(command);
                Ok(())
            }
        }
    }

    /// What nobody answers.
    fn happen(&mut self, command: &Command) {
        match command {
            Command::Drop(pick) => self.drop_claim(*pick),
            Command::Advance(span) => self.advance(*span),
            Command::ToDeadline { nth, off } => self.advance_to_deadline(*nth, *off),
            Command::JumpWall(by) => self.jump_wall(*by),
            answered => unreachable!("{answered:?} is answered"),
        }
    }

    fn begin(&mut self, ask: &Ask) -> Verdict {
        let seen = self.ledger.begin_with(&translate::begin(ask)).map_err(|error| format!("begin: {error}"))?;
        let expected = self.model.begin(&translate::model_begin(ask));
        self.same_decision(ask, seen, &expected)
    }

    fn begin_many(&mut self, asks: &[Ask]) -> Verdict {
        let calls: Vec<keyledger::Begin> = asks.iter().map(translate::begin).collect();
        let seen = self.ledger.begin_many(&calls).map_err(|error| format!("begin_many: {error}"))?;
        let expected = self.model.begin_many(&asks.iter().map(translate::model_begin).collect::<Vec<_>>());
        self.same("number of decisions", &seen.len(), &expected.len())?;
        let pairs = seen.into_iter().zip(&expected);
        asks.iter().zip(pairs).try_for_each(|(ask, (seen, expected))| self.same_decision(ask, seen, expected))
    }

    fn same_decision(&mut self, ask: &Ask, seen: Decision, expected: &model::Decision) -> Verdict {
        let seen = match translate::decision_back(&seen) {
            Some(decision) => decision,
            None => model::Decision::Acquired(self.granted(acquired(seen))?),
        };
        self.same("decision", &seen, expected)?;
        self.answers.insert(kind(&seen));
        let id = translate::model_begin(ask).id();
        self.watch.decided(&id, &seen, DECLARED[ask.declared].lease, &self.model)
    }

    /// Notes a claim: I5, and the model's number for its fence.
    pub(super) fn granted(&mut self, claim: Claim) -> Result<model::Granted, String> {
        let fence = claim.fence();
        let highest = self.grants.last().map_or(0, |grant| grant.fence);
        if fence <= highest || fence >= 1 << 53 {
            return Err(format!("I5: fence {fence} after {highest}"));
        }
        let granted = model::Granted {
            id: translate::id_back(claim.key_id()),
            fence: self.grants.len() as u64 + 1,
            attempt: claim.attempt(),
            effect: translate::effect_back(claim.effect()),
            memo: claim.memo().to_vec(),
            steps: translate::steps_back(claim.steps()),
            first_granted_at: claim.first_granted_at_ms(),
        };
        self.grants.push(Grant { id: granted.id.clone(), fence, claim: Some(claim) });
        Ok(granted)
    }

    /// The id, the model's fence and the ledger's fence of a picked claim.
    pub(super) fn picked(&self, pick: Pick) -> (Id, u64, u64) {
        let back = match pick {
            Pick::Back(back) if !self.grants.is_empty() => back % self.grants.len(),
            Pick::Back(_) | Pick::Never => return (Id::new("ann", &DECLARED[1].name, "k1"), u64::MAX, (1 << 53) - 1),
        };
        let at = self.grants.len() - 1 - back;
        (self.grants[at].id.clone(), at as u64 + 1, self.grants[at].fence)
    }

    /// The claim object of a picked claim, if it is still held.
    pub(super) fn held(&mut self, model_fence: u64) -> Option<&mut Option<Claim>> {
        let at = usize::try_from(model_fence.checked_sub(1)?).ok()?;
        self.grants.get_mut(at).map(|grant| &mut grant.claim).filter(|claim| claim.is_some())
    }

    /// The ledger's fence for the model's.
    pub(super) fn real_fence(&self, model_fence: u64) -> u64 {
        let at = usize::try_from(model_fence - 1).unwrap_or(usize::MAX);
        self.grants.get(at).map_or((1 << 53) - 1, |grant| grant.fence)
    }

    /// The model's fence for the ledger's.
    pub(super) fn model_fence(&self, fence: u64) -> u64 {
        self.grants.iter().position(|grant| grant.fence == fence).map_or(u64::MAX, |at| at as u64 + 1)
    }

    /// Notes which kind of answer a call got, so that the test can tell what it has reached.
    pub(super) fn note<T>(&mut self, call: &str, answer: &Result<T, translate::Code>) {
        self.answers.insert(format!("{call}: {}", answer.as_ref().err().unwrap_or(&"ok")));
    }

    pub(super) fn same<T: PartialEq + Debug>(&self, what: &str, seen: &T, expected: &T) -> Verdict {
        if seen == expected {
            return Ok(());
        }
        let (wall, mono) = (self.model.wall, self.model.mono);
        Err(format!("{what} at wall {wall}, monotonic {mono}\n    ledger: {seen:?}\n    model:  {expected:?}"))
    }
}

fn acquired(decision: Decision) -> Claim {
    match decision {
        Decision::Acquired(claim) => claim,
        other => unreachable!("decision_back knows {other:?}"),
    }
}

fn kind(decision: &model::Decision) -> String {
    match decision {
        model::Decision::Acquired(granted) if granted.attempt == 1 => "acquired".into(),
        model::Decision::Acquired(granted) if granted.steps.is_empty() => "acquired again".into(),
        model::Decision::Acquired(_) => "acquired again, with steps".into(),
        model::Decision::Replay { failed: false, .. } => "replay completed".into(),
        model::Decision::Replay { failed: true, .. } => "replay failed".into(),
        model::Decision::InProgress { .. } => "in progress".into(),
        model::Decision::Mismatch => "mismatch".into(),
        model::Decision::Parked { reason: model::Reason::Handler(_), .. } => "parked by a handler".into(),
        model::Decision::Parked { reason, .. } => format!("parked: {}", reason.as_str()),
        model::Decision::Gone => "gone".into(),
    }
}
