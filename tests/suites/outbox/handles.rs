//! Several handles of one outbox, opened with different settings, among people, restarts and a clock that is set (O4, O9 to O11, I7).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use keyledger::{
    Delivery, DeliveryOutcome, Enqueue, EntryFilter, EntryId, EntryResolution, EntryStateName, Lane, OnStuckHead,
    Outbox, Response,
};
use keyledger_harness::disk::Dice;

use crate::stage::{START_MS, Stage};

const STORIES: u64 = 60;
const STEPS: usize = 120;
const LANES: [&str; 3] = ["default", "line", "row"];

struct World {
    stage: Stage,
    dice: Dice,
    handles: Vec<Outbox>,
    /// The lanes that are ordered, by their last declaration.
    ordered: BTreeSet<&'static str>,
    out: Vec<Delivery>,
    /// The entries that took effect.
    done: BTreeSet<EntryId>,
    keys: BTreeMap<EntryId, String>,
}

impl World {
    fn new(seed: u64) -> Self {
        let stage = Stage::new();
        let (dice, handles, out) = (Dice::new(seed), Vec::new(), Vec::new());
        let (ordered, done, keys) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
        let mut world = Self { stage, dice, handles, ordered, out, done, keys };
        world.open();
        world
    }

    fn flip(&mut self) -> bool {
        self.dice.below(2) == 0
    }

    fn seconds(&mut self, below: usize) -> Duration {
        Duration::from_secs(self.dice.below(below) as u64)
    }

    fn any(&mut self) -> Outbox {
        let at = self.dice.below(self.handles.len());
        self.handles[at].clone()
    }

    fn open(&mut self) {
        let mut opening = self.stage.ledger.outbox();
        for lane in ["line", "row"] {
            let declared = match self.dice.below(3) {
                0 => Lane::unordered(lane),
                1 => Lane::ordered(lane).on_stuck_head(OnStuckHead::Skip),
                _ => Lane::ordered(lane),
            };
            if declared == Lane::unordered(lane) {
                self.ordered.remove(lane);
            } else {
                self.ordered.insert(lane);
            }
            opening = opening.lane(declared);
        }
        let (lease, window, age) = (self.seconds(90), self.seconds(600), self.seconds(4000));
        let tries = 1 + u32::try_from(self.dice.below(6)).unwrap();
        let budget = u32::try_from(self.dice.below(5)).unwrap();
        let refill = self.seconds(3);
        opening = opening
            .lease(lease + Duration::from_secs(1))
            .resend_window(window + Duration::from_secs(1))
            .max_tries(tries);
        opening =
            opening.retry_budget(budget, refill).retention(self.seconds(900)).purpose_retention(self.seconds(300));
        if self.flip() {
            opening = opening.max_age(age);
        }
        self.handles.push(opening.open().unwrap());
    }

    fn enqueue(&mut self) {
        let lane = LANES[self.dice.below(3)];
        let mut enqueue = Enqueue::new(&self.stage.scope, "pay", "", "request").lane(lane);
        if self.flip() {
            enqueue = enqueue.purpose(self.dice.below(3).to_string());
        }
        if self.dice.below(4) == 0 {
            let by = self.stage.now_ms() + 1000 * self.dice.below(100) as u64;
            enqueue = enqueue.send_by_ms(by);
        }
        let entry = self.any().enqueue(&enqueue).unwrap().entry;
        self.keys.entry(entry.id()).or_insert_with(|| entry.key().as_str().to_owned());
    }

    fn lease(&mut self) {
        let (handle, limit) = (self.any(), 1 + self.dice.below(4));
        let due = handle.lease_due(&self.stage.scope, limit).unwrap();
        if due.len() < limit {
            let wakes_at = handle.next_wakeup(&self.stage.scope).unwrap();
            assert!(wakes_at.is_none_or(|at| at > self.stage.now_ms()), "O11: it spins");
        }
        for delivery in due {
            assert_eq!(self.keys[&delivery.id()], delivery.key().as_str(), "O2");
            self.judge_lane(&delivery);
            if self.flip() {
                self.done.insert(delivery.id());
            }
            self.out.push(delivery);
        }
    }

    /// O4: in an ordered lane one in flight.
    fn judge_lane(&self, new: &Delivery) {
        let lane = new.entry().lane();
        for other in self.out.iter().filter(|other| other.entry().lane() == lane && self.ordered.contains(lane)) {
            let entry = self.stage.outbox.get(other.id()).unwrap();
            let is_its_own =
                entry.is_some_and(|entry| entry.state() == EntryStateName::Sending && entry.fence() == other.fence());
            assert!(!is_its_own || other.lease_left().is_zero(), "O4: two in flight in {lane}");
        }
    }

    fn settle(&mut self) {
        if self.out.is_empty() {
            return;
        }
        let at = self.dice.below(self.out.len());
        let delivery = self.out.swap_remove(at);
        let is_done = self.done.contains(&delivery.id());
        let after = self.seconds(100);
        let outcome = match self.dice.below(11) {
            0..=2 if is_done => DeliveryOutcome::yes(Response::text("done")),
            0 | 1 => DeliveryOutcome::no(Response::text("no")),
            2 if !is_done => DeliveryOutcome::dead("no such account"),
            3 => DeliveryOutcome::retry("503").not_before(after).pausing_lane(),
            4 => DeliveryOutcome::retry("409").not_counted().key_expires_after(after),
            5 => DeliveryOutcome::unknown("parked"),
            6 if !is_done => DeliveryOutcome::retry("429").not_taken().not_before(after),
            7 if !is_done => DeliveryOutcome::hold_lane("401"),
            8 if !is_done => DeliveryOutcome::hold_entry("403"),
            9 => return drop(delivery),
            _ => DeliveryOutcome::retry("reset"),
        };
        let _ = self.any().settle(&delivery.report(outcome));
    }

    fn decide(&mut self) {
        let handle = self.any();
        let entries = handle.list(&EntryFilter::all().limit(1000)).unwrap().entries;
        if entries.is_empty() {
            return;
        }
        let id = entries[self.dice.below(entries.len())].id();
        let is_done = self.done.contains(&id);
        let resolution = match self.dice.below(3) {
            _ if is_done => EntryResolution::Yes(Response::text("found")),
            0 => EntryResolution::Dead,
            1 => EntryResolution::No(Response::text("no")),
            _ => EntryResolution::Resend,
        };
        match self.dice.below(7) {
            0 => drop(handle.cancel(id)),
            1 => drop(handle.requeue(id)),
            2 if !is_done => drop(handle.dismiss(id, "ada", "")),
            3 => drop(handle.resume_entry(id)),
            4 => drop(handle.resume(&self.stage.scope)),
            _ => {
                if let Ok(entry) = handle.resolve(id, resolution, "ada", "") {
                    self.keys.entry(entry.id()).or_insert_with(|| entry.key().as_str().to_owned());
                }
            }
        }
    }

    fn restart(&mut self) {
        self.out.clear();
        self.handles.clear();
        self.stage.ledger.close().unwrap();
        self.stage = Stage::on(self.stage.disk.clone(), self.stage.clock.clone());
        self.open();
    }

    fn step(&mut self) {
        match self.dice.below(20) {
            0..=3 => self.enqueue(),
            4..=8 => self.lease(),
            9..=12 => self.settle(),
            13 | 14 => self.decide(),
            15 => {
                let span = self.seconds(60);
                self.stage.pass(span);
            }
            16 => {
                let span = self.seconds(2000);
                self.stage.pass(span);
            }
            17 => {
                let by = i64::try_from(self.dice.below(10_000_000)).unwrap() - 5_000_000;
                self.stage.clock.jump_wall(by);
            }
            18 if self.flip() => self.open(),
            18 if self.flip() => self.restart(),
            _ => drop(self.stage.ledger.sweep(100).unwrap()),
        }
        self.judge();
    }

    /// O9, O10: what took effect is told dead, cancelled or answered with a no to nobody.
    fn judge(&self) {
        let entries = self.stage.outbox.list(&EntryFilter::all().limit(1000)).unwrap().entries;
        for entry in &entries {
            assert_eq!(self.keys.get(&entry.id()).map(String::as_str), Some(entry.key().as_str()), "O2");
            if entry.is_settled() {
                assert_eq!(entry.is_yes(), self.done.contains(&entry.id()), "O9: {entry:?}");
            }
        }
    }

    fn check(&self) {
        let faults = self.stage.ledger.check().unwrap().faults;
        assert!(faults.is_empty(), "I7: {faults:?}");
    }
}

#[test]
fn o4_o9_o11_handles_of_different_settings_keep_one_outbox_whole() {
    for seed in 0..STORIES {
        let mut world = World::new(seed + START_MS);
        for step in 0..STEPS {
            world.step();
            if step % 10 == 0 {
                world.check();
            }
        }
    }
}
