//! What a random caller may do. The numbers are small and relative, so that a shrunk list of commands reads like a story.

use std::fmt::{self, Debug, Formatter};

use keyledger_harness::disk::Crash;
use keyledger_harness::model::Fingerprint;

use super::stage::{DECLARED, KEYS, SCOPES};

/// One command.
#[derive(Clone)]
pub(crate) enum Command {
    Begin(Ask),
    BeginMany(Vec<Ask>),
    Settle(Pick, Via, Call),
    CompleteWith(Pick, Vec<Row>, Text),
    Transaction(Vec<Row>, Option<(Pick, Text)>),
    Heartbeat(Pick, Via, u64),
    Step(Pick, Via, &'static str, &'static str),
    Drop(Pick),
    Recover { declared: usize, limit: usize },
    Resolve { key: Target, fence: Which, resolution: Found },
    ResolveMany { declared: usize, resolution: Found },
    Forget { key: Target, even_if_unknown: bool },
    ForgetScope { scope: usize, even_if_unknown: bool },
    Sweep(usize),
    Advance(u64),
    ToDeadline { nth: usize, off: i64 },
    JumpWall(i64),
    Suspend,
    ReopenHandle,
    CloseAndOpen,
    Kill(Crash),
}

/// The arguments of a `begin`.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) declared: usize,
    pub(crate) scope: usize,
    pub(crate) key: usize,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) memo: &'static str,
}

/// A record: that of a claim; or a declared operation, scope and key, by number.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    Of(Pick),
    Named(usize, usize, usize),
}

/// A claim, counted back from the latest grant (0); or one that was never granted.
#[derive(Clone, Copy)]
pub(crate) enum Pick {
    Back(usize),
    Never,
}

/// By the claim object, if it is still held, or by id and fence.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Via {
    Claim,
    Fence,
}

/// A settling call.
#[derive(Clone)]
pub(crate) enum Call {
    Complete(Text),
    Fail(Text),
    Release,
    Park(&'static str),
}

/// A response, by its number in `stage::TEXTS`.
pub(crate) type Text = usize;

/// Which fence a person names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    Shown,
    Earlier,
}

/// What a person found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    Completed(Text),
    Failed(Text),
    NotDone,
}

/// A call on a transaction, on the one table of the test.
#[derive(Clone)]
pub(crate) enum Row {
    Get(&'static str),
    Put(&'static str, &'static str),
    Delete(&'static str),
    InsertUnique(&'static str, &'static str),
    CompareAndSet(&'static str, Option<&'static str>, Option<&'static str>),
}

impl Debug for Ask {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let declared = &DECLARED[self.declared];
        write!(
            out,
            "{}#{} ({:?}) for {} {}",
            declared.name, self.declared, declared.effect, SCOPES[self.scope], KEYS[self.key]
        )?;
        match self.fingerprint {
            Fingerprint::Value(value) => write!(out, ", asks {value}")?,
            Fingerprint::Unchecked => write!(out, ", unchecked")?,
        }
        if self.memo.is_empty() { Ok(()) } else { write!(out, ", memo {:?}", self.memo) }
    }
}

impl Debug for Target {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Of(pick) => write!(out, "the record of {pick:?}"),
            Self::Named(declared, scope, key) => {
                write!(out, "{} of {} {}", DECLARED[*declared].name, SCOPES[*scope], KEYS[*key])
            }
        }
    }
}

impl Debug for Pick {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Back(0) => write!(out, "latest claim"),
            Self::Back(back) => write!(out, "claim {back} before the latest"),
            Self::Never => write!(out, "a claim never granted"),
        }
    }
}

impl Debug for Call {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete(text) => write!(out, "complete text {text}"),
            Self::Fail(text) => write!(out, "fail text {text}"),
            Self::Release => write!(out, "release"),
            Self::Park(words) => write!(out, "park {words:?}"),
        }
    }
}

impl Debug for Row {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Get(key) => write!(out, "get {key}"),
            Self::Put(key, value) => write!(out, "put {key}={value}"),
            Self::Delete(key) => write!(out, "delete {key}"),
            Self::InsertUnique(key, value) => write!(out, "insert unique {key}={value}"),
            Self::CompareAndSet(key, expected, value) => write!(out, "compare {key}: {expected:?} -> {value:?}"),
        }
    }
}

impl Debug for Command {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin(ask) => write!(out, "begin {ask:?}"),
            Self::BeginMany(asks) => write!(out, "begin_many {asks:?}"),
            Self::Settle(pick, via, call) => write!(out, "{call:?} ({pick:?}, by {via:?})"),
            Self::CompleteWith(pick, rows, text) => write!(out, "complete_with text {text} and {rows:?} ({pick:?})"),
            Self::Transaction(rows, None) => write!(out, "transaction {rows:?}"),
            Self::Transaction(rows, Some((pick, text))) => {
                write!(out, "transaction {rows:?}, complete text {text} ({pick:?})")
            }
            Self::Heartbeat(pick, via, lease) => write!(out, "heartbeat {lease} ms ({pick:?}, by {via:?})"),
            Self::Step(pick, via, name, value) => write!(out, "step {name}={value} ({pick:?}, by {via:?})"),
            Self::Drop(pick) => write!(out, "drop {pick:?}"),
            Self::Recover { declared, limit } => {
                write!(out, "recover {}#{declared}, at most {limit}", DECLARED[*declared].name)
            }
            Self::Resolve { key, fence, resolution } => {
                write!(out, "resolve {key:?}: {resolution:?} (fence {fence:?})")
            }
            Self::ResolveMany { declared, resolution } => {
                write!(out, "resolve all {}: {resolution:?}", DECLARED[*declared].name)
            }
            Self::Forget { key, even_if_unknown } => write!(out, "forget {key:?} (even if unknown: {even_if_unknown})"),
            Self::ForgetScope { scope, even_if_unknown } => {
                write!(out, "forget scope {} (even if unknown: {even_if_unknown})", SCOPES[*scope])
            }
            Self::Sweep(limit) => write!(out, "sweep at most {limit}"),
            Self::Advance(span) => write!(out, "advance {span} ms"),
            Self::ToDeadline { nth, off } => write!(out, "advance to deadline {nth} ahead, {off:+} ms"),
            Self::JumpWall(by) => write!(out, "wall clock jumps {by:+} ms"),
            Self::Suspend => write!(out, "suspend, resume"),
            Self::ReopenHandle => write!(out, "reopen the handle"),
            Self::CloseAndOpen => write!(out, "close, open"),
            Self::Kill(crash) => write!(out, "kill ({crash:?}), open"),
        }
    }
}
