//! The search for an order of the calls (Wing and Gong), key id by key id, that looks at each pair of "which calls are done" and
//! "what that has made of the key id" once.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::Act;
use super::spec::Spec;
use crate::model::Id;

/// Calls about one key id that no order explains.
#[derive(Debug)]
pub struct Unexplained {
    /// All of them, in the order of their beginnings.
    pub acts: Vec<Act>,
    /// The longest explanation that there is leaves these out, by their place in `acts`.
    pub left: Vec<usize>,
}

/// How many acts are told in full around the place where the explanation ends.
const TOLD_MAX: usize = 12;

impl fmt::Display for Unexplained {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.left.first().copied().unwrap_or(0).saturating_sub(TOLD_MAX);
        writeln!(out, "no order explains {} calls; * are those left over at the best one:", self.acts.len())?;
        for (place, act) in self.acts.iter().enumerate().skip(first).take(3 * TOLD_MAX) {
            let mark = if self.left.contains(&place) { '*' } else { ' ' };
            writeln!(out, "{mark} {place}: {act:?}")?;
        }
        Ok(())
    }
}

/// Whether the history is linearizable. `slack_ms`: how far the clocks of those who took part may have been apart.
///
/// # Errors
/// The calls about one key id that no order explains.
pub fn check(acts: &[Act], slack_ms: u64) -> Result<(), Box<Unexplained>> {
    let mut by_id: BTreeMap<&Id, Vec<Act>> = BTreeMap::new();
    for act in acts {
        let clock = (act.clock.0.saturating_sub(slack_ms), act.clock.1.saturating_add(slack_ms));
        by_id.entry(&act.id).or_default().push(Act { clock, ..act.clone() });
    }
    // Whoever sees another process's calls shares the ledger with it.
    let is_shared = acts.iter().any(|act| act.by.0 != acts[0].by.0);
    by_id.into_values().try_for_each(|mut acts| {
        acts.sort_by_key(|act| act.span);
        explain(&acts, is_shared).map_err(|left| Box::new(Unexplained { acts, left }))
    })
}

/// Some of the calls, done in some order.
#[derive(Clone)]
struct Done {
    calls: Calls,
    /// All calls before this one are done.
    whole: usize,
    spec: Spec,
}

/// A set of calls, by their places.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Calls(Vec<u64>);

impl Calls {
    fn none_of(count: usize) -> Calls {
        Calls(vec![0; count.div_ceil(64)])
    }

    fn has(&self, place: usize) -> bool {
        self.0[place / 64] & (1 << (place % 64)) != 0
    }

    fn add(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

fn explain(acts: &[Act], is_shared: bool) -> Result<(), Vec<usize>> {
    let mut known: HashMap<Calls, Vec<Spec>> = HashMap::new();
    let mut best = Calls::none_of(acts.len());
    let mut waiting = vec![Done { calls: best.clone(), whole: 0, spec: Spec::new(is_shared) }];
    while let Some(done) = waiting.pop() {
        let is_left = |place: &usize| acts[*place].answer.is_some() && !done.calls.has(*place);
        if (done.whole..acts.len()).all(|place| !is_left(&place)) {
            return Ok(());
        }
        if done.calls.count() > best.count() {
            best = done.calls.clone();
        }
        for next in done.successors(acts) {
            let specs = known.entry(next.calls.clone()).or_default();
            if !specs.contains(&next.spec) {
                specs.push(next.spec.clone());
                waiting.push(next);
            }
        }
    }
    Err((0..acts.len()).filter(|place| !best.has(*place)).collect())
}

impl Done {
    fn successors(&self, acts: &[Act]) -> Vec<Done> {
        let mut successors = Vec::new();
        for place in self.next(acts) {
            for spec in self.spec.after(&acts[place]) {
                let is_told_and_changes_nothing = acts[place].answer.is_some() && spec == self.spec;
                let successor = self.with(place, spec);
                if is_told_and_changes_nothing {
                    // Whatever comes after can come after this as well.
                    return vec![successor];
                }
                successors.push(successor);
            }
        }
        successors
    }

    /// Calls that may come next: they began before any that is left had ended.
    fn next(&self, acts: &[Act]) -> Vec<usize> {
        let left = (self.whole..acts.len()).filter(|place| !self.calls.has(*place));
        let (mut next, mut first_end) = (Vec::new(), u64::MAX);
        for place in left {
            if acts[place].span.0 > first_end {
                break;
            }
            first_end = first_end.min(acts[place].span.1);
            next.push(place);
        }
        next
    }

    fn with(&self, place: usize, spec: Spec) -> Done {
        let (mut calls, mut whole) = (self.calls.clone(), self.whole);
        calls.add(place);
        let places = calls.0.len() * 64;
        while whole < places && calls.has(whole) {
            whole += 1;
        }
        Done { calls, whole, spec }
    }
}
