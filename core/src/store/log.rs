//! The log: a stretch of the disk to which commits are appended, one record and one sync each.
//!
//! A tree on a disk costs a dozen scattered page writes for every commit, however small; the log costs one write in a row. It
//! has two halves. When one is full, appending goes on in the other while what the full one holds is moved into the tree
//! (docs/decisions/0004).
//!
//! A record begins at a multiple of 512 bytes, so that a torn write never reaches an acknowledged one:
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | `klog` |
//! | 4..8 | length of the payload, little-endian like all numbers here |
//! | 8..16 | generation: how many halves were filled before |
//! | 16..24 | number of the record; from one generation to the next there is no gap |
//! | 24..40 | SipHash-2-4 with 128 bits, under the file's creation id, of bytes 4..24 and the payload |
//! | 40.. | payload: for each change its space, 1 for a put or 0 for a delete, the key, and the value of a put; each framed by four bytes of length |
//!
//! A generation lies in the half that its parity names. It is over when the tree says so, in the very commit that took its
//! changes in. So there is nothing to erase, and no instant at which a change is in neither or counts in both.

use std::hash::Hasher;
use std::io;
use std::sync::Arc;

use siphasher::sip128::{Hasher128, SipHasher24};

use super::{CreationId, Space, Writes};

/// The length of the log.
pub(super) const LOG_BYTES: u64 = 2 * HALF_BYTES;
/// A generation ends before it is longer than this.
const HALF_BYTES: u64 = 1 << 20;

const SECTOR: u64 = 512;
const HEAD: usize = 40;
const MAGIC: &[u8; 4] = b"klog";

/// What the log needs of its disk: positions count from the log's own start.
pub(super) trait Region: Send + Sync {
    fn read(&self, at: u64, out: &mut [u8]) -> io::Result<()>;
    fn write(&self, at: u64, data: &[u8]) -> io::Result<()>;
    fn write_synced(&self, at: u64, data: &[u8]) -> io::Result<()>;
    fn sync(&self) -> io::Result<()>;
}

/// Where the next record goes.
pub(super) struct Log {
    region: Arc<dyn Region>,
    key: CreationId,
    generation: u64,
    number: u64,
    /// Counts from the start of the generation's half.
    at: u64,
}

/// A log as it is on the disk.
pub(super) struct Found {
    pub(super) log: Log,
    /// What a full half holds that was not yet moved, in order.
    pub(super) full: Vec<Writes>,
    /// What was appended after it.
    pub(super) recent: Vec<Writes>,
}

impl Found {
    /// Writes what was read once more and syncs it: a system that was killed between write and sync shows records that may not
    /// be on the disk.
    pub(super) fn make_durable(&self) -> io::Result<()> {
        let Log { region, at, .. } = &self.log;
        let full = if self.full.is_empty() { 0 } else { HALF_BYTES };
        for (start, bytes) in [(HALF_BYTES - self.log.start(), full), (self.log.start(), *at)] {
            let mut image = vec![0; position(bytes)];
            region.read(start, &mut image)?;
            region.write(start, &image)?;
        }
        if full + at > 0 { region.sync() } else { Ok(()) }
    }
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
    /// Reads the log of which all before `generation` is in the tree.
    pub(super) fn open(region: Arc<dyn Region>, key: CreationId, generation: u64) -> Result<Found, LogError> {
        let mut log = Log { region, key, generation, number: 0, at: 0 };
        let first = log.read_generation()?;
        let (end, number) = (log.at, log.number);
        log.begin_generation();
        let second = log.read_generation()?;
        if second.is_empty() {
            (log.generation, log.at, log.number) = (generation, end, number);
            return Ok(Found { log, full: Vec::new(), recent: first });
        }
        // The second half was begun when the first was full, so nothing between them may be missing.
        let follows = !first.is_empty() && log.number - second.len() as u64 == number;
        if follows { Ok(Found { log, full: first, recent: second }) } else { Err(LogError::Damaged) }
    }

    /// Whether the generation has room for a record of these bytes, and for a mark after it.
    pub(super) fn has_room_for(&self, record: &[u8]) -> bool {
        self.at + record.len() as u64 + SECTOR <= HALF_BYTES
    }

    /// Whether no generation has.
    pub(super) fn can_never_hold(record: &[u8]) -> bool {
        record.len() as u64 + SECTOR > HALF_BYTES
    }

    /// The record that `writes` become at the log's end.
    pub(super) fn record(&self, writes: &Writes) -> Vec<u8> {
        let mut record = Vec::with_capacity(HEAD + payload_bytes(writes) + position(SECTOR));
        record.resize(HEAD, 0);
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
        self.region.write_synced(self.start() + self.at, record)?;
        self.went_on(record);
        Ok(())
    }

    /// The same, and syncs whatever others have appended before.
    pub(super) fn append_after_others(&mut self, record: &[u8]) -> io::Result<()> {
        self.region.write(self.start() + self.at, record)?;
        self.region.sync()?;
        self.went_on(record);
        Ok(())
    }

    /// Appends a record that changes nothing. It tells other processes that what is in the log may be in the tree as well, and need
    /// not survive them.
    pub(super) fn append_mark(&mut self) -> io::Result<()> {
        let mark = self.record(&Writes::default());
        self.region.write(self.start() + self.at, &mark)?;
        self.went_on(&mark);
        Ok(())
    }

    fn went_on(&mut self, record: &[u8]) {
        self.at += record.len() as u64;
        self.number += 1;
    }

    /// Syncs whatever anybody has appended.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.region.sync()
    }

    /// The next record, if another process has appended one.
    pub(super) fn read_next(&mut self) -> io::Result<Option<Writes>> {
        let left = HALF_BYTES - self.at;
        if left < SECTOR {
            return Ok(None);
        }
        let mut head = [0; HEAD];
        self.region.read(self.start() + self.at, &mut head)?;
        let length = u64::from(u32::from_le_bytes(four(&head, 4)));
        if !head.starts_with(MAGIC) || u64_at(&head, 8) != self.generation || HEAD as u64 + length > left {
            return Ok(None);
        }
        let mut record = vec![0; HEAD + position(length)];
        self.region.read(self.start() + self.at, &mut record)?;
        let Some((number, payload)) = self.payload_in(&record) else { return Ok(None) };
        // The first of a generation says where its numbers begin.
        if number != self.number && self.at > 0 {
            return Ok(None);
        }
        let writes = decode(payload);
        if writes.is_some() {
            self.number = number + 1;
            self.at += (record.len() as u64).next_multiple_of(SECTOR);
        }
        Ok(writes)
    }

    /// Goes to the start of a generation, all before which is in the tree.
    pub(super) fn go_to(&mut self, generation: u64) {
        (self.generation, self.at) = (generation, 0);
    }

    /// Which generation records are appended to.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// From now on records are appended to the next generation. What lay in its half must be in the tree.
    pub(super) fn begin_generation(&mut self) {
        self.generation += 1;
        self.at = 0;
    }

    /// Writes zeros over what earlier generations left behind. Only while there is nothing that is in no tree.
    pub(super) fn erase(&self) -> io::Result<()> {
        debug_assert_eq!(self.at, 0, "what is in the log is in no tree yet");
        self.region.write(0, &vec![0; position(LOG_BYTES)])?;
        self.region.sync()
    }

    /// Where the generation's half begins.
    fn start(&self) -> u64 {
        self.generation % 2 * HALF_BYTES
    }

    /// Reads the records of the generation, and goes to where the next one belongs.
    fn read_generation(&mut self) -> Result<Vec<Writes>, LogError> {
        let mut image = vec![0; position(HALF_BYTES)];
        self.region.read(self.start(), &mut image)?;
        if let Some((number, _)) = self.payload_in(&image) {
            self.number = number;
        }
        let mut records = Vec::new();
        while let Some((writes, end)) = self.record_in(&image) {
            records.push(writes);
            self.at = end;
            self.number += 1;
        }
        // A torn record can only be the last one: nothing is appended after a failure. A whole one behind it means that an
        // acknowledged record is damaged, and must not be passed over.
        let mut behind = (self.at..HALF_BYTES).step_by(512);
        let is_damaged = behind.any(|at| self.payload_in(&image[position(at)..]).is_some());
        if is_damaged { Err(LogError::Damaged) } else { Ok(records) }
    }

    /// The record that comes next in the half's image, and where it ends; `None` where there is none that is whole.
    fn record_in(&self, image: &[u8]) -> Option<(Writes, u64)> {
        let (number, payload) = self.payload_in(image.get(position(self.at)..)?)?;
        let end = self.at + ((HEAD + payload.len()) as u64).next_multiple_of(SECTOR);
        if number == self.number { Some((decode(payload)?, end)) } else { None }
    }

    /// Number and payload of a whole record of this generation that `bytes` begin with.
    fn payload_in<'a>(&self, bytes: &'a [u8]) -> Option<(u64, &'a [u8])> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        if !head.starts_with(MAGIC) || u64_at(head, 8) != self.generation {
            return None;
        }
        let payload = rest.get(..u32::from_le_bytes(four(head, 4)) as usize)?;
        (self.checksum(&head[4..24], payload) == head[24..]).then(|| (u64_at(head, 16), payload))
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

/// How long a record's payload is.
fn payload_bytes(writes: &Writes) -> usize {
    let changes = Space::ALL.into_iter().flat_map(|space| writes.of(space));
    changes.map(|(key, change)| 2 + 4 + key.len() + change.as_ref().map_or(0, |value| 4 + value.len())).sum()
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
