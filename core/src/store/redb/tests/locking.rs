//! P2, P5: one opener at a time.

use std::fs;

use super::{folder, open, put, rows};
use crate::store::{OpenError, Store};

#[test]
fn p2_a_second_handle_of_this_process_is_refused_until_the_first_closes() {
    let (_folder, path) = folder();
    let first = open(&path).unwrap();
    for _ in 0..3 {
        assert!(matches!(open(&path), Err(OpenError::AlreadyOpen)));
    }
    first.commit(put(b"key", b"value")).unwrap();
    first.close().unwrap();
    let second = open(&path).unwrap();
    assert_eq!(rows(&second).len(), 1);
    assert!(matches!(first.reopen(), Err(OpenError::AlreadyOpen)));
    drop(second);
    first.reopen().unwrap();
    assert_eq!(rows(&first).len(), 1);
}

#[cfg(unix)]
#[test]
fn p2_other_names_of_an_open_file_are_refused() {
    let (folder, path) = folder();
    let first = open(&path).unwrap();
    let (linked, pointed) = (folder.path().join("linked"), folder.path().join("pointed"));
    fs::hard_link(&path, &linked).unwrap();
    std::os::unix::fs::symlink(&path, &pointed).unwrap();
    assert!(matches!(open(&linked), Err(OpenError::AlreadyOpen)));
    assert!(matches!(open(&pointed), Err(OpenError::AlreadyOpen)));
    first.close().unwrap();
    drop(open(&pointed).unwrap());
}

#[cfg(unix)]
#[test]
fn p2_a_file_that_another_process_locks_is_refused() {
    let (_folder, path) = folder();
    open(&path).unwrap().close().unwrap();
    let Some(mut flock) = keyledger_needs::program("flock", "util-linux") else { return };
    let mut other = flock
        .args(["--exclusive", "--nonblock"])
        .arg(&path)
        .args(["sh", "-c", "echo locked; read line"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = [0; 7];
    std::io::Read::read_exact(&mut other.stdout.take().unwrap(), &mut told).unwrap();
    assert!(matches!(open(&path), Err(OpenError::AlreadyOpen)));
    drop(other.stdin.take());
    other.wait().unwrap();
    drop(open(&path).unwrap());
}

#[test]
fn p5_a_file_put_in_the_place_of_an_open_one_is_another_file() {
    let (folder, path) = folder();
    let first = open(&path).unwrap();
    let copy = folder.path().join("copy");
    first.copy_to(&*first.snapshot().unwrap(), &copy, [8; 16]).unwrap();
    fs::rename(&copy, &path).unwrap();
    let second = open(&path).unwrap();
    assert_eq!(second.creation_id(), [8; 16]);
    assert_eq!(first.creation_id(), [7; 16]);
}
