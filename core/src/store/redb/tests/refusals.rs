//! I9: a file of another version, another kind, empty or damaged is refused with an error that says which, and not
//! overwritten.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{folder, open, open_disk, put, rows, step, try_rows};
use crate::store::redb::tests::disk::FakeDisk;
use crate::store::{OpenError, Space, Store, StoreError, Writes};

/// What refusing a file says, after seeing that the file is as it was.
fn refusal(path: &Path, bytes: &[u8]) -> String {
    fs::write(path, bytes).unwrap();
    let error = open(path).expect_err("the file is refused");
    assert!(fs::read(path).unwrap() == bytes, "I9: the file was changed by a refusal: {error}");
    match &error {
        OpenError::WrongFormat(text) => format!("wrong format: {text}"),
        OpenError::Corrupt(text) => format!("corrupt: {text}"),
        error => panic!("{error:?}"),
    }
}

/// A ledger with a few rows that was closed.
fn ledger() -> Vec<u8> {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    for number in 0..20 {
        store.commit(step(number)).unwrap();
    }
    store.close().unwrap();
    fs::read(&path).unwrap()
}

/// Where redb's storage begins.
const STORAGE: usize = 4096 + (2 << 20);

fn sealed(mut page: Vec<u8>) -> Vec<u8> {
    let checksum = Sha256::digest(&page[..40]);
    page[40..72].copy_from_slice(&checksum);
    page
}

#[test]
fn i9_other_kinds_are_refused_by_name() {
    let (_folder, path) = folder();
    for (bytes, what) in [
        (b"".to_vec(), "wrong format: the file is empty"),
        (b"to do: milk".to_vec(), "wrong format: the file is not a ledger"),
        (vec![0; 10_000], "wrong format: the file is not a ledger"),
        ([b"SQLite format 3\0".to_vec(), vec![1; 9000]].concat(), "wrong format: the file is an SQLite database"),
        (ledger()[STORAGE..].to_vec(), "wrong format: the file is a redb database"),
    ] {
        let said = refusal(&path, &bytes);
        assert!(said.starts_with(what) && said.contains("nothing was changed"), "{said}");
    }
}

#[test]
fn i9_another_format_version_is_refused_and_told() {
    let mut bytes = ledger();
    bytes[16..20].copy_from_slice(&2_u32.to_be_bytes());
    let (_folder, path) = folder();
    let said = refusal(&path, &sealed(bytes));
    assert!(said.starts_with("wrong format: the file has format version 2 and this program reads version 1"), "{said}");
}

#[test]
fn i9_any_damaged_byte_of_the_first_page_is_refused() {
    let (_folder, path) = folder();
    let whole = ledger();
    for at in (0..80).chain((80..4096).step_by(97)) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        let said = refusal(&path, &bytes);
        let kind = if at < 16 { "wrong format: the file is not a ledger" } else { "corrupt: " };
        assert!(said.starts_with(kind), "byte {at}: {said}");
    }
}

#[test]
fn i9_a_file_that_was_cut_off_is_refused_at_any_length() {
    let (_folder, path) = folder();
    let whole = ledger();
    let lengths = [1, 15, 16, 71, 72, 4095, 4096, 4097, 8192, STORAGE - 1, STORAGE, STORAGE + 1, whole.len() - 1];
    for len in lengths.into_iter().chain((4096..whole.len()).step_by(9 * 4096)) {
        let said = refusal(&path, &whole[..len]);
        assert!(said.starts_with("corrupt: "), "{len} bytes: {said}");
    }
}

#[test]
fn i9_a_file_that_grew_a_tail_is_refused() {
    let (_folder, path) = folder();
    let mut bytes = ledger();
    bytes.extend_from_slice(b"tail");
    assert!(refusal(&path, &bytes).starts_with("corrupt: "));
}

#[test]
fn i9_a_file_whose_creation_was_cut_short_is_refused() {
    let (_folder, path) = folder();
    let mut bytes = ledger();
    bytes[20..24].copy_from_slice(&1_u32.to_be_bytes());
    assert!(refusal(&path, &sealed(bytes)).starts_with("corrupt: its creation was cut short"));
}

#[test]
fn i9_damage_in_the_storage_is_refused_or_told_by_the_read_that_meets_it() {
    let (_folder, path) = folder();
    let whole = ledger();
    fs::write(&path, &whole).unwrap();
    let intact = rows(&open(&path).unwrap());
    let (mut refused, mut told) = (0, 0);
    for at in (STORAGE..STORAGE + 320).chain((STORAGE + 4096..whole.len()).step_by(1021)) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xFF;
        fs::write(&path, &bytes).unwrap();
        match open(&path).map(|store| try_rows(&store)) {
            Err(OpenError::Corrupt(_) | OpenError::WrongFormat(_)) => {
                assert!(fs::read(&path).unwrap() == bytes, "I9: byte {at}: a refused file was changed");
                refused += 1;
            }
            Ok(Err(StoreError::Corrupt(_) | StoreError::Row { .. })) => told += 1,
            // A page that nothing refers to was hit.
            Ok(Ok(found)) => assert!(found == intact, "I2: byte {at}: other rows are told than were stored"),
            other => panic!("byte {at}: {other:?}"),
        }
    }
    assert!(refused > 100 && told > 10, "{refused} refused, {told} told");
}

/// Names that lie in many leaves, with others between them that are not there.
fn name(number: u32) -> Vec<u8> {
    [&(number.wrapping_mul(0x9E37_79B9)).to_be_bytes()[..], b"a name"].concat()
}

#[test]
fn i9_damage_of_a_key_in_the_tree_never_hides_a_row_without_a_word() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    let mut writes = Writes::default();
    for number in 0..400 {
        writes.put(Space::Records, name(number), vec![3; 300]);
    }
    store.commit(writes).unwrap();
    store.close().unwrap();
    let whole = fs::read(&path).unwrap();
    let (mut told, mut silent) = (0, 0);
    for at in (STORAGE + 4096..whole.len()).step_by(331) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        let Ok(store) = open_disk(&FakeDisk::of(bytes)) else { continue };
        let snapshot = store.snapshot().unwrap();
        for number in 0..400 {
            match snapshot.get(Space::Records, &name(number), &mut |value| assert_eq!(value, [3; 300])) {
                Ok(true) => {}
                Ok(false) => silent += 1,
                Err(_) => told += 1,
            }
        }
    }
    assert!(silent == 0 && told > 20, "{silent} rows were hidden silently, {told} lookups were refused");
}

#[test]
fn i9_damage_of_the_logs_generation_is_told() {
    let (_folder, path) = folder();
    drop(open(&path).map(|store| store.commit(put(b"key", b"value")).unwrap()));
    let whole = fs::read(&path).unwrap();
    let is_row = |bytes: &[u8]| bytes == b"generation";
    let rows: Vec<usize> = (0..whole.len() - 10).filter(|at| is_row(&whole[*at..*at + 10])).collect();
    assert!(!rows.is_empty());
    for at in rows.into_iter().flat_map(|row| row..row + 10 + 12) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        let found = open_disk(&FakeDisk::of(bytes)).and_then(|store| Ok(try_rows(&store)?));
        assert!(!matches!(&found, Ok(rows) if rows.is_empty()), "byte {at}: what the log holds is passed over");
    }
}

#[test]
fn i9_what_cannot_be_read_right_now_is_unavailable_and_never_corrupt() {
    let disk = FakeDisk::new();
    let store = open_disk(&disk).unwrap();
    store.commit(put(b"key", b"value")).unwrap();
    store.close().unwrap();
    let mut call = 1;
    loop {
        let before = disk.shown();
        disk.fail_call(call);
        match open_disk(&disk) {
            Err(OpenError::Unavailable(error)) => assert_eq!(error.raw_os_error(), Some(5), "call {call}"),
            Err(error) => panic!("call {call}: {error:?}"),
            Ok(store) => {
                assert!(!disk.has_failed(), "call {call}: an error was passed over");
                assert_eq!(rows(&store), [(b"key".to_vec(), b"value".to_vec())]);
                break;
            }
        }
        assert!(disk.shown()[..4096] == before[..4096]);
        disk.heal();
        call += 1;
    }
    assert!(call > 5, "{call}");
}

#[test]
fn i9_a_missing_folder_and_a_folder_at_the_path_are_told() {
    let (folder, path) = folder();
    assert!(matches!(open(&path.join("deeper")), Err(OpenError::Unavailable(_))));
    assert!(matches!(open(folder.path()), Err(OpenError::WrongFormat(_))));
}

#[test]
fn a_file_that_was_exchanged_is_not_reopened() {
    let (folder, path) = folder();
    let store = open(&path).unwrap();
    let other = folder.path().join("other");
    store.copy_to(&*store.snapshot().unwrap(), &other, [8; 16]).unwrap();
    store.close().unwrap();
    fs::rename(&other, &path).unwrap();
    let before = fs::read(&path).unwrap();
    assert!(matches!(store.reopen(), Err(OpenError::WrongFormat(_))));
    assert!(matches!(store.snapshot(), Err(StoreError::Closed)));
    assert!(fs::read(&path).unwrap() == before);
    fs::remove_file(&path).unwrap();
    assert!(matches!(store.reopen(), Err(OpenError::Unavailable(_))), "reopen creates nothing");
    assert!(!path.exists());
}
