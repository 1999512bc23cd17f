//! Ten thousand clients, each with an outbox of its own, whose network comes back at the same instant.
//!
//! All of them ask for something in the second in which the network goes away, and try again by their backoff. When it is back,
//! every try arrives, and is answered. What counts is how many arrive in each second then.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use keyledger::{Clock, DeliveryOutcome, Enqueue, Ledger, ManualClock, Outbox, Response, Scope, SeededEntropy};

/// So long nobody reaches the server.
const OUTAGE_MS: u64 = 15 * 60 * 1000;
/// So long arrivals are counted after it: seconds.
pub const SECONDS: usize = 300;

const START_MS: u64 = 1_000_000_000;

/// Arrivals in each second of the first five minutes after the network has come back.
///
/// # Panics
/// If an outbox refuses what it must not.
pub fn arrivals(clients: usize, with_jitter: bool, seed: u64) -> Vec<u32> {
    let clock = ManualClock::new(START_MS);
    let outboxes: Vec<Outbox> = (0..clients).map(|client| outbox(&clock, with_jitter, seed, client)).collect();
    let mut wakeups: BinaryHeap<Reverse<(u64, usize)>> =
        (0..clients).map(|client| Reverse((START_MS, client))).collect();
    let back_at = START_MS + OUTAGE_MS;
    let mut seconds = vec![0; SECONDS];
    while let Some(Reverse((at, client))) = wakeups.pop() {
        clock.advance(Duration::from_millis(at.saturating_sub(clock.wall_ms())));
        let second = at.checked_sub(back_at).map(|ms| usize::try_from(ms / 1000).unwrap_or(usize::MAX));
        let outbox = &outboxes[client];
        for delivery in outbox.lease_due(&Scope::single(), 1).expect("a ledger in memory answers") {
            let outcome = match second {
                None => DeliveryOutcome::retry("no connection").not_taken(),
                Some(second) => {
                    seconds.get_mut(second).into_iter().for_each(|count| *count += 1);
                    DeliveryOutcome::yes(Response::empty())
                }
            };
            delivery.settle(outcome).expect("its own delivery");
        }
        let next = outbox.next_wakeup(&Scope::single()).expect("a ledger in memory answers");
        wakeups.extend(next.map(|at| Reverse((at, client))));
    }
    seconds
}

fn outbox(clock: &ManualClock, with_jitter: bool, seed: u64, client: usize) -> Outbox {
    let entropy = SeededEntropy::new(seed.wrapping_mul(1_000_003).wrapping_add(client as u64));
    let ledger = Ledger::builder().clock(clock.clone()).entropy(entropy).in_memory().expect("memory is there");
    let settings = ledger.outbox().max_tries(1000);
    let settings = if with_jitter { settings } else { settings.without_jitter() };
    let outbox = settings.open().expect("the settings are right");
    outbox.enqueue(&Enqueue::new(&Scope::single(), "vote", "text/plain", "yes")).expect("there is room");
    outbox
}

/// The busiest second, over the mean of all.
pub fn peak_over_mean(seconds: &[u32]) -> f64 {
    let total: u32 = seconds.iter().sum();
    let peak = seconds.iter().max().copied().unwrap_or_default();
    let count = u32::try_from(seconds.len()).unwrap_or(u32::MAX);
    f64::from(peak) * f64::from(count) / f64::from(total.max(1))
}
