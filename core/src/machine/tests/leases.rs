//! L7 and S2: when a lease is over.

use super::*;
use crate::machine::record::{Lease, Witness};

const LEASE: Lease = Lease { from: Stamp { wall_ms: START, mono_ms: 500, opening: HERE }, ms: 1000 };
const EARLIER: Lease = Lease { from: Stamp { wall_ms: START, mono_ms: 88, opening: HERE - 1 }, ms: 1000 };

fn left(witness: Witness, lease: Lease, now: Stamp) -> Option<u64> {
    witness.left_ms(FENCE, lease, now)
}

#[test]
fn l6_the_deadline_itself_has_passed() {
    assert_eq!(left(Witness::default(), LEASE, at(999)), Some(1));
    assert_eq!(left(Witness::default(), LEASE, at(1000)), None);
}

#[test]
fn l7_a_lease_of_this_opening_goes_by_the_monotonic_clock_alone() {
    for wall_ms in [0, START, START + 3_600_000] {
        assert_eq!(left(Witness::default(), LEASE, Stamp { wall_ms, ..at(999) }), Some(1));
        assert_eq!(left(Witness::default(), LEASE, Stamp { wall_ms, ..at(1000) }), None);
    }
}

#[test]
fn l7_a_lease_of_another_opening_goes_by_the_wall_clock_and_is_over_before_it_was_granted() {
    assert_eq!(left(Witness::default(), EARLIER, at(999)), Some(1));
    assert_eq!(left(Witness::default(), EARLIER, at(1000)), None);
    assert_eq!(left(Witness::default(), EARLIER, Stamp { wall_ms: START - 1, ..at(0) }), None);
}

#[test]
fn l7_a_lease_of_another_opening_is_over_one_lease_after_it_was_first_seen() {
    let witness = Witness { seen: Some((FENCE, EARLIER, 500)), ..Witness::default() };
    let wall_stands = |ms| Stamp { wall_ms: START, ..at(ms) };
    assert_eq!(left(witness, EARLIER, wall_stands(999)), Some(1));
    assert_eq!(left(witness, EARLIER, wall_stands(1000)), None);
    let of_another_claim = Witness { seen: Some((FENCE - 1, EARLIER, 500)), ..Witness::default() };
    assert_eq!(left(of_another_claim, EARLIER, wall_stands(1000)), Some(1000));
    let before_its_owner_renewed_it = Lease { ms: EARLIER.ms - 1, ..EARLIER };
    let of_an_older_lease = Witness { seen: Some((FENCE, before_its_owner_renewed_it, 500)), ..Witness::default() };
    assert_eq!(left(of_an_older_lease, EARLIER, wall_stands(1000)), Some(1000));
}

#[test]
fn l7_whoever_takes_an_exclusive_file_has_seen_every_lease_in_it() {
    let witness = Witness { taken_at: Some(500), ..Witness::default() };
    let wall_stands = |ms| Stamp { wall_ms: START, ..at(ms) };
    assert_eq!(left(witness, EARLIER, wall_stands(999)), Some(1));
    assert_eq!(left(witness, EARLIER, wall_stands(1000)), None);
    assert!(witness.is_empty(), "there is nothing to remember of each");
}

#[test]
fn l7_what_is_left_is_never_more_than_the_lease() {
    let from_the_future = Lease { from: at(5000), ms: 1000 };
    assert_eq!(left(Witness::default(), from_the_future, at(0)), Some(1000));
}

#[test]
fn a_lease_renewed_in_memory_counts_for_its_own_fence_alone() {
    let renewed = Lease { from: at(900), ms: 1000 };
    let witness = Witness { renewed: Some((FENCE, renewed)), ..Witness::default() };
    assert_eq!(left(witness, LEASE, at(1899)), Some(1));
    assert_eq!(left(witness, LEASE, at(1900)), None);
    assert_eq!(witness.left_ms(FENCE + 1, LEASE, at(1000)), None);
}

#[test]
fn s2_a_dropped_claim_has_no_lease() {
    let witness = Witness { dropped: Some(FENCE), ..Witness::default() };
    assert_eq!(left(witness, LEASE, at(0)), None);
    assert_eq!(witness.left_ms(FENCE + 1, LEASE, at(0)), Some(1000));
}

#[test]
fn l5_sums_saturate() {
    let endless = Lease { from: at(0), ms: u64::MAX };
    assert_eq!(endless.end_wall_ms(), u64::MAX);
    assert!(left(Witness::default(), endless, at(u64::MAX / 2)).is_some());
}
