//! The records of the workload: made from their number alone, so that every layout and every process makes the same.

use sha2::{Digest, Sha256};

/// The wall clock at which record 0 was settled, in milliseconds since 1970.
pub(crate) const START_MS: u64 = 1_760_000_000_000;
/// How long a lease lasts.
const LEASE_MS: u64 = 30_000;
/// How long a settled record is kept.
const RETENTION_MS: u64 = 24 * 3_600_000;
/// How long its tombstone is kept.
const TOMBSTONE_MS: u64 = 7 * RETENTION_MS;
/// Bytes of a record without its body and id.
const HEAD_BYTES: usize = 90;
/// Bytes of the row that counts records by state.
pub(crate) const COUNTERS_BYTES: usize = 60;

const SCOPES: u64 = 1_000;
const OPERATIONS: u64 = 16;

/// One record: what identifies it and when it is due.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// Its number in order of arrival.
    pub(crate) sequence: u64,
    /// Length-framed scope, operation and key.
    pub(crate) id: Vec<u8>,
    /// SHA-256 of `id`.
    pub(crate) hash: [u8; 32],
}

impl Item {
    /// The record of that number: a scope of 20 bytes, an operation of 16 and a `UUIDv7` in text.
    pub(crate) fn numbered(sequence: u64) -> Self {
        let dice = splitmix(sequence);
        let scope = format!("tenant/{:013}", dice % SCOPES);
        let operation = format!("POST /v1/chrg/{:02}", (dice >> 32) % OPERATIONS);
        let mut id = Vec::with_capacity(80);
        for part in [scope.as_str(), operation.as_str(), uuid_v7(sequence, dice).as_str()] {
            id.extend_from_slice(&u16::try_from(part.len()).unwrap_or(u16::MAX).to_be_bytes());
            id.extend_from_slice(part.as_bytes());
        }
        Self::of_id(sequence, id)
    }

    /// The record that a stored id names.
    pub(crate) fn of_id(sequence: u64, id: Vec<u8>) -> Self {
        let hash = Sha256::digest(&id).into();
        Self { sequence, id, hash }
    }

    /// End of its lease.
    pub(crate) fn lease_end(&self) -> u64 {
        START_MS + self.sequence + LEASE_MS
    }

    /// End of its retention.
    pub(crate) fn retained_until(&self) -> u64 {
        START_MS + self.sequence + RETENTION_MS
    }

    /// End of its tombstone.
    pub(crate) fn gone_at(&self) -> u64 {
        self.retained_until() + TOMBSTONE_MS
    }

    /// Eight bytes that stand for its scope in a key.
    pub(crate) fn scope_mark(&self) -> [u8; 8] {
        splitmix(splitmix(self.sequence) % SCOPES).to_be_bytes()
    }

    /// Eight bytes that stand for its operation in an index.
    pub(crate) fn operation_mark(&self) -> [u8; 8] {
        let operation = (splitmix(self.sequence) >> 32) % OPERATIONS;
        splitmix(operation).to_be_bytes()
    }
}

/// A record: sequence, length of id, id, then a head and the body, filled from the sequence.
pub(crate) fn encode(item: &Item, body_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(10 + item.id.len() + HEAD_BYTES + body_bytes);
    bytes.extend_from_slice(&item.sequence.to_be_bytes());
    bytes.extend_from_slice(&u16::try_from(item.id.len()).unwrap_or(u16::MAX).to_be_bytes());
    bytes.extend_from_slice(&item.id);
    fill(&mut bytes, HEAD_BYTES - 10 + body_bytes, item.sequence);
    bytes
}

/// A tombstone: the id and when it ends.
pub(crate) fn encode_tombstone(item: &Item) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(18 + item.id.len());
    bytes.extend_from_slice(&item.sequence.to_be_bytes());
    bytes.extend_from_slice(&u16::try_from(item.id.len()).unwrap_or(u16::MAX).to_be_bytes());
    bytes.extend_from_slice(&item.id);
    bytes.extend_from_slice(&item.gone_at().to_be_bytes());
    bytes
}

/// The item of a record that [`encode`] or [`encode_tombstone`] wrote.
pub(crate) fn decode(bytes: &[u8]) -> anyhow::Result<Item> {
    let sequence = u64::from_be_bytes(bytes.get(..8).unwrap_or_default().try_into()?);
    let id_bytes = u16::from_be_bytes(bytes.get(8..10).unwrap_or_default().try_into()?);
    let id = bytes.get(10..10 + usize::from(id_bytes)).unwrap_or_default().to_vec();
    Ok(Item::of_id(sequence, id))
}

/// Appends `count` bytes that nothing can compress.
pub(crate) fn fill(bytes: &mut Vec<u8>, count: usize, seed: u64) {
    let end = bytes.len() + count;
    let mut dice = seed;
    while bytes.len() < end {
        dice = splitmix(dice);
        bytes.extend_from_slice(&dice.to_be_bytes());
    }
    bytes.truncate(end);
}

fn uuid_v7(sequence: u64, dice: u64) -> String {
    let time = START_MS + sequence;
    let more = splitmix(dice);
    format!(
        "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
        time >> 16,
        time & 0xffff,
        dice & 0xfff,
        0x8000 | (dice >> 12) & 0x3fff,
        more & 0xffff_ffff_ffff
    )
}

/// One step of `SplitMix64` (Steele, Lea and Flood, 2014).
pub(crate) fn splitmix(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
