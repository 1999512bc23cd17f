//! How a ledger is opened.

use std::fmt;
use std::path::Path;
#[cfg(unix)]
use std::path::PathBuf;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use super::Ledger;
#[cfg(unix)]
use super::opened::{Opened, no_door};
#[cfg(unix)]
use crate::admin::{answer_line, socket_beside};
use crate::clock::Clock;
use crate::commit::HostCall;
#[cfg(unix)]
use crate::door::Door;
use crate::engine::{Engine, EngineError, Parts};
use crate::entropy::Entropy;
use crate::error::{Error, Result};
use crate::home::Home;
use crate::options::Options;
use crate::store::disk::Disk;
use crate::store::memory::MemoryStore;
use crate::store::redb::{RedbStore, StoreOptions};
use crate::store::{OpenError, Store};
use crate::wake::HostTimer;

/// Settings of a ledger, then [`open`](Builder::open) or [`in_memory`](Builder::in_memory).
#[derive(Default)]
pub struct Builder {
    clock: Option<Arc<dyn Clock>>,
    entropy: Option<Arc<dyn Entropy>>,
    options: Options,
    host: Option<HostCall>,
    timer: Option<HostTimer>,
    is_shared: bool,
    is_read_only: bool,
    #[cfg(unix)]
    admin: Option<AdminSocket>,
}

/// Where the admin socket shall lie.
#[cfg(unix)]
enum AdminSocket {
    Beside,
    At(PathBuf),
}

impl Builder {
    /// Where the time comes from. Default: the system's clocks. On wasm32-unknown-unknown there is no default.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Where randomness comes from. Default: the operating system. On wasm32-unknown-unknown there is no default.
    pub fn entropy(mut self, entropy: impl Entropy + 'static) -> Self {
        self.entropy = Some(Arc::new(entropy));
        self
    }

    /// Bodies of responses are kept up to this length (S4), and so are rows, and the steps of a record together. Default 1 MiB.
    pub fn max_response_bytes(mut self, bytes: usize) -> Self {
        self.options.max_response_bytes = bytes;
        self
    }

    /// Memory for pages of the file. Default 64 MiB; 1 to 4 MiB are enough on a phone.
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.options.cache_bytes = bytes;
        self
    }

    /// For hosts without threads: instead of a thread of the ledger's own, the host commits what futures have queued. `call` is to see
    /// to it that [`Ledger::commit_queued`] is called soon, on the same thread and not from inside `call`; everything that was queued
    /// until then shares one sync.
    pub fn commit_by_host(mut self, call: impl Fn() + Send + Sync + 'static) -> Self {
        self.host = Some(Arc::new(call));
        self
    }

    /// For hosts without threads: futures that wait are woken by the host's timers, instead of a thread of keyledger's. `after` is to
    /// see to it that the waker is woken when the span has passed, not from inside `after`; what it returns calls that off when it is
    /// dropped. Without it, where there are no threads, only what happens to the ledger wakes whoever waits.
    pub fn wake_by_host(mut self, after: impl Fn(Duration, Waker) -> Box<dyn Send> + Send + Sync + 'static) -> Self {
        self.timer = Some(Arc::new(after));
        self
    }

    /// Lets other processes of this machine open the file as well, if they say so too (P2). What they must know of each other is
    /// on disk then: reservations of InLedger operations, and heartbeats, cost a commit.
    pub fn shared(mut self) -> Self {
        self.is_shared = true;
        self
    }

    /// Only looks at a file that is there, and changes not a byte of it, whatever its last owner has left: for an archived snapshot, a
    /// damaged file that is evidence, one that may only be read. What looks into the ledger works; what would change it answers
    /// `Unavailable`, and nothing is granted, not even in memory (P8). The file is locked as by any other owner. A repair that the
    /// next one who writes has to make is made in memory, 64 MiB at the most.
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Lets the owner of the file ask this process about the ledger while it is open, and decide: `keyledger FILE` and its commands
    /// find the unix socket beside the file (`payments.kl.admin`), which only the owner may connect to (mode 0600). A thread of its own
    /// answers, until the ledger is closed or suspended, or its last handle is dropped.
    ///
    /// For a file that one process has for itself: a shared one needs no socket, for the command line can open it as well.
    #[cfg(unix)]
    pub fn admin_socket(mut self) -> Self {
        self.admin = Some(AdminSocket::Beside);
        self
    }

    /// The same with the socket at `path`, and beside the file a link to it: for paths that are too long for a socket (some 100
    /// bytes), and folders that hold none.
    #[cfg(unix)]
    pub fn admin_socket_at(mut self, path: impl Into<PathBuf>) -> Self {
        self.admin = Some(AdminSocket::At(path.into()));
        self
    }

    /// Opens the ledger file at `path`, or makes it: for this process alone, unless it is [`shared`](Builder::shared).
    ///
    /// # Errors
    /// As [`Ledger::open`]; `InvalidArgument` for an admin socket of a shared ledger, and for one that is read-only and shared or
    /// has an admin socket; `Unavailable` where there can be no socket, and where there is no file to be looked at.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn open(mut self, path: impl AsRef<Path>) -> Result<Ledger> {
        let path = path.as_ref();
        let is_shared = self.is_shared;
        #[cfg(unix)]
        let admin = self.admin.take();
        #[cfg(unix)]
        if is_shared && admin.is_some() {
            let why = "a shared ledger has no admin socket: the command line opens the file as well";
            return Err(Error::InvalidArgument(why.into()));
        }
        let is_read_only = self.is_read_only;
        #[cfg(unix)]
        let has_more = is_shared || admin.is_some();
        #[cfg(not(unix))]
        let has_more = is_shared;
        if is_read_only && has_more {
            let why = "a ledger that is opened read-only is neither shared nor has it an admin socket";
            return Err(Error::InvalidArgument(why.into()));
        }
        let parts = self.parts()?;
        let opened = match (is_shared, is_read_only) {
            (true, _) => parts.share(path),
            (false, true) => parts.open(|options| RedbStore::look_at(path, options)),
            (false, false) => parts.open(|options| RedbStore::open(path, options)),
        };
        let engine = opened.map_err(|error| Error::from(error).at(path))?;
        #[cfg(unix)]
        if let Some(admin) = admin {
            return with_door(engine, path, admin);
        }
        Ok(Ledger::of(engine))
    }

    /// Opens the ledger on a disk that the host brings, or makes it there: a browser's file, or a test's disk that fails.
    /// Whoever brings a disk sees to it that nobody else writes to it.
    ///
    /// # Errors
    /// As [`Ledger::open`].
    pub fn open_disk(self, disk: Arc<dyn Disk>) -> Result<Ledger> {
        Ok(Ledger::of(self.parts()?.open(|options| RedbStore::open_disk(disk, options))?))
    }

    /// A ledger that is gone with the process.
    ///
    /// # Errors
    /// As [`Ledger::in_memory`].
    pub fn in_memory(self) -> Result<Ledger> {
        Ok(Ledger::of(self.parts()?.open(|_| Ok(MemoryStore::new()))?))
    }

    fn parts(self) -> Result<Parts> {
        let clock = self.clock.or_else(system_clock).ok_or_else(|| missing("clock"))?;
        let entropy = self.entropy.or_else(system_entropy).ok_or_else(|| missing("entropy"))?;
        Ok(Parts { clock, entropy, options: self.options, host: self.host, timer: self.timer })
    }
}

impl Parts {
    /// For this process alone.
    fn open<S: Store + 'static>(
        self,
        store: impl FnOnce(StoreOptions) -> Result<S, OpenError>,
    ) -> Result<Arc<Engine>, EngineError> {
        let store = Arc::new(store(self.store_options())?);
        Engine::open(store, self, Home::alone())
    }

    /// Among other processes; a forked child opens it anew.
    #[cfg(not(target_arch = "wasm32"))]
    fn share(self, path: &Path) -> Result<Arc<Engine>, EngineError> {
        let store = RedbStore::open_shared(path, self.store_options())?;
        self.share_with_children(store)
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn share_with_children(self, store: RedbStore) -> Result<Arc<Engine>, EngineError> {
        let (parts, twin) = (self.clone(), store.twin());
        let home = Home::shared(Box::new(move || {
            let store = RedbStore::share_in_child(twin.as_ref()?).ok()?;
            parts.clone().share_with_children(store).ok()
        }));
        Engine::open(Arc::new(store), self, home)
    }

    fn store_options(&self) -> StoreOptions {
        let mut creation_id = [0; 16];
        self.entropy.fill(&mut creation_id);
        StoreOptions { cache_bytes: self.options.cache_bytes, creation_id }
    }
}

/// The ledger, with a socket that answers for it while it is there.
#[cfg(unix)]
fn with_door(engine: Arc<Engine>, file: &Path, admin: AdminSocket) -> Result<Ledger> {
    let gone = Arc::downgrade(&engine);
    let answering = Arc::new(move |line: &str| answer_line(gone.upgrade().map(Ledger::of).as_ref(), line));
    // The file's own path, so that whoever comes by another one finds it.
    let file = file.canonicalize().map_err(|error| no_door(&error))?;
    let beside = socket_beside(&file);
    let at = match admin {
        AdminSocket::Beside => Ok(beside.clone()),
        AdminSocket::At(path) => std::path::absolute(path),
    };
    let door = at.and_then(|at| Door::open(at, Some(beside), answering)).map_err(|error| no_door(&error))?;
    Ok(Ledger { opened: Opened::with(engine).behind(door) })
}

fn missing(what: &str) -> Error {
    Error::InvalidArgument(format!("this platform has no {what} of its own; give the builder one"))
}

#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
#[expect(clippy::unnecessary_wraps, reason = "not every platform has one")]
fn system_clock() -> Option<Arc<dyn Clock>> {
    Some(Arc::new(crate::clock::SystemClock))
}

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
fn system_clock() -> Option<Arc<dyn Clock>> {
    None
}

#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
#[expect(clippy::unnecessary_wraps, reason = "not every platform has one")]
fn system_entropy() -> Option<Arc<dyn Entropy>> {
    Some(Arc::new(crate::entropy::OsEntropy))
}

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
fn system_entropy() -> Option<Arc<dyn Entropy>> {
    None
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("options", &self.options).finish_non_exhaustive()
    }
}
