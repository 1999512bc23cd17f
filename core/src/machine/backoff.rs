//! When to try again: backoff with full jitter, and the budget that keeps an outage from becoming a storm (O6).

/// How the wait grows from try to try. Milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Backoff {
    pub(crate) base_ms: u64,
    pub(crate) cap_ms: u64,
    pub(crate) multiplier: u32,
    /// Off for tests alone: what happens without it is shown in docs/backoff.svg.
    pub(crate) jitter: bool,
}

impl Backoff {
    /// The longest wait after try number `tries`, counted from 1: base times multiplier to the power of the tries before, up to
    /// the cap.
    pub(crate) fn ceiling_ms(self, tries: u32) -> u64 {
        let factor = u64::from(self.multiplier).saturating_pow(tries.saturating_sub(1));
        self.base_ms.saturating_mul(factor).min(self.cap_ms)
    }

    /// The wait after try number `tries`: any span up to its ceiling is as likely as any other ("full jitter": Brooker,
    /// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015). `roll` is a random number.
    pub(crate) fn wait_ms(self, tries: u32, roll: u64) -> u64 {
        let ceiling = self.ceiling_ms(tries);
        if !self.jitter {
            return ceiling;
        }
        // The high half of the product is even over 0..=ceiling, but for parts in 2^64 / ceiling.
        let spread = u128::from(roll) * (u128::from(ceiling) + 1);
        u64::try_from(spread >> 64).unwrap_or(ceiling)
    }
}

/// What the budget was opened with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BudgetTerms {
    /// Retries that a full budget holds.
    pub(crate) capacity: u32,
    /// How long it takes to refill by one.
    pub(crate) refill_ms: u64,
}

/// A token bucket: a retry takes one, time and success give one back. First tries are free of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    pub(crate) tokens: u32,
    /// Since when the time runs that gives the next one.
    pub(crate) since: u64,
}

impl Budget {
    pub(crate) fn full(terms: BudgetTerms, now: u64) -> Self {
        Self { tokens: terms.capacity, since: now }
    }

    /// What time has given by `now`.
    pub(crate) fn at(self, terms: BudgetTerms, now: u64) -> Self {
        let given = now.saturating_sub(self.since).checked_div(terms.refill_ms).unwrap_or(u64::MAX);
        let tokens = given.saturating_add(u64::from(self.tokens)).min(u64::from(terms.capacity));
        let is_full = tokens == u64::from(terms.capacity);
        let since = if is_full { now } else { self.since.saturating_add(given.saturating_mul(terms.refill_ms)) };
        Self { tokens: u32::try_from(tokens).unwrap_or(terms.capacity), since }
    }

    /// One less, if there is one.
    pub(crate) fn take(self) -> Option<Self> {
        Some(Self { tokens: self.tokens.checked_sub(1)?, since: self.since })
    }

    /// One more, for a success.
    pub(crate) fn refill(self, terms: BudgetTerms) -> Self {
        Self { tokens: self.tokens.saturating_add(1).min(terms.capacity), since: self.since }
    }

    /// From when on a retry may be handed out; `None`: never.
    pub(crate) fn next_at(self, terms: BudgetTerms, now: u64) -> Option<u64> {
        let counts = self.at(terms, now);
        match (counts.tokens, terms.capacity) {
            (_, 0) => None,
            (0, _) => Some(counts.since.saturating_add(terms.refill_ms)),
            _ => Some(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff = Backoff { base_ms: 1000, cap_ms: 300_000, multiplier: 2, jitter: true };
    const TERMS: BudgetTerms = BudgetTerms { capacity: 3, refill_ms: 1000 };

    #[test]
    fn o6_the_ceiling_doubles_up_to_the_cap() {
        let ceilings: Vec<u64> = [1, 2, 3, 9, 10, 64, u32::MAX].map(|tries| BACKOFF.ceiling_ms(tries)).into();
        assert_eq!(ceilings, [1000, 2000, 4000, 256_000, 300_000, 300_000, 300_000]);
    }

    #[test]
    fn o6_jitter_is_full() {
        assert_eq!(BACKOFF.wait_ms(1, 0), 0);
        assert_eq!(BACKOFF.wait_ms(1, u64::MAX), 1000);
        assert_eq!(BACKOFF.wait_ms(1, u64::MAX / 2), 500);
        assert_eq!(Backoff { jitter: false, ..BACKOFF }.wait_ms(3, 1), 4000);
        let vast = Backoff { base_ms: u64::MAX, cap_ms: u64::MAX, ..BACKOFF };
        assert_eq!(vast.wait_ms(9, u64::MAX), u64::MAX);
    }

    #[test]
    fn o6_the_budget_empties_and_refills_by_time_and_success() {
        let mut budget = Budget::full(TERMS, 100);
        for _ in 0..3 {
            budget = budget.at(TERMS, 100).take().unwrap();
        }
        assert_eq!(budget.take(), None);
        assert_eq!(budget.next_at(TERMS, 600), Some(1100));
        assert_eq!(budget.refill(TERMS).tokens, 1);
        assert_eq!(budget.at(TERMS, 1099).tokens, 0);
        assert_eq!(budget.at(TERMS, 2600), Budget { tokens: 2, since: 2100 });
        assert_eq!(budget.at(TERMS, u64::MAX), Budget { tokens: 3, since: u64::MAX });
    }

    #[test]
    fn a_budget_of_nothing_lets_no_retry_out_and_one_that_refills_at_once_every_one() {
        let none = BudgetTerms { capacity: 0, refill_ms: 1000 };
        assert_eq!(Budget::full(none, 0).next_at(none, 5), None);
        let endless = BudgetTerms { capacity: 1, refill_ms: 0 };
        assert_eq!(Budget { tokens: 0, since: 0 }.at(endless, 0).tokens, 1);
    }
}
