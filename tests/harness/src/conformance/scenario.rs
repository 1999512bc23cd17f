//! What a scenario file may say: the types behind `scenario.schema.json`.

mod outbox;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

pub(super) use outbox::{Leasing, OutboxAct, Said, Shown, Sought, Told, Wanted};

/// A truth, the rules that say so, and the steps that show it.
#[derive(Clone, Deserialize)]
pub struct Scenario {
    /// The truth it holds.
    pub name: String,
    /// The rules of the contract it cites.
    pub rules: Vec<String>,
    /// What a binding must have to run it.
    #[serde(default)]
    pub needs: Vec<Need>,
    #[serde(default)]
    pub(super) operations: BTreeMap<String, Declared>,
    #[serde(default)]
    pub(super) options: Options,
    /// Settings of the outbox; none where the scenario has none.
    pub(super) outbox: Option<Value>,
    pub(super) steps: Vec<Step>,
}

/// What not every language or store has.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// A ledger that outlives its process.
    File,
    /// Durations below zero.
    NegativeDurations,
    /// Text of bytes that are no UTF-8.
    NonUtf8Text,
    /// Text with half a surrogate pair.
    LoneSurrogates,
}

#[derive(Clone, Deserialize)]
pub(super) struct Declared {
    pub(super) name: Option<Value>,
    pub(super) effect: String,
    pub(super) lease_ms: Option<Value>,
    pub(super) retention_ms: Option<Value>,
    pub(super) tombstone_ms: Option<Value>,
    pub(super) remembered_for_ms: Option<Value>,
    pub(super) max_attempts: Option<u32>,
}

#[derive(Clone, Default, Deserialize)]
pub(super) struct Options {
    pub(super) max_response_bytes: Option<usize>,
}

#[derive(Clone, Deserialize)]
pub(super) struct Step {
    #[serde(flatten)]
    pub(super) act: Act,
    /// Present and null is an expectation too.
    #[serde(default, deserialize_with = "present")]
    pub(super) expect: Option<Value>,
    /// Whether the closure or handler ran.
    pub(super) ran: Option<bool>,
    /// `unchanged`: the step leaves the bytes of the file as they are.
    pub(super) file: Option<String>,
}

#[derive(Clone, Deserialize)]
pub(super) struct Id {
    pub(super) op: String,
    pub(super) scope: Option<Value>,
    pub(super) key: Option<Value>,
}

#[derive(Clone, Deserialize)]
pub(super) struct Asked {
    #[serde(flatten)]
    pub(super) id: Id,
    pub(super) fingerprint: Option<Value>,
    pub(super) memo: Option<Value>,
    pub(super) wait_ms: Option<i64>,
    #[serde(rename = "as")]
    pub(super) name: Option<String>,
}

#[derive(Clone, Deserialize)]
pub(super) struct Target {
    pub(super) claim: String,
    /// `fence`: by key id and fence, not by the claim object.
    pub(super) by: Option<String>,
    pub(super) on: Option<Id>,
}

#[derive(Clone, Deserialize)]
pub(super) struct Verdict {
    pub(super) outcome: String,
    pub(super) response: Option<Value>,
    pub(super) who: String,
    pub(super) note: String,
}

#[derive(Clone, Default, Deserialize)]
pub(super) struct Which {
    pub(super) op: Option<String>,
    pub(super) scope: Option<Value>,
    pub(super) state: Option<String>,
    /// How many records to a page.
    pub(super) page: Option<usize>,
}

#[derive(Clone, Deserialize)]
pub(super) struct Handler {
    pub(super) returns: Option<Value>,
    pub(super) raises: Option<String>,
    pub(super) class: Option<String>,
    pub(super) response: Option<Value>,
    pub(super) claim: Option<Value>,
    #[serde(default)]
    pub(super) during: Vec<Step>,
}

#[derive(Clone, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum Act {
    Advance {
        ms: u64,
    },
    Jump {
        ms: i64,
    },
    Repeat {
        times: u32,
        steps: Vec<Step>,
    },
    Restart,
    Kill,
    Suspend,
    Resume,
    Reopen,
    Close,
    Begin(Asked),
    BeginMany {
        begins: Vec<Asked>,
    },
    Complete {
        #[serde(flatten)]
        target: Target,
        response: Value,
    },
    Fail {
        #[serde(flatten)]
        target: Target,
        response: Value,
    },
    Release {
        #[serde(flatten)]
        target: Target,
    },
    Park {
        #[serde(flatten)]
        target: Target,
        reason: String,
    },
    Heartbeat {
        #[serde(flatten)]
        target: Target,
        lease_ms: Option<i64>,
    },
    RecordStep {
        #[serde(flatten)]
        target: Target,
        name: String,
        value: Value,
    },
    Step {
        claim: String,
        name: String,
        value: Value,
    },
    Drop {
        claim: String,
    },
    Look {
        claim: String,
    },
    DeriveKey {
        claim: String,
        name: String,
    },
    Inspect {
        #[serde(flatten)]
        id: Id,
        #[serde(rename = "as")]
        name: Option<String>,
    },
    List {
        filter: Which,
    },
    Recover {
        op: String,
        limit: usize,
        #[serde(rename = "as", default)]
        names: Vec<String>,
        #[serde(default)]
        any_order: bool,
    },
    Resolve {
        #[serde(flatten)]
        id: Id,
        fence: String,
        #[serde(flatten)]
        verdict: Verdict,
    },
    ResolveMany {
        filter: Which,
        #[serde(flatten)]
        verdict: Verdict,
    },
    Forget {
        #[serde(flatten)]
        id: Id,
        even_if_unknown: bool,
    },
    ForgetScope {
        scope: Value,
        even_if_unknown: bool,
    },
    Sweep {
        limit: usize,
    },
    Stats,
    Transaction {
        calls: Vec<CallLine>,
        end: String,
    },
    CompleteWith {
        claim: String,
        calls: Vec<CallLine>,
        response: Value,
        end: String,
    },
    Apply {
        calls: Vec<CallLine>,
    },
    CompleteBatch {
        claim: String,
        calls: Vec<CallLine>,
        response: Value,
    },
    Get {
        table: Value,
        key: Value,
    },
    Scan {
        table: Value,
        from: Value,
        to: Option<Value>,
        limit: usize,
    },
    Run {
        #[serde(flatten)]
        id: Id,
        fingerprint: Option<Value>,
        handler: Handler,
    },
    #[serde(untagged)]
    Outbox(OutboxAct),
}

/// One call inside a transaction or of a batch.
#[derive(Clone, Deserialize)]
pub(super) struct CallLine {
    #[serde(flatten)]
    pub(super) call: Call,
    #[serde(default, deserialize_with = "present")]
    pub(super) expect: Option<Value>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[derive(Clone, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case")]
pub(super) enum Call {
    Put { table: Value, key: Value, value: Value },
    Get { table: Value, key: Value },
    Delete { table: Value, key: Value },
    Scan { table: Value, from: Value, to: Option<Value>, limit: usize },
    InsertUnique { table: Value, key: Value, value: Value },
    CompareAndSet { table: Value, key: Value, expected: Option<Value>, value: Option<Value> },
    Complete { claim: String, response: Value },
    Enqueue(Box<Wanted>),
    Reenter,
}
