//! What the disk shows, keeps and loses.

use super::{Crash, Disk, FakeDisk, Fault};

fn written() -> FakeDisk {
    let disk = FakeDisk::new();
    disk.write(0, &[1; 2048]).unwrap();
    disk.sync().unwrap();
    disk.write(1024, &[2; 2048]).unwrap();
    disk
}

#[test]
fn what_was_synced_survives_and_the_rest_may() {
    let disk = written();
    assert_eq!(disk.crash(Crash::LosesAll), [1; 2048]);
    assert_eq!(disk.crash(Crash::KeepsAll), [[1; 1024].as_slice(), &[2; 2048]].concat());
    let kept: Vec<_> = (0..200).map(|seed| disk.crash(Crash::KeepsSome(seed))).collect();
    assert!(kept.iter().all(|image| image[..1024] == [1; 1024]));
    assert!(kept.iter().any(|image| image[1024..1536] == [1; 512] && image[1536..2048] == [2; 512]), "torn");
    assert!(kept.iter().any(|image| image.len() == 2048) && kept.iter().any(|image| image.len() == 3072));
}

#[test]
fn a_failed_sync_takes_for_written_what_it_lost() {
    let disk = written();
    disk.fail_call(1);
    assert_eq!(disk.sync().unwrap_err().raw_os_error(), Some(5));
    disk.sync().unwrap();
    assert_eq!(disk.shown()[1024..], [2; 2048], "reads show it");
    assert_eq!(disk.crash(Crash::LosesAll)[..2048], [1; 2048], "and it is not there");
    disk.write(1024, &[2; 2048]).unwrap();
    disk.sync().unwrap();
    assert_eq!(disk.crash(Crash::LosesAll), disk.shown(), "until it is written once more");
}

#[test]
fn a_stopped_disk_answers_nothing_until_it_is_healed() {
    let disk = written();
    disk.stop_at_sync(2);
    disk.sync().unwrap();
    assert!(!disk.has_failed());
    disk.write(0, b"unsynced").unwrap();
    assert!(disk.sync().is_err() && disk.has_failed());
    assert!(disk.len().is_err() && disk.write(0, b"x").is_err() && disk.close().is_err());
    disk.heal();
    assert_eq!(disk.len().unwrap(), 3072);
    assert_eq!(disk.counts().syncs, 2);
}

#[test]
fn a_short_write_leaves_half_and_a_short_read_gives_half() {
    let disk = written();
    disk.fail_call_with(2, Fault::ShortWrite);
    disk.write(0, &[3; 8]).unwrap();
    assert!(disk.write(8, &[4; 8]).is_err());
    assert_eq!(disk.shown()[..16], [[3; 8], [4, 4, 4, 4, 1, 1, 1, 1]].concat());
    disk.fail_call_with(1, Fault::ShortRead);
    let mut out = [0; 8];
    assert!(disk.read(0, &mut out).is_err());
    assert_eq!(out, [3, 3, 3, 3, 0, 0, 0, 0]);
    disk.read(0, &mut out).unwrap();
}

#[test]
fn a_fault_befalls_only_calls_that_it_can_befall_and_says_what_it_is() {
    let disk = written();
    for (fault, code) in [(Fault::Io, 5), (Fault::NoSpace, 28), (Fault::Interrupted, 4)] {
        disk.fail_call_with(1, fault);
        let read = disk.read(0, &mut [0; 8]);
        assert_eq!(read.is_ok(), fault == Fault::NoSpace, "reading needs no space");
        assert_eq!(disk.write(0, &[1]).err().or(read.err()).and_then(|error| error.raw_os_error()), Some(code));
        disk.heal();
    }
}
