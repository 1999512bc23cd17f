//! Which rules and rows some scenario must cite, and nothing else may.

use std::collections::BTreeSet;

use super::file::Case;

/// Rules of the contract by number, as far as a black box with a manual clock shows them.
const RULES: &[&str] = &[
    "L1", "L2", "L3", "L4", "L5", "L6", "L7", "E1", "E2", "E3", "E4", "S1", "S2", "S4", "S5", "S6", "S8", "S9", "I1",
    "I2", "I3", "I4", "I5", "I6", "I7", "I8", "T1", "T2", "T4", "G1", "G2", "F6", "F7", "P4", "P6", "P7", "O1", "O2",
    "O3", "O4", "O5", "O6", "O7", "O8", "O9", "O10", "O11", "O12", "O13", "O15", "O16",
];

/// Section 4, first table, row by row and reason by reason.
const BEGIN: &[&str] = &[
    "begin/none",
    "begin/mismatch/in_progress",
    "begin/mismatch/released",
    "begin/mismatch/parked",
    "begin/mismatch/completed",
    "begin/mismatch/failed",
    "begin/in_progress",
    "begin/lapsed/acquired/in_ledger",
    "begin/lapsed/acquired/repeatable",
    "begin/lapsed/parked/owner_lost",
    "begin/lapsed/parked/window_over",
    "begin/lapsed/parked/attempts",
    "begin/lapsed/parked/effect_changed",
    "begin/lapsed/parked/cannot_compare",
    "begin/released/parked/window_over",
    "begin/released/parked/attempts",
    "begin/released/parked/effect_changed",
    "begin/released/parked/cannot_compare",
    "begin/released/acquired",
    "begin/completed/replay",
    "begin/failed/replay",
    "begin/parked",
    "begin/tombstone/gone",
];

/// Section 4, next states.
const NEXT: &[&str] = &[
    "next/completed/tombstone",
    "next/failed/tombstone",
    "next/released/tombstone",
    "next/released/in_ledger/none",
    "next/tombstone/none",
    "next/tombstone_zero/none",
    "next/lapsed/in_ledger/none",
    "next/settings_kept",
];

/// Section 4, second table: each call, and each column that it has.
const SETTLE: &[&str] = &[
    "settle/complete/live",
    "settle/complete/same",
    "settle/complete/lost",
    "settle/fail/live",
    "settle/fail/same",
    "settle/fail/lost",
    "settle/release/live",
    "settle/release/volatile",
    "settle/release/same",
    "settle/release/lost",
    "settle/park/live",
    "settle/park/same",
    "settle/park/lost",
    "settle/heartbeat/live",
    "settle/heartbeat/lost",
    "settle/record_step/live",
    "settle/record_step/same",
    "settle/record_step/lost",
];

/// The last millisecond before a deadline, and the deadline (L6).
const BOUNDARIES: &[&str] = &[
    "boundary/lease/before",
    "boundary/lease/at",
    "boundary/retention/before",
    "boundary/retention/at",
    "boundary/tombstone/before",
    "boundary/tombstone/at",
    "boundary/in_ledger_lapsed/before",
    "boundary/in_ledger_lapsed/at",
    "boundary/window/at",
    "boundary/window/over",
];

/// Section 4 after the tables: many, steps, recovery, a person's part, forgetting.
const RECORDS: &[&str] = &[
    "many/alone",
    "many/equal",
    "many/invalid",
    "steps/kept",
    "steps/run_once",
    "steps/unique",
    "reasons/order",
    "recover/lapsed",
    "recover/parked/owner_lost",
    "recover/parked/window_over",
    "recover/parked/attempts",
    "recover/not",
    "recover/order",
    "recover/released",
    "resolve/completed",
    "resolve/failed",
    "resolve/not_done",
    "resolve/same",
    "resolve/not_parked",
    "resolve/many",
    "resolve/audit",
    "forget/settled",
    "forget/released",
    "forget/tombstone",
    "forget/unsettled",
    "forget/parked",
    "forget/none",
    "forget/scope",
];

/// Sections 2, 6, 7, 10 and 12, and `run`.
const REST: &[&str] = &[
    "input/scope",
    "input/operation",
    "input/key",
    "input/memo",
    "input/lease",
    "input/negative",
    "sweep/tombstoned",
    "sweep/removed",
    "sweep/limit",
    "sweep/in_ledger",
    "sweep/never",
    "stats",
    "list",
    "tables/get",
    "tables/put",
    "tables/delete",
    "tables/scan",
    "tables/scan/own_writes",
    "tables/insert_unique",
    "tables/compare_and_set",
    "tables/whole",
    "tables/names",
    "tables/limits",
    "tables/apart",
    "tables/reentrant",
    "guards/complete_with",
    "guards/complete_with/abort",
    "guards/complete_with/lost",
    "guards/complete_inside",
    "guards/batch",
    "run/response",
    "run/raised/in_ledger",
    "run/raised/repeatable",
    "run/raised/at_most_once",
    "run/not_done",
    "run/final",
    "run/refused/in_progress",
    "run/refused/mismatch",
    "run/refused/parked",
    "run/refused/gone",
    "run/replayed_failure",
    "run/lost",
    "run/lost/would_grant",
    "run/error",
    "life/suspend",
    "life/reopen",
    "life/close",
    "defaults",
];

fn known() -> BTreeSet<&'static str> {
    [RULES, BEGIN, NEXT, SETTLE, BOUNDARIES, RECORDS, REST].into_iter().flatten().copied().collect()
}

/// Rules and rows that no scenario cites, of those that Rust runs.
pub fn missing(cited: &BTreeSet<String>) -> Vec<&'static str> {
    known().into_iter().filter(|rule| !cited.contains(*rule)).collect()
}

/// What scenarios cite that is no rule and no row: a slip of the pen.
pub fn unknown(cited: &BTreeSet<String>) -> Vec<String> {
    let known = known();
    cited.iter().filter(|rule| !known.contains(rule.as_str())).cloned().collect()
}

/// Every rule that these scenarios cite.
pub fn cited(cases: &[Case]) -> BTreeSet<String> {
    cases.iter().flat_map(|case| case.scenario.rules.iter().cloned()).collect()
}
