//! What steps of the outbox may say.

use serde::Deserialize;
use serde_json::Value;

/// What a caller wants to have sent.
#[derive(Clone, Deserialize)]
pub(in super::super) struct Wanted {
    pub(in super::super) scope: Option<Value>,
    pub(in super::super) operation: Option<Value>,
    pub(in super::super) request: Option<Value>,
    pub(in super::super) media_type: Option<Value>,
    pub(in super::super) lane: Option<Value>,
    pub(in super::super) key: Option<Value>,
    pub(in super::super) purpose: Option<Value>,
    pub(in super::super) fingerprint: Option<Value>,
    pub(in super::super) send_by_at_ms: Option<i64>,
    #[serde(default)]
    pub(in super::super) even_if_answered: bool,
    #[serde(rename = "as")]
    pub(in super::super) name: Option<String>,
}

/// Where a purpose is looked for.
#[derive(Clone, Deserialize)]
pub(in super::super) struct Sought {
    pub(in super::super) scope: Option<Value>,
    pub(in super::super) lane: Option<Value>,
    pub(in super::super) purpose: Value,
    #[serde(rename = "as")]
    pub(in super::super) name: Option<String>,
}

/// Whose deliveries are wanted, how many, and their names in their order.
#[derive(Clone, Deserialize)]
pub(in super::super) struct Leasing {
    pub(in super::super) scope: Option<Value>,
    pub(in super::super) limit: Option<usize>,
    #[serde(rename = "as", default)]
    pub(in super::super) names: Vec<String>,
}

#[derive(Clone, Deserialize)]
pub(in super::super) struct Told {
    pub(in super::super) delivery: String,
    pub(in super::super) outcome: Value,
}

/// What a person says about an entry.
#[derive(Clone, Deserialize)]
pub(in super::super) struct Said {
    pub(in super::super) entry: String,
    pub(in super::super) outcome: Option<String>,
    pub(in super::super) response: Option<Value>,
    pub(in super::super) who: Value,
    pub(in super::super) note: Value,
    #[serde(rename = "as")]
    pub(in super::super) name: Option<String>,
}

/// Which entries are listed.
#[derive(Clone, Default, Deserialize)]
pub(in super::super) struct Shown {
    pub(in super::super) scope: Option<Value>,
    pub(in super::super) lane: Option<String>,
    pub(in super::super) state: Option<String>,
    pub(in super::super) page: Option<usize>,
}

#[derive(Clone, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(in super::super) enum OutboxAct {
    OpenOutbox {
        outbox: Value,
    },
    Enqueue(Wanted),
    EnqueueMany {
        enqueues: Vec<Wanted>,
    },
    Find(Sought),
    LeaseDue(Leasing),
    Deliver {
        #[serde(flatten)]
        leasing: Leasing,
        script: Vec<Value>,
    },
    Settle(Told),
    SettleAndLease {
        reports: Vec<Told>,
        #[serde(flatten)]
        leasing: Leasing,
    },
    DropDelivery {
        delivery: String,
    },
    Wire,
    NextWakeup {
        scope: Option<Value>,
    },
    Cancel {
        entry: String,
    },
    ResumeScope {
        scope: Option<Value>,
    },
    ResumeEntry {
        entry: String,
    },
    Requeue {
        entry: String,
    },
    Dismiss(Said),
    ResolveEntry(Said),
    Entry {
        entry: String,
    },
    ListEntries {
        filter: Shown,
    },
    OutboxStats,
    Changes,
    ChangesOf {
        entry: String,
    },
    Wait {
        entry: String,
        wait_ms: u64,
    },
}
