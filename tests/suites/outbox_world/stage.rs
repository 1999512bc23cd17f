//! The outbox, everybody around it, and what they do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use keyledger::{
    Cancel, Clock, Delivery, DeliveryOutcome, Enqueue, EntryFilter, EntryId, EntryResolution, EntryStateName,
    EntryView, Error, Lane, Ledger, ManualClock, OnStuckHead, Outbox, Response, Scope, SeededEntropy,
};
use keyledger_harness::disk::{Crash, FakeDisk};

use crate::command::{Command, Network};
use crate::judge;
use crate::lookout;
use crate::server::Server;

pub(crate) const LEASE_MS: u64 = 2_000;
pub(crate) const WINDOW_MS: u64 = 10_000;
pub(crate) const MAX_TRIES: u32 = 3;
pub(crate) const LANES: [&str; 3] = ["default", "strict", "lax"];
const SCOPES: [&str; 2] = ["ada", "bob"];

/// A delivery that is out, and what came back.
pub(crate) struct Flight {
    pub(crate) delivery: Delivery,
    pub(crate) answer: Option<DeliveryOutcome>,
    lease_end: u64,
}

/// What an entry was when it was made.
pub(crate) struct Made {
    pub(crate) scope: String,
    pub(crate) lane: String,
    pub(crate) purpose: String,
    pub(crate) key: String,
    pub(crate) request: Vec<u8>,
}

pub(crate) struct Stage {
    pub(crate) clock: ManualClock,
    disk: FakeDisk,
    pub(crate) ledger: Ledger,
    pub(crate) outbox: Outbox,
    seed: u64,
    /// The world's own clock: what truly passes.
    pub(crate) now: u64,
    pub(crate) server: Server,
    pub(crate) flights: Vec<Flight>,
    pub(crate) made: BTreeMap<EntryId, Made>,
    pub(crate) reached: BTreeSet<String>,
}

pub(crate) fn open(disk: &FakeDisk, clock: &ManualClock, seed: u64) -> (Ledger, Outbox) {
    let builder = Ledger::builder().clock(clock.clone()).entropy(SeededEntropy::new(seed));
    let ledger = builder.open_disk(Arc::new(disk.clone())).unwrap();
    let outbox = ledger
        .outbox()
        .lease(Duration::from_millis(LEASE_MS))
        .backoff(Duration::from_millis(400), Duration::from_secs(3), 2)
        .max_tries(MAX_TRIES)
        .max_age(Duration::from_secs(40))
        .resend_window(Duration::from_millis(WINDOW_MS))
        .purpose_retention(Duration::from_secs(8))
        .retention(Duration::from_mins(1))
        .retry_budget(2, Duration::from_secs(2))
        .bounds(7, 1_000)
        .lane(Lane::ordered(LANES[1]))
        .lane(Lane::ordered(LANES[2]).on_stuck_head(OnStuckHead::Skip))
        .open()
        .unwrap();
    (ledger, outbox)
}

pub(crate) fn scope(number: usize) -> Scope {
    Scope::new(SCOPES[number]).unwrap()
}

impl Stage {
    pub(crate) fn new(seed: u64) -> Self {
        let (clock, disk) = (ManualClock::new(1_000_000_000), FakeDisk::new());
        let (ledger, outbox) = open(&disk, &clock, seed);
        Self {
            clock,
            disk,
            ledger,
            outbox,
            seed,
            now: 0,
            server: Server::default(),
            flights: Vec::new(),
            made: BTreeMap::new(),
            reached: BTreeSet::new(),
        }
    }

    pub(crate) fn reach(&mut self, what: &str) {
        self.reached.insert(what.to_owned());
    }

    pub(crate) fn entries(&self) -> Vec<EntryView> {
        self.outbox.list(&EntryFilter::all().limit(1000)).unwrap().entries
    }

    pub(crate) fn entry(&self, id: EntryId) -> EntryView {
        self.outbox.get(id).unwrap().expect("an entry that was listed is there")
    }

    pub(crate) fn step(&mut self, command: &Command) -> Result<(), String> {
        self.act(command)?;
        judge::everything(self)
    }

    pub(crate) fn end(&mut self) -> Result<(), String> {
        let check = self.ledger.check().unwrap();
        if check.is_well() { Ok(()) } else { Err(format!("{:?}", check.faults)) }
    }

    fn act(&mut self, command: &Command) -> Result<(), String> {
        match command {
            Command::Press { .. } => self.press(command),
            Command::Pass { ms } => {
                self.pass(*ms);
                Ok(())
            }
            Command::SleepUntilWakeup { scope: number } => lookout::sleep(self, &scope(*number)),
            Command::SetWall { by_ms } => {
                self.clock.jump_wall(*by_ms);
                Ok(())
            }
            Command::Lease { scope: number, limit } => self.lease(&scope(*number), *limit),
            Command::Send { delivery, what } => self.send(*delivery, *what),
            Command::Tell { delivery } => self.tell(*delivery),
            Command::Try { scope: number, what } => self.whole_try(&scope(*number), *what),
            Command::Drop { delivery } => {
                if let Some(at) = self.chosen(*delivery) {
                    drop(self.flights.remove(at));
                }
                Ok(())
            }
            Command::Kill => {
                self.begin_again(self.disk.shown());
                Ok(())
            }
            Command::LosePower { seed } => {
                self.reach("power lost");
                self.begin_again(self.disk.crash(Crash::KeepsSome(*seed)));
                self.end()
            }
            Command::Sweep => {
                self.ledger.sweep(100).unwrap();
                Ok(())
            }
            Command::Resume { scope: number } => {
                self.outbox.resume(&scope(*number)).unwrap();
                judge::resumed(self, &scope(*number))
            }
            Command::Cancel { entry }
            | Command::ResumeEntry { entry }
            | Command::Requeue { entry }
            | Command::Dismiss { entry }
            | Command::Resolve { entry, .. } => {
                let entries = self.entries();
                let Some(entry) = entries.get(entry % entries.len().max(1)) else { return Ok(()) };
                self.decide(command, entry)
            }
        }
    }

    pub(crate) fn pass(&mut self, ms: u64) {
        self.now += ms;
        self.clock.advance(Duration::from_millis(ms));
    }

    fn press(&mut self, command: &Command) -> Result<(), String> {
        let Command::Press { scope: number, lane, purpose, amount, send_by, again } = command else { return Ok(()) };
        let (scope, lane, purpose) = (scope(*number), LANES[*lane], format!("purpose {purpose}"));
        let mut enqueue =
            Enqueue::new(&scope, "pay", "text/plain", format!("{purpose}, {amount}")).purpose(&*purpose).lane(lane);
        if *send_by {
            enqueue = enqueue.send_by_ms(self.clock.wall_ms() + 1_500);
        }
        if *again {
            enqueue = enqueue.even_if_answered();
        }
        match self.outbox.enqueue(&enqueue) {
            Ok(enqueued) if enqueued.created => self.made(&enqueued.entry),
            Ok(_) => {
                self.reach("purpose found");
                Ok(())
            }
            Err(Error::PurposeConflict(_)) => {
                self.reach("purpose conflict");
                Ok(())
            }
            Err(Error::OutboxFull { .. }) => {
                self.reach("outbox full");
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// A new entry: no other of its purpose may have taken effect without the user having been told.
    fn made(&mut self, entry: &EntryView) -> Result<(), String> {
        let (_, request) = self.outbox.request(entry.id()).unwrap().unwrap();
        let made = Made {
            scope: entry.scope().as_str().to_owned(),
            lane: entry.lane().to_owned(),
            purpose: entry.purpose().unwrap_or_default().to_owned(),
            key: entry.key().as_str().to_owned(),
            request,
        };
        let verdict = judge::new_entry(self, entry.id(), &made);
        self.made.insert(entry.id(), made);
        verdict
    }

    pub(crate) fn lease(&mut self, scope: &Scope, limit: usize) -> Result<(), String> {
        let (before, budget) = (self.entries(), self.outbox.stats().unwrap().budget);
        let deliveries = self.outbox.lease_due(scope, limit).unwrap();
        judge::within_budget(budget, &before, &deliveries)?;
        judge::leased(self, scope, &before, &deliveries)?;
        if deliveries.len() < limit {
            let wakeup = self.outbox.next_wakeup(scope).unwrap();
            if wakeup.is_some_and(|at| at <= self.clock.wall_ms()) {
                return Err(format!("O11: handed out less than its limit, and next_wakeup is {wakeup:?}"));
            }
        }
        for delivery in deliveries {
            let lease_end = self.now + u64::try_from(delivery.lease_left().as_millis()).unwrap();
            self.flights.push(Flight { delivery, answer: None, lease_end });
        }
        Ok(())
    }

    fn whole_try(&mut self, scope: &Scope, what: Network) -> Result<(), String> {
        lookout::sleep(self, scope)?;
        for flight in 0..self.flights.len() {
            self.send(flight, what)?;
        }
        for flight in (0..self.flights.len()).rev() {
            self.tell(flight)?;
        }
        Ok(())
    }

    fn chosen(&self, number: usize) -> Option<usize> {
        (!self.flights.is_empty()).then(|| number % self.flights.len())
    }

    /// The transport sends, unless it has already, or the lease is over.
    fn send(&mut self, number: usize, what: Network) -> Result<(), String> {
        let Some(at) = self.chosen(number) else { return Ok(()) };
        let flight = &self.flights[at];
        if flight.answer.is_some() || self.now >= flight.lease_end || flight.delivery.lease_left().is_zero() {
            return Ok(());
        }
        let (id, key) = (flight.delivery.id(), flight.delivery.key().as_str().to_owned());
        if flight.delivery.request() != self.made[&id].request || key != self.made[&id].key {
            return Err("O2: key or request is another one".into());
        }
        if matches!(what, Network::Acts | Network::LosesAnswer) {
            judge::acts(self, id)?;
            self.server.receive(&key, self.now, WINDOW_MS)?;
        }
        self.flights[at].answer = Some(answer(what));
        Ok(())
    }

    fn tell(&mut self, number: usize) -> Result<(), String> {
        let Some(at) = self.chosen(number) else { return Ok(()) };
        if self.flights[at].answer.is_none() {
            return Ok(());
        }
        let Flight { delivery, answer, .. } = self.flights.remove(at);
        let Some(answer) = answer else { return Ok(()) };
        let before = self.entry_if_there(delivery.id());
        let fence = delivery.fence();
        match delivery.settle(answer.clone()) {
            Ok(()) => {
                let was_own =
                    before.is_some_and(|entry| entry.fence() == fence && entry.state() == EntryStateName::Sending);
                if was_own {
                    return Ok(());
                }
                self.reach("late yes");
                if answer.as_str() == "yes" { Ok(()) } else { Err(format!("O5: a late {} counts", answer.as_str())) }
            }
            Err(error) if matches!(error.source, Error::ClaimLost) => {
                self.reach("claim lost");
                judge::lost(before.as_ref(), &answer)
            }
            Err(error) => Err(error.to_string()),
        }
    }

    fn entry_if_there(&self, id: EntryId) -> Option<EntryView> {
        self.outbox.get(id).unwrap()
    }

    fn decide(&mut self, command: &Command, entry: &EntryView) -> Result<(), String> {
        let id = entry.id();
        let done = self.server.has_acted(entry.key().as_str());
        let ended = match command {
            Command::Cancel { .. } => match self.outbox.cancel(id) {
                Ok(Cancel::Cancelled(_)) if done => return Err("O10: cancelled, and it took effect".into()),
                Ok(Cancel::Cancelled(_)) => Ok("cancelled"),
                Ok(Cancel::TooLate(after))
                    if after.state() != EntryStateName::Answered && !after.may_have_taken_effect() =>
                {
                    return Err("O10: too late is told of one that cannot have taken effect".into());
                }
                Ok(Cancel::TooLate(_)) => Ok("too late"),
                Err(error) => Err(error),
            },
            Command::ResumeEntry { .. } => self.outbox.resume_entry(id).map(|_| "resumed"),
            Command::Requeue { .. } => self.outbox.requeue(id).map(|_| "requeued"),
            // A person gives up only what has not taken effect, as far as this world goes.
            Command::Dismiss { .. } if done => Ok("not dismissed"),
            Command::Dismiss { .. } => self.outbox.dismiss(id, "ada", "never mind").map(|_| "dismissed"),
            Command::Resolve { resend, .. } => self.resolve(entry, done, *resend)?,
            _ => Ok("nothing"),
        };
        match ended {
            Ok(what) => self.reach(what),
            Err(Error::PurposeConflict(_)) => self.reach("requeue conflict"),
            Err(Error::WrongState { .. } | Error::OutboxFull { .. }) => {}
            Err(error) => return Err(error.to_string()),
        }
        Ok(())
    }

    /// O7: somebody has found out the truth.
    fn resolve(&mut self, entry: &EntryView, done: bool, resend: bool) -> Result<Result<&'static str, Error>, String> {
        let (id, resolution) = match (done, resend) {
            (true, _) => (entry.id(), EntryResolution::Yes(Response::text("found out"))),
            (false, true) => (entry.id(), EntryResolution::Resend),
            (false, false) => (entry.id(), EntryResolution::Dead),
        };
        match self.outbox.resolve(id, resolution.clone(), "ada", "asked the bank") {
            Ok(after) if resolution == EntryResolution::Resend => {
                let again = self.outbox.resolve(id, resolution, "ada", "asked the bank").unwrap();
                if again.id() != after.id() || self.entry(id).successor() != Some(after.id()) {
                    return Err("O7: resend asked twice is two entries".into());
                }
                if self.made.contains_key(&after.id()) {
                    Ok(Ok("resent"))
                } else {
                    self.made(&after).map(|()| Ok("resent"))
                }
            }
            Ok(_) => Ok(Ok("resolved")),
            Err(error) => Ok(Err(error)),
        }
    }

    /// Another process opens the file.
    fn begin_again(&mut self, image: Vec<u8>) {
        // Whoever is killed drops nothing.
        self.flights.drain(..).for_each(|flight| std::mem::forget(flight.delivery));
        self.seed = self.seed.wrapping_add(1);
        self.disk = FakeDisk::of(image);
        (self.ledger, self.outbox) = open(&self.disk, &self.clock, self.seed);
    }
}

/// What the transport makes of it.
fn answer(what: Network) -> DeliveryOutcome {
    match what {
        Network::Acts => DeliveryOutcome::yes(Response::text("done")),
        Network::LosesRequest | Network::LosesAnswer => DeliveryOutcome::retry("no answer"),
        Network::GatewaySaysNo => DeliveryOutcome::no(Response::text("no such page")),
        Network::NotAuthorised => DeliveryOutcome::hold_lane("401"),
        Network::Forbidden => DeliveryOutcome::hold_entry("403"),
        Network::TooMany => DeliveryOutcome::retry("429").not_taken().not_before(Duration::from_secs(1)).pausing_lane(),
        Network::Busy => DeliveryOutcome::retry("503").not_before(Duration::from_millis(700)),
        Network::InProgress => DeliveryOutcome::retry("409 in progress").not_counted(),
        Network::NoConnection => DeliveryOutcome::retry("no connection").not_taken(),
        Network::GivesUp => DeliveryOutcome::dead("no such host"),
        Network::CannotTell => DeliveryOutcome::unknown("409 parked"),
    }
}
