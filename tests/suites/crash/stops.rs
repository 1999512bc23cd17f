//! The machine stops at a sync, and of what was not synced any part is there, in any order, torn at 512 bytes.
//!
//! A *schedule* is a chapter of the workload, the sync at which it stops, and a seed, which says what is left and whether the
//! power goes once more while the next process opens the ledger.

use std::fmt;
use std::str::FromStr;

use keyledger_harness::disk::{Crash, Dice, FakeDisk};

use super::checks::hold_after_power_loss;
use super::workload::{CHAPTERS, starts, tell};
use super::world::{Start, World, assert_is_of_the_disk};

/// One way in which the power can go. Its text is that of `KEYLEDGER_SCHEDULE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Schedule {
    pub(crate) chapter: usize,
    pub(crate) sync: u64,
    pub(crate) seed: u64,
}

impl Schedule {
    /// Nothing is left of what was not synced.
    pub(crate) const LOSES_ALL: u64 = 0;
    /// All of it is left.
    pub(crate) const KEEPS_ALL: u64 = 1;

    fn crash(self) -> Crash {
        match self.seed {
            Schedule::LOSES_ALL => Crash::LosesAll,
            Schedule::KEEPS_ALL => Crash::KeepsAll,
            seed => Crash::KeepsSome(seed),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.chapter, self.sync, self.seed)
    }
}

impl FromStr for Schedule {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Schedule, &'static str> {
        let numbers: Option<Vec<u64>> = text.split('.').map(|number| number.parse().ok()).collect();
        let Some([chapter, sync, seed]) = numbers.as_deref() else { return Err("it is not chapter.sync.seed") };
        let chapter = usize::try_from(*chapter).ok().filter(|chapter| *chapter < CHAPTERS.len());
        let (sync, seed) = (*sync, *seed);
        Ok(Schedule { chapter: chapter.ok_or("there is no such chapter")?, sync, seed })
    }
}

/// A chapter that was stopped.
pub(crate) struct Stopped {
    disk: FakeDisk,
    left: Start,
}

/// How many syncs a chapter has when nothing goes wrong.
pub(crate) fn syncs_of(chapter: usize) -> u64 {
    let start = &starts()[chapter];
    let disk = FakeDisk::of(start.image.clone());
    let world = World::open(&disk, start.wall_ms, start.journal.clone()).expect("it opens");
    let (_, told) = tell(world, CHAPTERS[chapter]);
    told.expect("nothing fails");
    disk.counts().syncs
}

/// Tells the chapter until its `sync`-th sync; `None` if it has not so many.
pub(crate) fn stop_at(chapter: usize, sync: u64) -> Option<Stopped> {
    let start = &starts()[chapter];
    let disk = FakeDisk::of(start.image.clone());
    disk.stop_at_sync(sync);
    let (wall_ms, journal, told) = match World::open(&disk, start.wall_ms, start.journal.clone()) {
        Ok(world) => {
            let (world, told) = tell(world, CHAPTERS[chapter]);
            (world.now(), world.journal.clone(), told)
        }
        Err(error) => (start.wall_ms, start.journal.clone(), Err(error)),
    };
    if !disk.has_failed() {
        told.expect("nothing fails");
        return None;
    }
    assert_is_of_the_disk(&told.expect_err("nothing is told to be stored after the stop"));
    Some(Stopped { disk, left: Start { image: Vec::new(), wall_ms, journal } })
}

impl Stopped {
    /// What the schedule leaves.
    pub(crate) fn image(&self, schedule: Schedule) -> Vec<u8> {
        let image = self.disk.crash(schedule.crash());
        let mut dice = Dice::at(schedule.seed, &[2]);
        if schedule.seed > Schedule::KEEPS_ALL && dice.below(4) == 0 {
            let stop = 1 + dice.below(4) as u64;
            return self.stop_again(image.clone(), stop, Crash::KeepsSome(dice.roll())).unwrap_or(image);
        }
        image
    }

    /// I1 to I9 hold for the next process. Where all was kept or all lost, the power goes once more at each sync of opening.
    pub(crate) fn hold(&self, schedule: Schedule, image: Vec<u8>) {
        if schedule.seed <= Schedule::KEEPS_ALL {
            self.hold_when_opening_stops(&image);
        }
        hold_after_power_loss(Start { image, ..self.left.clone() });
    }

    fn hold_when_opening_stops(&self, image: &[u8]) {
        for stop in 1.. {
            for crash in [Crash::LosesAll, Crash::KeepsSome(stop)] {
                let Some(image) = self.stop_again(image.to_vec(), stop, crash) else { return };
                let next = self.open(&FakeDisk::of(image));
                next.expect("it is not refused").compare().expect("it can be read");
            }
        }
    }

    /// The power goes once more, at the `stop`-th sync of opening; `None` if opening has not so many.
    fn stop_again(&self, image: Vec<u8>, stop: u64, crash: Crash) -> Option<Vec<u8>> {
        let disk = FakeDisk::of(image);
        disk.stop_at_sync(stop);
        match self.open(&disk) {
            Ok(_) => None,
            Err(error) => {
                assert_is_of_the_disk(&error);
                Some(disk.crash(crash))
            }
        }
    }

    fn open(&self, disk: &FakeDisk) -> Result<World, keyledger::Error> {
        World::open(disk, self.left.wall_ms, self.left.journal.clone())
    }
}
