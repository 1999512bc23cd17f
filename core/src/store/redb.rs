//! The store on redb. Nothing outside this file and its folder names that crate.
//!
//! A ledger file is one page of our own ([`header`]), the log, and redb's storage after them. The header is looked at, and the
//! file is locked, before redb may touch anything (contract I9, P5).

mod backend;
#[cfg(not(target_arch = "wasm32"))]
mod create;
mod engine;
mod errors;
mod fresh;
mod front;
mod header;
mod layer;
mod logged;
#[cfg(not(target_arch = "wasm32"))]
mod look;
mod mover;
mod open;
#[cfg(not(target_arch = "wasm32"))]
mod path;
#[cfg(not(target_arch = "wasm32"))]
mod peers;
mod region;
mod scrub;
#[cfg(not(target_arch = "wasm32"))]
mod shared;
mod tables;
#[cfg(test)]
mod tests;
mod trial;
#[cfg(not(target_arch = "wasm32"))]
mod veil;
mod witness;

use std::path::Path;
#[cfg(not(target_arch = "wasm32"))]
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

#[cfg(not(target_arch = "wasm32"))]
pub(super) use self::create::copy_to;
pub(crate) use self::engine::StoreOptions;
use self::front::Front;
use self::witness::Doubts;
use super::disk::Disk;
use super::host_disk::HostDisk;
use super::{CommitError, CreationId, FileReport, OpenError, Snapshot, Store, StoreError, Turn, Writes};
use crate::unwinding::IfLeft;

/// A ledger file, or a disk in its place.
#[derive(Debug)]
pub(crate) struct RedbStore {
    origin: Origin,
    cache_bytes: usize,
    creation_id: CreationId,
    doubts: Arc<Doubts>,
    state: RwLock<State>,
    /// Held by whoever closes it or opens it again: one at a time.
    changing: Mutex<()>,
}

/// A shared ledger that is open already: which file, and which ledger.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug, Clone)]
pub(crate) struct Twin {
    path: PathBuf,
    options: StoreOptions,
}

/// So that the same path is meant after a change of folder.
#[cfg(not(target_arch = "wasm32"))]
fn absolute(path: &Path) -> Result<PathBuf, OpenError> {
    std::path::absolute(path).map_err(OpenError::Unavailable)
}

#[derive(Debug)]
enum Origin {
    #[cfg(not(target_arch = "wasm32"))]
    File(PathBuf),
    /// A file that other processes may have open as well.
    #[cfg(not(target_arch = "wasm32"))]
    SharedFile(PathBuf),
    /// A file that is only looked at.
    #[cfg(not(target_arch = "wasm32"))]
    LookedAt(PathBuf),
    Disk(Arc<HostDisk>),
}

#[derive(Debug)]
enum State {
    Open(Box<dyn Front>),
    Poisoned,
    Closed,
}

impl RedbStore {
    /// Opens the ledger at `path`; where there is no file, one is created and put in place whole.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn open(path: &Path, options: StoreOptions) -> Result<RedbStore, OpenError> {
        let path = &absolute(path)?;
        RedbStore::start(Origin::File(path.clone()), options, |doubts| path::open_or_create(path, options, doubts))
    }

    /// The same, for several processes at a time (contract P2).
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn open_shared(path: &Path, options: StoreOptions) -> Result<RedbStore, OpenError> {
        let path = &absolute(path)?;
        RedbStore::start(Origin::SharedFile(path.clone()), options, |doubts| {
            path::share_or_create(path, options, doubts)
        })
    }

    /// Looks at the ledger at `path`, and makes none. Not a byte of the file is changed: what would change it is refused with
    /// `LookedAt` (contract P8).
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn look_at(path: &Path, options: StoreOptions) -> Result<RedbStore, OpenError> {
        let path = &absolute(path)?;
        RedbStore::start(Origin::LookedAt(path.clone()), options, |_| path::look_at(path, options.cache_bytes, None))
    }

    /// The same ledger once more, for a forked child of this process: none is created, and no other is opened (P3).
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn share_in_child(twin: &Twin) -> Result<RedbStore, OpenError> {
        let Twin { path, options } = twin;
        RedbStore::start(Origin::SharedFile(path.clone()), *options, |doubts| {
            path::share_again(path, options.cache_bytes, open::Known { creation_id: options.creation_id, doubts })
        })
    }

    /// What a forked child needs to open the same ledger.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn twin(&self) -> Option<Twin> {
        let options = StoreOptions { cache_bytes: self.cache_bytes, creation_id: self.creation_id };
        match &self.origin {
            Origin::SharedFile(path) => Some(Twin { path: path.clone(), options }),
            Origin::File(_) | Origin::LookedAt(_) | Origin::Disk(_) => None,
        }
    }

    /// Opens the ledger on `disk`; on an empty one, or one on which that was cut short, it is created.
    pub(crate) fn open_disk(disk: Arc<dyn Disk>, options: StoreOptions) -> Result<RedbStore, OpenError> {
        let disk = HostDisk::of(disk);
        let opened: Arc<dyn Disk> = disk.clone();
        RedbStore::start(Origin::Disk(disk), options, |doubts| {
            Ok(Box::new(open::open_or_create_on(&opened, options, doubts)?))
        })
    }

    /// The id that the file was created with.
    #[cfg(test)]
    pub(crate) fn creation_id(&self) -> CreationId {
        self.creation_id
    }

    fn start(
        origin: Origin,
        options: StoreOptions,
        open: impl FnOnce(&Arc<Doubts>) -> Result<Box<dyn Front>, OpenError>,
    ) -> Result<RedbStore, OpenError> {
        let doubts = Arc::default();
        let engine = open(&doubts)?;
        let (cache_bytes, creation_id) = (options.cache_bytes, engine.creation_id());
        let state = RwLock::new(State::Open(engine));
        Ok(RedbStore { origin, cache_bytes, creation_id, doubts, state, changing: Mutex::default() })
    }

    fn start_again(&self) -> Result<Box<dyn Front>, OpenError> {
        let known = open::Known { creation_id: self.creation_id, doubts: &self.doubts };
        match &self.origin {
            #[cfg(not(target_arch = "wasm32"))]
            Origin::File(path) => path::open_again(path, self.cache_bytes, known),
            #[cfg(not(target_arch = "wasm32"))]
            Origin::SharedFile(path) => path::share_again(path, self.cache_bytes, known),
            #[cfg(not(target_arch = "wasm32"))]
            Origin::LookedAt(path) => path::look_at(path, self.cache_bytes, Some(self.creation_id)),
            Origin::Disk(disk) => {
                let disk: Arc<dyn Disk> = disk.clone();
                Ok(Box::new(open::open_again_on(&disk, self.cache_bytes, known)?))
            }
        }
    }

    /// While it runs no new view is handed out; those that are out are soon given back.
    fn without_readers<T>(&self, work: impl Fn(&mut dyn Front) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut state = self.state_mut();
        let engine = state.engine_mut()?;
        let health = engine.health();
        let working = IfLeft::then(|| health.poison());
        let mut answer = Err(StoreError::Busy);
        for _ in 0..READER_LOOKS {
            answer = work(engine);
            if !matches!(answer, Err(StoreError::Busy)) {
                break;
            }
            wait_for_readers();
        }
        working.came_back();
        answer
    }

    /// Runs a call of the engine. One that is left half way leaves it in no state to go on.
    fn with<T, E>(
        &self,
        call: impl FnOnce(&dyn Front) -> Result<T, E>,
        refused: impl FnOnce(StoreError) -> E,
    ) -> Result<T, E> {
        let state = self.state();
        let engine = state.engine().map_err(refused)?;
        let calling = IfLeft::then(|| engine.health().poison());
        let answer = call(engine);
        calling.came_back();
        answer
    }

    /// Leaves `meanwhile` in the place of what was there. Closing and opening wait for the turn in a shared ledger, and whoever has
    /// the turn comes here before it gives it back: so the lock must be free by then.
    fn take_out(&self, meanwhile: State) -> State {
        std::mem::replace(&mut *self.state_mut(), meanwhile)
    }

    // What a call has left half way is known by its health.
    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_mut(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn engine(&self) -> Result<&dyn Front, StoreError> {
        match self {
            State::Open(engine) => engine.check().map(|()| &**engine),
            State::Poisoned => Err(StoreError::Poisoned),
            State::Closed => Err(StoreError::Closed),
        }
    }

    fn engine_mut(&mut self) -> Result<&mut dyn Front, StoreError> {
        self.engine()?;
        match self {
            State::Open(engine) => Ok(&mut **engine),
            State::Poisoned | State::Closed => Err(StoreError::Poisoned),
        }
    }
}

impl Store for RedbStore {
    fn take_turn(&self) -> Result<(Turn, Arc<dyn Snapshot>), StoreError> {
        self.with(|engine| engine.take_turn(), |error| error)
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, StoreError> {
        self.with(|engine| engine.snapshot(), |error| error)
    }

    fn commit(&self, writes: Writes) -> Result<(), CommitError> {
        self.with(|engine| engine.commit(writes), CommitError::NotStored)
    }

    fn file_bytes(&self) -> Result<u64, StoreError> {
        self.with(|engine| engine.file_bytes(), |error| error)
    }

    fn report(&self) -> Result<FileReport, StoreError> {
        self.with(|engine| engine.report(), |error| error)
    }

    fn check(&self) -> Result<bool, StoreError> {
        self.without_readers(|engine| engine.check_integrity())
    }

    fn compact(&self) -> Result<(), StoreError> {
        self.without_readers(|engine| engine.compact())
    }

    fn close(&self) -> Result<(), StoreError> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        match self.take_out(State::Closed) {
            State::Open(engine) => engine.close(),
            State::Poisoned | State::Closed => Ok(()),
        }
    }

    fn reopen(&self) -> Result<(), OpenError> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let meanwhile = match self.state().engine() {
            Ok(_) => return Ok(()),
            Err(StoreError::Closed) => State::Closed,
            Err(_) => State::Poisoned,
        };
        // The broken engine has to let go of the file before it can be opened again.
        drop(self.take_out(meanwhile));
        let engine = self.start_again()?;
        *self.state_mut() = State::Open(engine);
        Ok(())
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn is_only_looked_at(&self) -> bool {
        matches!(self.origin, Origin::LookedAt(_))
    }

    fn is_calling_its_host(&self) -> bool {
        matches!(&self.origin, Origin::Disk(disk) if disk.is_calling())
    }

    fn copy_to(&self, snapshot: &dyn Snapshot, path: &Path, creation_id: CreationId) -> Result<(), OpenError> {
        copy_to(snapshot, path, creation_id)
    }
}

/// How often, and how long each time, whoever needs the file alone waits for views to be given back: ten seconds in all.
const READER_LOOKS: u32 = 2000;

#[cfg(not(target_arch = "wasm32"))]
fn wait_for_readers() {
    std::thread::sleep(std::time::Duration::from_millis(5));
}

/// Without threads nobody gives anything back meanwhile.
#[cfg(target_arch = "wasm32")]
fn wait_for_readers() {}

/// A host without files has nowhere to copy to.
#[cfg(target_arch = "wasm32")]
pub(super) fn copy_to(_: &dyn Snapshot, _: &Path, _: CreationId) -> Result<(), OpenError> {
    Err(OpenError::Unavailable(std::io::ErrorKind::Unsupported.into()))
}
