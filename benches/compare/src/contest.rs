//! One question asked of two sides, round after round.

use crate::callers::Side;
use anyhow::Result;
use std::time::Duration;

/// Two sides under the same load, and what they did in each round.
pub(crate) struct Contest {
    pub(crate) name: &'static str,
    /// The least ratio that is good enough, where there is a bar.
    pub(crate) threshold: Option<f64>,
    ours: Side,
    theirs: Side,
    pub(crate) our_rates: Vec<f64>,
    pub(crate) their_rates: Vec<f64>,
}

impl Contest {
    pub(crate) fn new(name: &'static str, threshold: Option<f64>, ours: Side, theirs: Side) -> Self {
        Self { name, threshold, ours, theirs, our_rates: Vec::new(), their_rates: Vec::new() }
    }

    /// One round: a slice for each; who goes first changes from round to round.
    pub(crate) fn play(&mut self, round: usize, slice: Duration) -> Result<()> {
        if round.is_multiple_of(2) {
            self.our_rates.push(self.ours.rate(slice)?);
            self.their_rates.push(self.theirs.rate(slice)?);
        } else {
            self.their_rates.push(self.theirs.rate(slice)?);
            self.our_rates.push(self.ours.rate(slice)?);
        }
        Ok(())
    }

    /// Our median over theirs.
    pub(crate) fn ratio(&self) -> f64 {
        median(&self.our_rates) / median(&self.their_rates)
    }

    /// Whether the ratio reaches the bar, if there is one.
    pub(crate) fn is_held(&self) -> bool {
        self.threshold.is_none_or(|threshold| self.ratio() >= threshold)
    }
}

/// The middle of the figures; of an even number of them, the upper one of the middle two.
pub(crate) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::{Contest, Side, median};

    fn contest(ours: &[f64], theirs: &[f64]) -> Contest {
        let mut contest = Contest::new("x", Some(2.0), Side::new(Vec::new()), Side::new(Vec::new()));
        contest.our_rates = ours.to_vec();
        contest.their_rates = theirs.to_vec();
        contest
    }

    #[test]
    fn the_median_is_the_middle_in_any_order() {
        assert!((median(&[9.0, 1.0, 5.0]) - 5.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_ratio_below_its_threshold_is_not_held() {
        assert!(contest(&[4.0], &[2.0]).is_held());
        assert!(!contest(&[3.9], &[2.0]).is_held());
        assert!(!contest(&[], &[]).is_held());
    }
}
