//! The log on a stretch of memory that can be torn.

use std::sync::Mutex;

use super::*;

#[derive(Default)]
struct Memory(Mutex<Vec<u8>>);

impl Memory {
    fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(vec![0; usize::try_from(LOG_BYTES).unwrap()])))
    }

    fn flip(&self, at: usize) {
        self.0.lock().unwrap()[at] ^= 1;
    }
}

impl Region for Memory {
    fn read(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        let at = usize::try_from(at).unwrap();
        out.copy_from_slice(&self.0.lock().unwrap()[at..at + out.len()]);
        Ok(())
    }

    fn write(&self, at: u64, data: &[u8]) -> io::Result<()> {
        let at = usize::try_from(at).unwrap();
        self.0.lock().unwrap()[at..at + data.len()].copy_from_slice(data);
        Ok(())
    }

    fn write_synced(&self, at: u64, data: &[u8]) -> io::Result<()> {
        self.write(at, data)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

const KEY: CreationId = [5; 16];

fn found(memory: &Arc<Memory>, generation: u64) -> Result<Found, LogError> {
    Log::open(Arc::clone(memory) as Arc<dyn Region>, KEY, generation)
}

/// The log of one generation alone.
fn open(memory: &Arc<Memory>, generation: u64) -> Result<(Log, Vec<Writes>), LogError> {
    let found = found(memory, generation)?;
    assert!(found.full.is_empty());
    Ok((found.log, found.recent))
}

fn append(log: &mut Log, text: &str) {
    let record = log.record(&writes(text));
    log.append(&record).unwrap();
}

fn writes(text: &str) -> Writes {
    let mut writes = Writes::default();
    writes.put(Space::Records, text.as_bytes().to_vec(), vec![7; 600]);
    writes.put(Space::Meta, b"empty".to_vec(), Vec::new());
    writes.delete(Space::Live, text.as_bytes().to_vec());
    writes
}

fn with_three(memory: &Arc<Memory>) -> Log {
    let (mut log, _) = open(memory, 4).unwrap();
    for text in ["a", "b", "c"] {
        append(&mut log, text);
    }
    log
}

fn shown(records: &[Writes]) -> Vec<String> {
    records.iter().map(|record| format!("{record:?}")).collect()
}

#[test]
fn what_was_appended_is_read_back_in_order() {
    let memory = Memory::new();
    let log = with_three(&memory);
    let (again, records) = open(&memory, 4).unwrap();
    assert_eq!(shown(&records), shown(&[writes("a"), writes("b"), writes("c")]));
    assert_eq!((again.at, again.number), (log.at, 3));
}

#[test]
fn a_record_of_another_generation_or_another_file_does_not_count() {
    let memory = Memory::new();
    with_three(&memory);
    assert!(open(&memory, 5).unwrap().1.is_empty());
    assert!(Log::open(memory, [6; 16], 4).unwrap().recent.is_empty());
}

#[test]
fn i4_a_full_half_and_what_was_appended_after_it_are_read_back_apart() {
    let memory = Memory::new();
    let mut log = with_three(&memory);
    log.begin_generation();
    append(&mut log, "d");
    let both = found(&memory, 4).unwrap();
    assert_eq!(shown(&both.full), shown(&[writes("a"), writes("b"), writes("c")]));
    assert_eq!(shown(&both.recent), shown(&[writes("d")]));
    assert_eq!((both.log.generation, both.log.at, both.log.number), (5, log.at, 4));
    assert_eq!(shown(&open(&memory, 5).unwrap().1), shown(&[writes("d")]), "moved into the tree");
}

#[test]
fn a_third_generation_begins_over_the_first() {
    let memory = Memory::new();
    let mut log = with_three(&memory);
    log.begin_generation();
    append(&mut log, "d");
    log.begin_generation();
    append(&mut log, "e");
    let both = found(&memory, 5).unwrap();
    assert_eq!(shown(&both.full), shown(&[writes("d")]));
    assert_eq!(shown(&both.recent), shown(&[writes("e")]));
}

#[test]
fn i4_a_full_half_whose_last_record_is_damaged_is_refused() {
    let memory = Memory::new();
    let mut log = with_three(&memory);
    let last = position(log.at) - 1024;
    log.begin_generation();
    append(&mut log, "d");
    memory.flip(last);
    assert!(matches!(found(&memory, 4), Err(LogError::Damaged)));
    memory.flip(last);
    for first in [HEAD, HEAD + 1024, HEAD + 2048] {
        memory.flip(first);
        assert!(matches!(found(&memory, 4), Err(LogError::Damaged)), "byte {first}");
        memory.flip(first);
    }
    found(&memory, 4).unwrap();
}

#[test]
fn what_was_found_is_written_once_more_where_it_lies() {
    let memory = Memory::new();
    let mut log = with_three(&memory);
    log.begin_generation();
    append(&mut log, "d");
    let before = memory.0.lock().unwrap().clone();
    found(&memory, 4).unwrap().make_durable().unwrap();
    assert!(*memory.0.lock().unwrap() == before);
}

#[test]
fn i4_a_torn_last_record_is_left_out_and_the_ones_before_it_stay() {
    let memory = Memory::new();
    let log = with_three(&memory);
    let record = log.record(&writes("d"));
    for torn in 0..record.len() / 512 {
        let mut image = record.clone();
        image[torn * 512..].fill(0xEE);
        memory.write(log.at, &image).unwrap();
        assert_eq!(open(&memory, 4).unwrap().1.len(), 3, "torn after {torn} sectors");
    }
}

#[test]
fn i4_a_damaged_record_with_whole_ones_behind_it_is_refused_and_not_passed_over() {
    let memory = Memory::new();
    with_three(&memory);
    let last_byte_of_the_first = HEAD + 600;
    for at in [0, 5, 9, 17, 30, last_byte_of_the_first] {
        memory.flip(at);
        assert!(matches!(open(&memory, 4), Err(LogError::Damaged)), "byte {at}");
        memory.flip(at);
    }
    assert_eq!(open(&memory, 4).unwrap().1.len(), 3);
}

#[test]
fn a_record_that_does_not_fit_is_told_before_it_is_appended() {
    let memory = Memory::new();
    let (log, _) = open(&memory, 0).unwrap();
    let mut large = Writes::default();
    large.put(Space::Rows, Vec::new(), vec![0; position(HALF_BYTES) - 1024]);
    assert!(log.has_room_for(&log.record(&large)));
    large.put(Space::Rows, Vec::new(), vec![0; position(HALF_BYTES)]);
    assert!(!log.has_room_for(&log.record(&large)));
}

#[test]
fn golden_bytes_of_a_record() {
    let (log, _) = open(&Memory::new(), 3).unwrap();
    let mut few = Writes::default();
    few.put(Space::Meta, b"k".to_vec(), b"v".to_vec());
    few.delete(Space::Live, b"x".to_vec());
    let record = log.record(&few);
    assert_eq!(record.len(), 512);
    assert_eq!(&record[..24], b"klog\x13\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    assert_eq!(&record[40..59], b"\x03\x01\x01\0\0\0k\x01\0\0\0v\x04\0\x01\0\0\0x");
    assert!(record[59..].iter().all(|byte| *byte == 0));
}
