//! The outbox's mutants: each breaks a rule of contract section 9, most of them as the explicit-state model does.

use super::list::{Mutant, UNIT_TESTS, mutant};

const STORIES: &[&str] = &["outbox_world", "outbox", UNIT_TESTS, "conformance"];

const ENTRY: &str = "core/src/machine/entry.rs";
const LEASE: &str = "core/src/machine/lease.rs";
const DELIVER: &str = "core/src/machine/deliver.rs";
const PERSON: &str = "core/src/machine/person.rs";
const ENQUEUE: &str = "core/src/machine/enqueue.rs";
const LEASING: &str = "core/src/engine/outbox/leasing.rs";
const READING: &str = "core/src/engine/outbox/reading.rs";
const DECIDING: &str = "core/src/engine/outbox/deciding.rs";
const LINE: &str = "core/src/codec/line.rs";

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "outbox: O3, an unknown entry does not count as unsettled",
        ENQUEUE,
        (
            "if !found.is_unsettled() && (",
            "if matches!(found.state, EntryState::Unknown(_)) || !found.is_unsettled() && (",
        ),
        STORIES,
    ),
    mutant(
        "outbox: O3, requeue beside another entry of the purpose",
        DECIDING,
        ("found.filter(|other| other.id != entry.id && (", "found.filter(|other| other.id == entry.id && ("),
        STORIES,
    ),
    mutant(
        "outbox: O4, an ordered lane goes by due time",
        LINE,
        ("Order::Strict { .. } => (false, entry.position)", "Order::Strict { .. } => (false, entry.ready_at)"),
        STORIES,
    ),
    mutant(
        "outbox: O4, a blocking head does not block",
        ENTRY,
        (
            "EntryState::Dead(reason) => self.blocks() && !reason.is_decided(),",
            "EntryState::Dead(reason) => self.blocks() && reason.is_decided(),",
        ),
        STORIES,
    ),
    mutant(
        "outbox: O4, another scope's entries go along",
        LEASING,
        (
            "let mark = line::scope_mark(scope, &self.session.engine.salt);",
            "let mark = line::scope_mark(&Scope::new(\"ada\").unwrap_or(scope.clone()), &self.session.engine.salt);",
        ),
        STORIES,
    ),
    mutant(
        "outbox: O5, a late yes is refused",
        DELIVER,
        ("let counts = is_own || counts_late(entry, fence, outcome);", "let counts = is_own;"),
        STORIES,
    ),
    mutant(
        "outbox: O5, a late no settles the entry",
        DELIVER,
        ("(*is_yes || *is_replay) && is_open", "(*is_yes || !*is_replay) && is_open"),
        STORIES,
    ),
    mutant(
        "outbox: O6, a try is not counted when it is leased",
        LEASE,
        ("tries: entry.tries.saturating_add(1), ..entry", "..entry"),
        STORIES,
    ),
    mutant(
        "outbox: O6, a retry takes nothing from the budget",
        LEASING,
        (
            "if old.fence > 0 {\n            let Some(budget)",
            "if old.fence > u64::MAX - 1 {\n            let Some(budget)",
        ),
        STORIES,
    ),
    mutant(
        "outbox: O7, no window",
        ENTRY,
        ("set_back || entry.window_end(terms).is_some_and(|end| end <= now.at)", "set_back"),
        STORIES,
    ),
    mutant(
        "outbox: O7, a lease reaches past the window",
        LEASE,
        ("let bounds = [leased.window_end(terms), send_by];", "let bounds = [None, send_by];"),
        STORIES,
    ),
    mutant(
        "outbox: O7, the window counts from the last send",
        LEASE,
        ("    if !in_doubt {\n        leased.first_unknown", "    if leased.fence > 0 {\n        leased.first_unknown"),
        STORIES,
    ),
    mutant(
        "outbox: O7, the window counts from a send that was turned away",
        DELIVER,
        ("(entry.first_unknown, entry.key_known_until) = (None, None);", "entry.in_doubt = true;"),
        STORIES,
    ),
    mutant(
        "outbox: O7, a window that the clock was set back over goes on",
        ENTRY,
        (
            "sent.stamp.opening != now.stamp.opening && now.stamp.wall_ms < sent.stamp.wall_ms",
            "sent.stamp.opening != now.stamp.opening && now.stamp.wall_ms > u64::MAX - 1",
        ),
        STORIES,
    ),
    mutant(
        "outbox: O7, resend leaves the old entry unsettled",
        PERSON,
        (
            "EntryResolution::Resend => EntryState::Dead(DeadReason::Superseded),",
            "EntryResolution::Resend => EntryState::Held { reason: String::new(), with_lane: false },",
        ),
        STORIES,
    ),
    mutant(
        "outbox: O8, resume leaves entries held",
        DECIDING,
        (
            "if let Some(new) = person::resume(&old, self.now) {",
            "if let Some(new) = person::resume(&old, self.now).filter(|new| new.id == 0) {",
        ),
        STORIES,
    ),
    mutant(
        "outbox: O9, a no settles although another try is in doubt",
        DELIVER,
        (
            "Kind::Answered { is_yes: false, is_replay: false, .. } if entry.in_doubt =>",
            "Kind::Answered { is_yes: false, is_replay: false, .. } if entry.in_doubt && entry.tries == u32::MAX =>",
        ),
        STORIES,
    ),
    mutant(
        "outbox: O9, out of tries is dead, whatever is unknown",
        ENTRY,
        (
            "        if self.may_have_taken_effect() {\n            self.in_doubt = true;",
            "        if self.may_have_taken_effect() && self.tries == 0 {\n            self.in_doubt = true;",
        ),
        STORIES,
    ),
    mutant(
        "outbox: O9, a lease that ended without an answer leaves no doubt",
        ENTRY,
        ("self.in_doubt || matches!(self.state, EntryState::Sending { .. })", "self.in_doubt"),
        STORIES,
    ),
    mutant(
        "outbox: O10, cancel does not look at doubts",
        PERSON,
        (
            "EntryState::Pending | EntryState::Held { .. } | EntryState::Dead(_) => !entry.in_doubt,",
            "EntryState::Pending | EntryState::Held { .. } | EntryState::Dead(_) => true,",
        ),
        STORIES,
    ),
    mutant(
        "outbox: O10, the first lease reaches past send_by",
        LEASE,
        (
            "let bounds = [leased.window_end(terms), send_by];",
            "let bounds = [leased.window_end(terms), send_by.filter(|_| false)];",
        ),
        STORIES,
    ),
    mutant(
        "outbox: O11, next_wakeup covers only what can be handed out",
        READING,
        (
            "let mut wakeup = first_instant(view, &line::end_prefix(scope))?;",
            "let mut wakeup = first_instant(view, &line::end_prefix(scope))?.filter(|_| false);",
        ),
        STORIES,
    ),
    mutant(
        "outbox: O11, next_wakeup does not mind the budget",
        READING,
        (
            "let retry_at = row.budget.next_at(terms.budget, now.at).map(|at| if at > now.at { at } else { 0 });",
            "let retry_at = row.budget.next_at(terms.budget, now.at).map(|_| 0);",
        ),
        STORIES,
    ),
    mutant(
        "outbox: O12, the bounds are not looked at",
        "core/src/engine/outbox.rs",
        ("if entries >= self.terms.max_entries || ", "if entries > self.terms.max_entries || "),
        STORIES,
    ),
    mutant(
        "outbox: O13, a sweep takes what it should keep",
        LINE,
        (
            "if let Some(removed_at) = entry.removed_at() {",
            "if let Some(removed_at) = entry.removed_at().map(|_| 0_u64) {",
        ),
        STORIES,
    ),
    mutant(
        "outbox: a request is another one after a restart",
        LEASING,
        (
            "let request = reading::request(self.session.overlay, id)?",
            "let request = reading::request(self.session.overlay, 1)?",
        ),
        STORIES,
    ),
    mutant(
        "outbox: index rows stay behind",
        "core/src/engine/outbox.rs",
        (
            "for row in old_rows.iter().filter(|row| !new_rows.contains(row)) {",
            "for row in old_rows.iter().filter(|row| row[0] != b'c' && !new_rows.contains(row)) {",
        ),
        STORIES,
    ),
];
