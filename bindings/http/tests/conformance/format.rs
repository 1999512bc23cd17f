//! What a file of scenarios may say: see `bindings/conformance/http/README.md`.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    #[serde(rename = "theme")]
    _theme: String,
    route: Map<String, Value>,
    scenarios: Vec<RawScenario>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScenario {
    name: String,
    rules: Vec<String>,
    #[serde(default)]
    only: Vec<String>,
    #[serde(default)]
    route: Map<String, Value>,
    #[serde(default)]
    handler: Handlers,
    steps: Vec<Step>,
    runs: u32,
}

#[derive(Clone)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) rules: Vec<String>,
    pub(crate) only: Vec<String>,
    pub(crate) route: Route,
    pub(crate) handler: Vec<Handler>,
    pub(crate) steps: Vec<Step>,
    pub(crate) runs: u32,
}

impl File {
    pub(crate) fn into_scenarios(self) -> Vec<Scenario> {
        let base = self.route;
        let whole = |raw: RawScenario| {
            let members: Map<String, Value> = base.clone().into_iter().chain(raw.route).collect();
            let route = serde_json::from_value(Value::Object(members));
            Scenario {
                route: route.unwrap_or_else(|error| panic!("{}: route: {error}", raw.name)),
                name: raw.name,
                rules: raw.rules,
                only: raw.only,
                handler: raw.handler.into_list(),
                steps: raw.steps,
                runs: raw.runs,
            }
        };
        self.scenarios.into_iter().map(whole).collect()
    }
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Route {
    pub(crate) key: KeyIs,
    pub(crate) effect: EffectName,
    pub(crate) operation: Option<String>,
    pub(crate) lease_ms: Option<u64>,
    pub(crate) retention_ms: Option<u64>,
    pub(crate) tombstone_ms: Option<u64>,
    pub(crate) wait_ms: Option<u64>,
    pub(crate) methods: Option<Vec<String>>,
    pub(crate) max_body_bytes: Option<usize>,
    pub(crate) max_request_bytes: Option<usize>,
    /// The ledger's limit, not the route's.
    pub(crate) max_response_bytes: Option<usize>,
    pub(crate) documentation: Option<String>,
    #[serde(default)]
    pub(crate) not_kept: Vec<String>,
    #[serde(default)]
    pub(crate) statuses: BTreeMap<String, u16>,
    #[serde(default)]
    pub(crate) keep: BTreeMap<u16, KeepName>,
    #[serde(default)]
    pub(crate) leave_out: Vec<String>,
    pub(crate) redact: Option<Redaction>,
    #[serde(default)]
    pub(crate) stream: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeyIs {
    Required,
    Optional,
    None,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EffectName {
    InLedger,
    Repeatable,
    AtMostOnce,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeepName {
    Complete,
    Fail,
    Release,
    Park,
    Panics,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Redaction {
    Fails,
    Blank,
    Longer,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Handlers {
    Each(Vec<Handler>),
    All(Box<Handler>),
}

impl Default for Handlers {
    fn default() -> Self {
        Self::Each(vec![Handler::default()])
    }
}

impl Handlers {
    fn into_list(self) -> Vec<Handler> {
        match self {
            Self::Each(list) => list,
            Self::All(one) => vec![*one],
        }
    }
}

#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Handler {
    pub(crate) status: u16,
    pub(crate) fields: Vec<String>,
    pub(crate) body: Bytes,
    pub(crate) raises: bool,
    pub(crate) breaks_after: Option<usize>,
    pub(crate) raises_after: Option<usize>,
    pub(crate) settles: Option<Settles>,
    pub(crate) derives: Option<String>,
    pub(crate) step: Option<String>,
    /// Whether it waits after the effect, not before it.
    pub(crate) waits_after: bool,
}

impl Default for Handler {
    fn default() -> Self {
        Self {
            status: 201,
            fields: vec!["Content-Type: text/plain".to_owned()],
            body: Bytes::Text("run %n".to_owned()),
            raises: false,
            breaks_after: None,
            raises_after: None,
            settles: None,
            derives: None,
            step: None,
            waits_after: false,
        }
    }
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Settles {
    Complete(String),
    CompleteHttp(Told),
    FailHttp(Told),
    Release,
    Park(String),
}

/// What a handler stores itself, as an HTTP response.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Told {
    pub(crate) status: u16,
    #[serde(default)]
    pub(crate) fields: Vec<String>,
    pub(crate) body: Bytes,
}

#[derive(Clone, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum Bytes {
    Text(String),
    Hex { hex: String },
    Repeat { repeat: String, times: usize },
}

impl Bytes {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Hex { hex } => (0..hex.len() / 2)
                .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hexadecimal digits"))
                .collect(),
            Self::Repeat { repeat, times } => repeat.repeat(*times).into_bytes(),
        }
    }
}

#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) user: Option<String>,
    pub(crate) keys: Vec<String>,
    #[serde(rename = "type")]
    pub(crate) content_type: Option<String>,
    pub(crate) fields: Vec<String>,
    pub(crate) body: Bytes,
    pub(crate) pieces: Option<usize>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            method: "POST".to_owned(),
            target: "/charges".to_owned(),
            user: Some("ada".to_owned()),
            keys: vec!["\"key-1\"".to_owned()],
            content_type: Some("application/json".to_owned()),
            fields: Vec::new(),
            body: Bytes::Text("{\"amount\":5}".to_owned()),
            pieces: None,
        }
    }
}

impl Request {
    /// Its field lines, but for those that frame it.
    pub(crate) fn lines(&self) -> Vec<String> {
        let user = self.user.iter().map(|user| format!("User: {user}"));
        let keys = self.keys.iter().map(|key| format!("Idempotency-Key: {key}"));
        let content_type = self.content_type.iter().map(|media_type| format!("Content-Type: {media_type}"));
        user.chain(keys).chain(content_type).chain(self.fields.iter().cloned()).collect()
    }
}

#[derive(Clone, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Step {
    Send {
        #[serde(default)]
        request: Box<Request>,
        expect: Box<Expected>,
    },
    Start {
        #[serde(rename = "as")]
        name: String,
        #[serde(default)]
        request: Box<Request>,
        #[serde(default)]
        queued: bool,
    },
    Finish {
        request: String,
        expect: Option<Box<Expected>>,
    },
    Cut {
        request: String,
    },
    CutShort {
        request: Box<Request>,
    },
    Advance {
        ms: u64,
    },
    Close,
    Suspend,
    Resume,
    Settles,
    Stored {
        #[serde(default)]
        of: Of,
        expect: Option<Box<Record>>,
    },
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Expected {
    pub(crate) status: u16,
    pub(crate) body: Option<Bytes>,
    /// What the body does not have in it.
    pub(crate) lacks: Option<String>,
    pub(crate) fields: BTreeMap<String, Lines>,
    pub(crate) replayed: Option<bool>,
    pub(crate) problem: Option<String>,
    /// Where it is said: `null` is that there is none.
    #[serde(deserialize_with = "said")]
    pub(crate) advice: Option<Value>,
    pub(crate) retry_after: Option<(u64, u64)>,
    pub(crate) expires_at_ms: Option<u64>,
    pub(crate) broken: bool,
}

/// Tells `null` from a member that is not there.
fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Lines {
    None(()),
    One(String),
    Several(Vec<String>),
}

impl Lines {
    pub(crate) fn list(&self) -> Vec<String> {
        match self {
            Self::None(()) => Vec::new(),
            Self::One(line) => vec![line.clone()],
            Self::Several(lines) => lines.clone(),
        }
    }
}

#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Of {
    pub(crate) operation: String,
    pub(crate) scope: String,
    pub(crate) key: String,
}

impl Default for Of {
    fn default() -> Self {
        Self { operation: "POST /charges".to_owned(), scope: "ada".to_owned(), key: "key-1".to_owned() }
    }
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    pub(crate) state: String,
    pub(crate) effect: Option<String>,
    pub(crate) status: Option<u16>,
    pub(crate) body: Option<Bytes>,
    pub(crate) fields: Option<BTreeMap<String, String>>,
    #[serde(default)]
    pub(crate) omitted: bool,
    pub(crate) derived: Option<String>,
}

impl Record {
    /// Whether it says anything of what is stored.
    pub(crate) fn expects_response(&self) -> bool {
        self.omitted || self.status.is_some() || self.fields.is_some() || self.body.is_some() || self.derived.is_some()
    }
}
