//! What is broken, how, and which suites may notice, in the order in which they are asked.

/// A way to break the code.
pub(crate) struct Mutant {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    /// Stands there once.
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    pub(crate) suites: &'static [&'static str],
}

pub(super) const fn mutant(
    name: &'static str,
    file: &'static str,
    (from, to): (&'static str, &'static str),
    suites: &'static [&'static str],
) -> Mutant {
    Mutant { name, file, from, to, suites }
}

/// Stands for the tests within the library; all others are suites.
pub(crate) const UNIT_TESTS: &str = "unit tests";

const RULES: &[&str] = &["properties", "linearizable", "crash", UNIT_TESTS];
const DISK: &[&str] = &["crash", "properties", UNIT_TESTS];
const THREADS: &[&str] = &["linearizable", "threads", "crash", UNIT_TESTS];

const PROCESSES: &[&str] = &[UNIT_TESTS, "shared", "linearizable", "clocks"];

const BEGIN: &str = "core/src/machine/begin.rs";
const SETTLE: &str = "core/src/machine/settle.rs";
const RECORD: &str = "core/src/machine/record.rs";
const EXPIRE: &str = "core/src/machine/expire.rs";
const SESSION: &str = "core/src/engine/session.rs";
const LOG: &str = "core/src/store/log.rs";
const SHARED: &str = "core/src/store/redb/shared.rs";

pub(crate) const MUTANTS: &[Mutant] = &[
    mutant(
        "no sync of a commit",
        LOG,
        (
            "self.region.write_synced(self.start() + self.at, record)?",
            "self.region.write(self.start() + self.at, record)?",
        ),
        DISK,
    ),
    mutant(
        "a record of the log counts whatever its checksum",
        LOG,
        (
            "(self.checksum(&head[4..24], payload) == head[24..]).then(",
            "(self.checksum(&head[4..24], payload) != [0; 16]).then(",
        ),
        DISK,
    ),
    mutant(
        "what a failed sync lost is not written again",
        "core/src/store/redb/witness.rs",
        ("let places = self.take();", "let places: Vec<Place> = self.take().into_iter().take(0).collect();"),
        DISK,
    ),
    mutant(
        "a commit that failed is told as stored",
        "core/src/commit.rs",
        (
            "self.store.commit(&overlay.into_writes()).map_err(Arc::new)",
            "self.store.commit(&overlay.into_writes()).or(Ok(()))",
        ),
        DISK,
    ),
    mutant(
        "what a failed begin stored is not released",
        "core/src/engine/errand.rs",
        ("self.owed.lock().unwrap_or_else(PoisonError::into_inner).push(owed);", "drop(owed);"),
        DISK,
    ),
    mutant(
        "the fence is not checked when a claim is settled",
        SETTLE,
        (
            "settlement: &Settlement, now: Stamp) -> Settled {\n    let Some(record) = record.filter(|record| record.fence == fence)",
            "settlement: &Settlement, now: Stamp) -> Settled {\n    let Some(record) = record.filter(|record| record.fence >= fence)",
        ),
        RULES,
    ),
    mutant(
        "an outcome from a fence that a begin gave up is refused",
        SETTLE,
        (
            "Settlement::Complete(_) | Settlement::Fail(_) => true,",
            "Settlement::Complete(_) | Settlement::Fail(_) => false,",
        ),
        RULES,
    ),
    mutant(
        "a claim that was completed may be failed as well",
        SETTLE,
        (
            "State::InProgress { .. } => store(record, settled_state",
            "State::InProgress { .. } | State::Completed(..) => store(record, settled_state",
        ),
        RULES,
    ),
    mutant(
        "a lease is over only after its end",
        RECORD,
        ("deadline.checked_sub(now).filter(|left| *left > 0)", "deadline.checked_sub(now)"),
        RULES,
    ),
    mutant(
        "a dropped claim keeps its lease",
        RECORD,
        (
            "if self.dropped.is_some_and(|dropped| dropped >= fence) {",
            "if self.dropped.is_some_and(|dropped| dropped > fence) {",
        ),
        RULES,
    ),
    mutant(
        "a heartbeat does not count",
        RECORD,
        (
            "Some((renewed_fence, lease)) if renewed_fence == fence => lease,",
            "Some((renewed_fence, lease)) if renewed_fence > fence => lease,",
        ),
        RULES,
    ),
    mutant(
        "tombstones are skipped",
        EXPIRE,
        ("} else if wall < kept.gone_at {", "} else if wall < kept.retained_until {"),
        RULES,
    ),
    mutant(
        "retention ends a millisecond late",
        EXPIRE,
        ("if wall < kept.retained_until {\n", "if wall <= kept.retained_until {\n"),
        RULES,
    ),
    mutant(
        "a new record's index rows are not written",
        SESSION,
        (
            "for (shelf, key) in new_rows.into_iter().filter(|row| !old_rows.contains(row)) {",
            "for (shelf, key) in new_rows.into_iter().filter(|row| old_rows.len() > 9 && !old_rows.contains(row)) {",
        ),
        RULES,
    ),
    mutant(
        "an old record's index rows are left",
        SESSION,
        (
            "for (shelf, key) in old_rows.iter().filter(|row| !new_rows.contains(row)) {",
            "for (shelf, key) in old_rows.iter().filter(|row| new_rows.len() > 9 && !new_rows.contains(row)) {",
        ),
        RULES,
    ),
    mutant(
        "counters are not moved",
        SESSION,
        ("counters.move_record(stored, new);", "counters.move_record(new, new);"),
        RULES,
    ),
    mutant(
        "a commit in hand does not keep others out of memory",
        SESSION,
        ("slot.commits += 1;", "slot.commits += 0;"),
        THREADS,
    ),
    mutant(
        "a lapsed AtMostOnce record runs again",
        BEGIN,
        (
            "if lapsed && record.effect == Effect::AtMostOnce {",
            "if lapsed && record.effect == Effect::AtMostOnce && record.attempt > 9 {",
        ),
        RULES,
    ),
    mutant(
        "another request under the same key is not noticed",
        BEGIN,
        ("if comparison == Comparison::Different {", "if comparison == Comparison::Different && record.attempt > 9 {"),
        RULES,
    ),
    mutant(
        "a parked record is granted",
        BEGIN,
        ("State::Parked { .. } => Verdict::Parked,", "State::Parked { .. } => Verdict::Grant,"),
        RULES,
    ),
    mutant("a grant lowers the effect", BEGIN, ("effect: old.effect.max(ask.effect),", "effect: ask.effect,"), RULES),
    mutant(
        "one attempt too many",
        BEGIN,
        ("(record.attempt >= ask.terms.max_attempts)", "(record.attempt > ask.terms.max_attempts)"),
        RULES,
    ),
    mutant(
        "fences are not reserved in the file",
        "core/src/engine/fence_block.rs",
        ("encode_fence(self.end))", "encode_fence(self.start))"),
        RULES,
    ),
    mutant(
        "what another process appended is told before it is synced",
        SHARED,
        (
            "        self.sync(&mut reader)?;\n        Ok(self.layer(&reader, tree))",
            "        Ok(self.layer(&reader, tree))",
        ),
        PROCESSES,
    ),
    mutant(
        "another generation of the log is taken for this one",
        SHARED,
        ("if generation == reader.log.generation() {", "if generation >= reader.log.generation() {"),
        PROCESSES,
    ),
    mutant(
        "two processes commit at once",
        "core/src/store/redb/peers.rs",
        (
            "if let Err(error) = self.locks.lock_range(from, to) {",
            "if let Err(error) = self.locks.query_lock_range(from, to) {",
        ),
        PROCESSES,
    ),
    mutant(
        "a shared ledger keeps a reservation in memory",
        "core/src/engine/begin.rs",
        ("!self.is_shared() && raised == Effect::InLedger", "raised == Effect::InLedger"),
        PROCESSES,
    ),
    mutant(
        "a forked child goes on with its parent's handle",
        "core/src/home.rs",
        ("self.process != process::id()", "self.process == 0"),
        PROCESSES,
    ),
];
