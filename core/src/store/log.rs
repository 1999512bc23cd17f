//! The log: a stretch of the disk to which commits are appended, one record and one sync each.
//!
//! A tree on a disk costs a dozen scattered page writes for every commit, however small; the log costs one write in a row. What
//! is in it is moved into the tree when it is full (docs/decisions/0004).
//!
//! A record begins at a multiple of 512 bytes, so that a torn write never reaches an acknowledged one:
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | `klog` |
//! | 4..8 | length of the payload, little-endian like all numbers here |
//! | 8..16 | generation: how often the log was moved before |
//! | 16..24 | number of the record within its generation, from 0 |
//! | 24..40 | SipHash-2-4 with 128 bits, under the file's creation id, of bytes 4..24 and the payload |
//! | 40.. | payload: for each change its space, 1 for a put or 0 for a delete, the key, and the value of a put; each framed by four bytes of length |
//!
//! A generation is over when the tree says so, in the very commit that took the log's changes in. So there is nothing to erase,
//! and no instant at which a change is in neither or counts in both.

use std::hash::Hasher;
use std::io;
use std::sync::Arc;

use siphasher::sip128::{Hasher128, SipHasher24};

use super::{CreationId, Space, Writes};

/// The length of the log. A thousand small commits.
pub(super) const LOG_BYTES: u64 = 1 << 20;

const SECTOR: u64 = 512;
const HEAD: usize = 40;
const MAGIC: &[u8; 4] = b"klog";

/// What the log needs of its disk: positions count from the log's own start.
pub(super) trait Region: Send + Sync {
    fn read(&self, at: u64, out: &mut [u8]) -> io::Result<()>;
    fn write(&self, at: u64, data: &[u8]) -> io::Result<()>;
    fn sync(&self) -> io::Result<()>;
}

/// Where the next record goes.
pub(super) struct Log {
    region: Arc<dyn Region>,
    key: CreationId,
    generation: u64,
    number: u64,
    at: u64,
}

/// Why the log of a file cannot be read.
#[derive(Debug)]
pub(super) enum LogError {
    Io(io::Error),
    /// An acknowledged record is damaged: there are whole ones after it.
    Damaged,
}

impl From<io::Error> for LogError {
    fn from(error: io::Error) -> Self {
        LogError::Io(error)
    }
}

impl Log {
    /// The log of `generation` as it is on the disk, and what its records change, in order.
    pub(super) fn open(
        region: Arc<dyn Region>,
        key: CreationId,
        generation: u64,
    ) -> Result<(Log, Vec<Writes>), LogError> {
        let mut log = Log { region, key, generation, number: 0, at: 0 };
        let mut image = vec![0; position(LOG_BYTES)];
        log.region.read(0, &mut image)?;
        let mut records = Vec::new();
        while let Some((writes, end)) = log.record_in(&image) {
            records.push(writes);
            log.at = end;
            log.number += 1;
        }
        if log.has_whole_records_behind(&image) { Err(LogError::Damaged) } else { Ok((log, records)) }
    }

    /// Writes what was read once more and syncs it: a system that was killed between write and sync shows records that may not
    /// be on the disk.
    pub(super) fn make_durable(&self) -> io::Result<()> {
        let mut bytes = vec![0; position(self.at)];
        if bytes.is_empty() {
            return Ok(());
        }
        self.region.read(0, &mut bytes)?;
        self.region.write(0, &bytes)?;
        self.region.sync()
    }

    /// Whether there is room for a record of these bytes.
    pub(super) fn has_room_for(&self, record: &[u8]) -> bool {
        self.at + record.len() as u64 <= LOG_BYTES
    }

    /// The record that `writes` become at the log's end.
    pub(super) fn record(&self, writes: &Writes) -> Vec<u8> {
        let mut record = vec![0; HEAD];
        for space in Space::ALL {
            for (key, change) in writes.of(space) {
                record.push(space as u8);
                record.push(u8::from(change.is_some()));
                push_framed(&mut record, key);
                if let Some(value) = change {
                    push_framed(&mut record, value);
                }
            }
        }
        let length = u32::try_from(record.len() - HEAD).unwrap_or(u32::MAX);
        record[..4].copy_from_slice(MAGIC);
        record[4..8].copy_from_slice(&length.to_le_bytes());
        record[8..16].copy_from_slice(&self.generation.to_le_bytes());
        record[16..24].copy_from_slice(&self.number.to_le_bytes());
        let checksum = self.checksum(&record[4..24], &record[HEAD..]);
        record[24..HEAD].copy_from_slice(&checksum);
        record.resize(record.len().next_multiple_of(512), 0);
        record
    }

    /// Appends a record and syncs it. On `Ok` it survives a loss of power.
    pub(super) fn append(&mut self, record: &[u8]) -> io::Result<()> {
        self.region.write(self.at, record)?;
        self.region.sync()?;
        self.at += record.len() as u64;
        self.number += 1;
        Ok(())
    }

    /// The number of the generation that follows this one.
    pub(super) fn next_generation(&self) -> u64 {
        self.generation + 1
    }

    /// Everything that was appended is in the tree: begins again at the start.
    pub(super) fn begin_generation(&mut self) {
        self.generation += 1;
        self.number = 0;
        self.at = 0;
    }

    /// Writes zeros over what earlier generations left behind. Only while this one is empty.
    pub(super) fn erase(&self) -> io::Result<()> {
        debug_assert_eq!(self.at, 0, "what is in the log is in no tree yet");
        self.region.write(0, &vec![0; position(LOG_BYTES)])?;
        self.region.sync()
    }

    /// The record that comes next in the log's image, and where it ends; `None` where there is none that is whole.
    fn record_in(&self, image: &[u8]) -> Option<(Writes, u64)> {
        let payload = self.payload_in(image.get(position(self.at)..)?, |number| number == self.number)?;
        let end = self.at + ((HEAD + payload.len()) as u64).next_multiple_of(SECTOR);
        Some((decode(payload)?, end))
    }

    /// The payload of a whole record of this generation that `bytes` begin with.
    fn payload_in<'a>(&self, bytes: &'a [u8], is_wanted: impl Fn(u64) -> bool) -> Option<&'a [u8]> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let is_ours = head.starts_with(MAGIC) && u64_at(head, 8) == self.generation && is_wanted(u64_at(head, 16));
        let payload = rest.get(..u32::from_le_bytes(four(head, 4)) as usize)?;
        (is_ours && self.checksum(&head[4..24], payload) == head[24..]).then_some(payload)
    }

    /// A torn record can only be the last one: nothing is appended after a failure. A whole one behind it means that an
    /// acknowledged record is damaged, and must not be passed over.
    fn has_whole_records_behind(&self, image: &[u8]) -> bool {
        let sectors = (self.at..LOG_BYTES).step_by(512);
        sectors.into_iter().any(|at| self.payload_in(&image[position(at)..], |number| number > self.number).is_some())
    }

    fn checksum(&self, head: &[u8], payload: &[u8]) -> [u8; 16] {
        let mut hasher = SipHasher24::new_with_key(&self.key);
        hasher.write(head);
        hasher.write(payload);
        hasher.finish128().as_bytes()
    }
}

fn position(at: u64) -> usize {
    usize::try_from(at).expect("the log is short")
}

fn push_framed(record: &mut Vec<u8>, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    record.extend_from_slice(&length.to_le_bytes());
    record.extend_from_slice(bytes);
}

fn decode(mut payload: &[u8]) -> Option<Writes> {
    let mut writes = Writes::default();
    while let Some((head, rest)) = payload.split_first_chunk::<2>() {
        payload = rest;
        let space = *Space::ALL.get(usize::from(head[0]))?;
        let key = take_framed(&mut payload)?.to_vec();
        match head[1] {
            0 => writes.delete(space, key),
            1 => writes.put(space, key, take_framed(&mut payload)?.to_vec()),
            _ => return None,
        }
    }
    payload.is_empty().then_some(writes)
}

fn take_framed<'a>(payload: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = payload.split_first_chunk::<4>()?;
    let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *payload = rest;
    Some(bytes)
}

fn four(bytes: &[u8], at: usize) -> [u8; 4] {
    [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32::from_le_bytes(four(bytes, at))) | u64::from(u32::from_le_bytes(four(bytes, at + 4))) << 32
}

#[cfg(test)]
mod tests;
