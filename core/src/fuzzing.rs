//! Doors for the fuzz targets, to decoders that nobody else reaches from outside. None may panic, whatever the bytes are.

use crate::codec::{counters, decode_entry, encode_record, index};

/// Any bytes as a stored record. One that can be read is written and read again as the same.
///
/// # Panics
/// If it is not.
pub fn record(bytes: &[u8]) {
    if let Ok((id, record)) = decode_entry(bytes) {
        let again = decode_entry(&encode_record(&id, &record));
        assert_eq!(again.ok(), Some((id, record)));
    }
}

/// Any bytes as each kind of key and value that is not a record.
pub fn index_key(bytes: &[u8]) {
    let _ = index::read_unsettled(bytes);
    let _ = index::read_expiry(bytes);
    let _ = index::read_row(bytes);
    let _ = counters::Counters::decode(bytes);
    let _ = counters::decode_fence(bytes);
    let _ = counters::decode_salt(bytes);
}
