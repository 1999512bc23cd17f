//! A disk that keeps what is written to it to itself, until it is told that all went well.
//!
//! redb repairs a file while it opens it, and may find only then that the file is beyond repair. Opened through a trial, a
//! file that is refused stays as it was (contract I9).

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::store::disk::Disk;

#[derive(Debug)]
pub(super) struct Trial {
    under: Arc<dyn Disk>,
    kept: Mutex<Vec<Act>>,
}

#[derive(Debug)]
enum Act {
    Write(u64, Vec<u8>),
    SetLen(u64),
    Sync,
}

impl Trial {
    pub(super) fn over(under: Arc<dyn Disk>) -> Trial {
        Trial { under, kept: Mutex::default() }
    }

    /// Does to the disk below what was kept, in the same order, syncs included.
    pub(super) fn settle(&self) -> io::Result<()> {
        for act in self.kept().drain(..) {
            match act {
                Act::Write(offset, data) => self.under.write(offset, &data)?,
                Act::SetLen(len) => self.under.set_len(len)?,
                Act::Sync => self.under.sync()?,
            }
        }
        Ok(())
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Act>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for Trial {
    fn len(&self) -> io::Result<u64> {
        let len = self.under.len()?;
        Ok(self.kept().iter().fold(len, |len, act| act.len_after(len)))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let kept = self.kept();
        if kept.is_empty() {
            return self.under.read(offset, out);
        }
        let under = self.under.len()?;
        let mut len = under;
        read_as_far_as_it_goes(&*self.under, under, offset, out)?;
        for act in kept.iter() {
            act.replay_on(offset, out);
            len = act.len_after(len);
        }
        if offset + out.len() as u64 > len { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.kept().push(Act::Write(offset, data.to_vec()));
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.kept().push(Act::SetLen(len));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.kept().push(Act::Sync);
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.under.close()
    }
}

impl Act {
    fn len_after(&self, len: u64) -> u64 {
        match self {
            Act::Write(offset, data) => len.max(offset + data.len() as u64),
            Act::SetLen(len) => *len,
            Act::Sync => len,
        }
    }

    // What this act makes of the bytes from `start` on, which `out` shows as they were before it.
    fn replay_on(&self, start: u64, out: &mut [u8]) {
        let end = start + out.len() as u64;
        match self {
            Act::Write(offset, data) => {
                let (from, to) = (start.max(*offset), end.min(offset + data.len() as u64));
                if from < to {
                    out[within(from, start)..within(to, start)]
                        .copy_from_slice(&data[within(from, *offset)..within(to, *offset)]);
                }
            }
            Act::SetLen(len) if *len < end => out[within(start.max(*len), start)..].fill(0),
            Act::SetLen(_) | Act::Sync => {}
        }
    }
}

fn within(position: u64, start: u64) -> usize {
    usize::try_from(position - start).expect("a place inside a buffer")
}

fn read_as_far_as_it_goes(disk: &dyn Disk, len: u64, offset: u64, out: &mut [u8]) -> io::Result<()> {
    let there = usize::try_from(len.saturating_sub(offset)).unwrap_or(usize::MAX).min(out.len());
    let (read, beyond) = out.split_at_mut(there);
    beyond.fill(0);
    if read.is_empty() { Ok(()) } else { disk.read(offset, read) }
}
