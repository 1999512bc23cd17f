//! The small world of the test: few keys, short times, and declarations that differ where the rules look.

use std::sync::LazyLock;

use keyledger_harness::model::{Effect, Id, Operation, Response};

pub(crate) const SCOPES: [&str; 2] = ["ann", "bob"];
pub(crate) const KEYS: [&str; 2] = ["k1", "k2"];
pub(crate) const TABLE: &str = "orders";
pub(crate) const WALL_START: u64 = 1_000_000;

/// A response of more bytes than this is stored without its body (S4).
pub(crate) const RESPONSE_BYTES_MAX: usize = 32;
/// The only text of `TEXTS` that is longer, and its SHA-256 (`printf 'x%.0s' $(seq 40) | sha256sum`).
pub(crate) const LONG: &str = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
pub(crate) const LONG_SHA256: &str = "bd913ff68243d41b9611b2690dfbf2b0f6e42ea14536a98232af60e9f64ffdaa";
pub(crate) const TEXTS: [&str; 4] = ["yes", "no", "", LONG];

/// Every declaration that a caller of the test may name. Those of one name differ in effect (E1) and in their times.
pub(crate) static DECLARED: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    vec![
        declare("wallet", Effect::InLedger, 10, (40, 30), (100, 3)),
        declare("charge", Effect::Repeatable, 10, (40, 0), (35, 3)),
        declare("mail", Effect::AtMostOnce, 10, (40, 30), (100, 3)),
        declare("charge", Effect::Repeatable, 25, (60, 0), (200, 2)),
        declare("wallet", Effect::Repeatable, 10, (20, 0), (100, 2)),
        declare("charge", Effect::AtMostOnce, 10, (40, 20), (35, 3)),
        declare("charge", Effect::InLedger, 15, (40, 20), (35, 3)),
        declare("mail", Effect::Repeatable, 10, (0, 15), (60, 3)),
        declare("wallet", Effect::InLedger, 5, (0, 0), (100, 3)),
    ]
});

fn declare(name: &str, effect: Effect, lease: u64, kept: (u64, u64), again: (u64, u32)) -> Operation {
    Operation {
        name: name.into(),
        effect,
        lease,
        retention: kept.0,
        tombstone: kept.1,
        remembered_for: again.0,
        max_attempts: again.1,
    }
}

/// Every id that the commands can name.
pub(crate) fn ids() -> Vec<Id> {
    let mut ids = Vec::new();
    for name in ["charge", "mail", "wallet"] {
        for scope in SCOPES {
            ids.extend(KEYS.map(|key| Id::new(scope, name, key)));
        }
    }
    ids
}

pub(crate) fn response(text: usize) -> Response {
    Response { media_type: "text/plain".into(), body: TEXTS[text].into() }
}
