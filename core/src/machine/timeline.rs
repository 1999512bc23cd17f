//! The outbox's own time: milliseconds that pass as the ledger's clocks say, and never go back.
//!
//! Due times, leases, windows and pauses are instants of it. Within one opening it follows the monotonic clock, whatever becomes
//! of the wall clock; between two openings it follows the wall clock, and stands still where that was set back
//! (docs/decisions/0010).

use super::record::Stamp;

/// A point of it that is on disk, and what the clocks showed there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timeline {
    pub(crate) at: u64,
    pub(crate) stamp: Stamp,
}

/// An instant: of the timeline, and as the clocks show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) at: u64,
    pub(crate) stamp: Stamp,
}

impl Timeline {
    /// It begins with the wall clock.
    pub(crate) fn begin(stamp: Stamp) -> Self {
        Self { at: stamp.wall_ms, stamp }
    }

    /// Where it is when the clocks show `stamp`.
    pub(crate) fn moment(self, stamp: Stamp) -> Moment {
        Moment { at: self.at.saturating_add(stamp.since_ms(self.stamp)), stamp }
    }
}

impl From<Moment> for Timeline {
    fn from(Moment { at, stamp }: Moment) -> Self {
        Self { at, stamp }
    }
}

impl Moment {
    /// The instant of the timeline at which the wall clock will show `wall_ms`, if nobody sets it.
    pub(crate) fn when_wall_shows(self, wall_ms: u64) -> u64 {
        match wall_ms.checked_sub(self.stamp.wall_ms) {
            Some(ahead) => self.at.saturating_add(ahead),
            None => self.at.saturating_sub(self.stamp.wall_ms - wall_ms),
        }
    }

    /// What the wall clock will show at an instant of the timeline, if nobody sets it.
    pub(crate) fn wall_at(self, at: u64) -> u64 {
        match at.checked_sub(self.at) {
            Some(ahead) => self.stamp.wall_ms.saturating_add(ahead),
            None => self.stamp.wall_ms.saturating_sub(self.at - at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(wall_ms: u64, mono_ms: u64, opening: u64) -> Stamp {
        Stamp { wall_ms, mono_ms, opening }
    }

    #[test]
    fn within_an_opening_the_wall_clock_moves_nothing() {
        let line = Timeline::begin(stamp(5000, 10, 1));
        assert_eq!(line.moment(stamp(0, 25, 1)).at, 5015);
        assert_eq!(line.moment(stamp(90_000_000, 25, 1)).at, 5015);
    }

    #[test]
    fn between_openings_it_follows_the_wall_clock_and_never_goes_back() {
        let line = Timeline::begin(stamp(5000, 10, 1));
        assert_eq!(line.moment(stamp(6000, 3, 2)).at, 6000);
        assert_eq!(line.moment(stamp(4000, 3, 2)).at, 5000);
    }

    #[test]
    fn instants_of_people_are_told_from_it_and_back() {
        let now = Timeline::begin(stamp(5000, 10, 1)).moment(stamp(1000, 20, 1));
        assert_eq!(now.at, 5010);
        assert_eq!(now.when_wall_shows(1500), 5510);
        assert_eq!(now.wall_at(5510), 1500);
        assert_eq!(now.when_wall_shows(900), 4910);
        assert_eq!(now.wall_at(4910), 900);
    }
}
