//! Remembers what was written since the last sync that succeeded, so that it can be written again after one that failed.
//!
//! A system whose sync failed takes the pages for written all the same: reads show them, later syncs pass them over, and a
//! loss of power takes them away. An engine reopened on such pages would build on sand (contract S6, I4).

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::store::disk::Disk;

/// Places that may not be on the disk, although reads show them. They outlive the engine that wrote them.
#[derive(Debug, Default)]
pub(super) struct Doubts(Mutex<Vec<Place>>);

#[derive(Debug, Clone, Copy)]
struct Place {
    offset: u64,
    len: usize,
}

impl Doubts {
    /// Writes what reads show at those places once more and syncs it. From then on disk and reads agree.
    pub(super) fn settle(&self, disk: &dyn Disk) -> io::Result<()> {
        let places = self.take();
        if places.is_empty() {
            return Ok(());
        }
        let settled = write_again(disk, &places);
        if settled.is_err() {
            self.places().extend(places);
        }
        settled
    }

    fn take(&self) -> Vec<Place> {
        std::mem::take(&mut *self.places())
    }

    fn places(&self) -> MutexGuard<'_, Vec<Place>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_again(disk: &dyn Disk, places: &[Place]) -> io::Result<()> {
    let end = disk.len()?;
    for place in places {
        let there = usize::try_from(end.saturating_sub(place.offset)).unwrap_or(usize::MAX).min(place.len);
        let mut bytes = vec![0; there];
        disk.read(place.offset, &mut bytes)?;
        disk.write(place.offset, &bytes)?;
    }
    disk.sync()
}

/// A disk with somebody who remembers.
#[derive(Debug)]
pub(super) struct Witness {
    disk: Arc<dyn Disk>,
    doubts: Arc<Doubts>,
}

impl Witness {
    pub(super) fn of(disk: Arc<dyn Disk>, doubts: &Arc<Doubts>) -> Arc<dyn Disk> {
        Arc::new(Witness { disk, doubts: Arc::clone(doubts) })
    }
}

impl Disk for Witness {
    fn len(&self) -> io::Result<u64> {
        self.disk.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.disk.read(offset, out)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let written = self.disk.write(offset, data);
        // Afterwards, and also if it failed half way: a sync in between may only make the list too long.
        self.doubts.places().push(Place { offset, len: data.len() });
        written
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        let places = self.doubts.take();
        let synced = self.disk.sync();
        if synced.is_err() {
            self.doubts.places().extend(places);
        }
        synced
    }

    fn write_synced(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let written = self.disk.write_synced(offset, data);
        if written.is_err() {
            self.doubts.places().push(Place { offset, len: data.len() });
        }
        written
    }

    fn close(&self) -> io::Result<()> {
        self.disk.close()
    }
}
