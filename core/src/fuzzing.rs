//! Doors for the fuzz targets, to decoders that nobody else reaches from outside. None may panic, whatever the bytes are.

use crate::codec::{counters, decode_entry, encode_record, index, line, outbox};

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
    let _ = line::read_id(bytes);
    let _ = line::read_purpose_id(bytes);
    let _ = line::read_number(bytes);
    let _ = line::read_lane(bytes);
}

/// Any bytes as a row of the outbox. An entry that can be read is written and read again as the same.
///
/// # Panics
/// If it is not.
pub fn entry(bytes: &[u8]) {
    const ID: u64 = 7;
    if let Ok(entry) = outbox::decode_entry(ID, bytes) {
        let again = outbox::decode_entry(ID, &outbox::encode_entry(&entry));
        assert_eq!(again.ok(), Some(entry));
    }
    let _ = outbox::OutboxRow::decode(bytes);
    let _ = outbox::decode::<outbox::Request>("a request", bytes);
    let _ = outbox::decode::<outbox::LaneRow>("a lane", bytes);
    let _ = outbox::decode::<outbox::Declared>("a lane's settings", bytes);
}
