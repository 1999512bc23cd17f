//! A disk over one that is only read: what is written stays in memory.
//!
//! redb repairs a file while it opens it, and marks it as open. Somebody who only looks leaves it as it is, and may not even be
//! allowed to do anything else.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::store::disk::Disk;

const PAGE: usize = 4096;
/// What a repair writes is a thousandth of the file. 64 MiB in all.
const PAGES_MAX: usize = 16_384;

#[derive(Debug)]
pub(super) struct Veil {
    under: Arc<dyn Disk>,
    written: Mutex<Written>,
}

#[derive(Debug)]
struct Written {
    /// By their numbers.
    pages: BTreeMap<u64, Box<[u8; PAGE]>>,
    len: u64,
    /// How much of the disk below is still seen.
    seen: u64,
}

impl Veil {
    pub(super) fn over(under: Arc<dyn Disk>) -> io::Result<Self> {
        let len = under.len()?;
        Ok(Veil { under, written: Mutex::new(Written { pages: BTreeMap::new(), len, seen: len }) })
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Written {
    /// Fills `out` from `offset` on, within one page.
    fn read(&self, under: &dyn Disk, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if let Some(page) = self.pages.get(&(offset / PAGE as u64)) {
            let at = place_in_page(offset);
            out.copy_from_slice(&page[at..at + out.len()]);
            return Ok(());
        }
        let there = usize::try_from(self.seen.saturating_sub(offset)).unwrap_or(usize::MAX).min(out.len());
        let (seen, beyond) = out.split_at_mut(there);
        beyond.fill(0);
        if seen.is_empty() { Ok(()) } else { under.read(offset, seen) }
    }

    /// Writes `data` at `offset`, within one page.
    fn write(&mut self, under: &dyn Disk, offset: u64, data: &[u8]) -> io::Result<()> {
        let (number, at) = (offset / PAGE as u64, place_in_page(offset));
        if !self.pages.contains_key(&number) {
            if self.pages.len() == PAGES_MAX {
                return Err(io::Error::other(
                    "its repair takes more than 64 MiB of memory while it is only looked at; open a copy of it for writing",
                ));
            }
            let mut page = Box::new([0; PAGE]);
            self.read(under, number * PAGE as u64, &mut page[..])?;
            self.pages.insert(number, page);
        }
        if let Some(page) = self.pages.get_mut(&number) {
            page[at..at + data.len()].copy_from_slice(data);
        }
        Ok(())
    }
}

impl Disk for Veil {
    fn len(&self) -> io::Result<u64> {
        Ok(self.written().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let written = self.written();
        let end = offset + out.len() as u64;
        if end > written.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let pages = offset / PAGE as u64..end.div_ceil(PAGE as u64);
        if end <= written.seen && written.pages.range(pages).next().is_none() {
            drop(written);
            return self.under.read(offset, out);
        }
        let mut from = 0;
        for (at, length) in pieces(offset, out.len()) {
            written.read(&*self.under, at, &mut out[from..from + length])?;
            from += length;
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut written = self.written();
        let mut from = 0;
        for (at, length) in pieces(offset, data.len()) {
            written.write(&*self.under, at, &data[from..from + length])?;
            from += length;
        }
        written.len = written.len.max(offset + data.len() as u64);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut written = self.written();
        if len < written.len {
            let first_gone = len.div_ceil(PAGE as u64);
            written.pages.split_off(&first_gone);
            if let Some(page) = written.pages.get_mut(&(len / PAGE as u64)) {
                page[place_in_page(len)..].fill(0);
            }
            written.seen = written.seen.min(len);
        }
        written.len = len;
        Ok(())
    }

    /// There is nothing that could get lost.
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.under.close()
    }
}

fn place_in_page(offset: u64) -> usize {
    usize::try_from(offset % PAGE as u64).expect("less than a page")
}

/// The parts of `offset..offset + length` that lie in one page each: where, and how long.
fn pieces(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize)> {
    let (mut at, mut left) = (offset, length);
    std::iter::from_fn(move || {
        let piece = (PAGE - place_in_page(at)).min(left);
        let found = (at, piece);
        at += piece as u64;
        left -= piece;
        (piece > 0).then_some(found)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::disk::FakeDisk;
    use super::*;

    /// What the same calls do to an array.
    fn both(calls: &[(u64, Option<&[u8]>)], under: &[u8]) {
        let below = Arc::new(FakeDisk::of(under.to_vec()));
        let veil = Veil::over(below.clone()).unwrap();
        let mut wanted = under.to_vec();
        for (at, data) in calls {
            let place = usize::try_from(*at).unwrap();
            if let Some(data) = data {
                veil.write(*at, data).unwrap();
                wanted.resize(wanted.len().max(place + data.len()), 0);
                wanted[place..place + data.len()].copy_from_slice(data);
            } else {
                veil.set_len(*at).unwrap();
                wanted.resize(place, 0);
            }
            let mut found = vec![9; wanted.len()];
            assert_eq!(veil.len().unwrap(), wanted.len() as u64);
            veil.read(0, &mut found).unwrap();
            assert!(found == wanted, "after {at}");
            let mut part = vec![9; wanted.len() / 2];
            veil.read(wanted.len() as u64 / 3, &mut part).unwrap();
            assert!(part[..] == wanted[wanted.len() / 3..][..part.len()], "after {at}");
        }
        assert!(veil.read(wanted.len() as u64, &mut [0]).is_err());
        let mut found = vec![0; under.len()];
        below.read(0, &mut found).unwrap();
        assert!(found == under, "not a byte below is changed");
    }

    #[test]
    fn what_is_written_is_read_and_the_disk_below_stays_as_it_is() {
        let long = [3; 10_000];
        both(&[(10, Some(b"abc")), (4090, Some(&long)), (20_000, None), (25_000, Some(b"x"))], &[1; 16_000]);
        both(&[(5000, None), (9000, None), (4094, Some(&long[..5])), (0, None), (8192, None)], &[1; 10_000]);
    }

    #[test]
    fn memory_is_bounded() {
        let veil = Veil::over(Arc::new(FakeDisk::of(Vec::new()))).unwrap();
        let page = [1; PAGE];
        let refused = (0..100_000).find(|number| veil.write(number * PAGE as u64, &page).is_err());
        assert_eq!(refused, Some(PAGES_MAX as u64));
    }
}
