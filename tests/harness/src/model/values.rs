//! The words of section 1 as plain values.

/// Milliseconds: an instant of one of the two clocks, or a span.
pub type Millis = u64;

/// A fence as the model numbers them: 1, 2, 3 in the order of the grants.
pub type Fence = u64;

/// Bytes that the ledger keeps without looking at them.
pub type Bytes = Vec<u8>;

/// A key id: scope, operation name, key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Id {
    /// Whose key it is.
    pub scope: String,
    /// The name of the operation.
    pub operation: String,
    /// The idempotency key.
    pub key: String,
}

impl Id {
    /// The id of `key` for `operation` in `scope`.
    pub fn new(scope: &str, operation: &str, key: &str) -> Self {
        Self { scope: scope.into(), operation: operation.into(), key: key.into() }
    }
}

/// Section 3, from the mildest to the strictest (E1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Effect {
    /// All effects are rows of this ledger.
    InLedger,
    /// The effects are elsewhere, where a derived key deduplicates them.
    Repeatable,
    /// Nobody can tell whether it happened.
    AtMostOnce,
}

/// What was asked (F7): a value, or `Unchecked` said on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fingerprint {
    /// A value; two values differ if unequal.
    Value(u8),
    /// Not compared.
    Unchecked,
}

/// What is being done, with the settings that the rules read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// Its name, part of the key id.
    pub name: String,
    /// Its effect.
    pub effect: Effect,
    /// How long a claim lasts without a heartbeat.
    pub lease: Millis,
    /// How long a settled record is replayed.
    pub retention: Millis,
    /// How long a late retry is refused after that.
    pub tombstone: Millis,
    /// How long the downstream knows a derived key (E4).
    pub remembered_for: Millis,
    /// How many attempts E4 allows.
    pub max_attempts: u32,
}

/// What is stored when a claim is completed or failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Response {
    /// Its media type.
    pub media_type: String,
    /// Its bytes as they were given; whether they are stored or only counted is S4's business.
    pub body: Bytes,
}

/// The codes of section 11 that the model answers with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// The claim is no longer this fence's.
    ClaimLost,
    /// Nothing is parked under this fence.
    NotParked,
    /// An argument that no record could make right.
    InvalidArgument,
    /// A second row under `insert_unique`.
    UniqueViolation,
    /// `compare_and_set` met another value.
    CompareFailed,
}

impl Code {
    /// The code as every language spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaimLost => "claim_lost",
            Self::NotParked => "not_parked",
            Self::InvalidArgument => "invalid_argument",
            Self::UniqueViolation => "unique_violation",
            Self::CompareFailed => "compare_failed",
        }
    }
}
