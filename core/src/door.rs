//! A unix socket beside a ledger file: through it the file's owner reaches the process that has it open.
//!
//! It knows lines and no more: a connection is answered with a line for a line, and while the answer is being worked on, a blank comes before it
//! each second. Whoever hears nothing at all knows that the process is stopped or hangs. Only its owner may connect (mode 0600).

use std::fs::{self, Permissions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, Scope};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use crate::process::{self, Owner};

/// Answers a line with a line, neither with its end.
pub(crate) type Answering = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// A request is short, save for the answers that a person brings. Bytes.
const LINE_BYTES_MAX: u64 = 256 << 20;
/// Whoever says nothing for so long is left: others wait.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often whoever waits is shown that the answer is being worked on, and with what: JSON does not mind it.
const SIGN_EVERY: Duration = Duration::from_secs(1);
const SIGN: &[u8] = b" ";
/// So many are answered at a time, each by a thread; the next ones wait.
const TALKS_MAX: usize = 32;

/// Where the socket lies, and who answers. Open until it is shut or dropped.
pub(crate) struct Door {
    path: PathBuf,
    /// Where people look for it, if that is elsewhere.
    sign: Option<PathBuf>,
    answering: Answering,
    owner: Owner,
    running: Mutex<Option<Running>>,
}

/// A socket, and the thread that serves it.
struct Running {
    /// Device and inode: a later owner of the ledger may have put its own in this place.
    socket: (u64, u64),
    stop: UnixStream,
    thread: JoinHandle<()>,
}

impl Door {
    /// Serves at `path` from now on; where there is a `sign`, it points there.
    pub(crate) fn open(path: PathBuf, sign: Option<PathBuf>, answering: Answering) -> io::Result<Self> {
        let sign = sign.filter(|sign| *sign != path);
        let door = Self { path, sign, answering, owner: Owner::this(), running: Mutex::default() };
        door.open_again()?;
        Ok(door)
    }

    /// Serves again after [`shut`](Door::shut). Whoever calls has the ledger file to itself, so a socket that is there already was
    /// left by somebody who is gone.
    pub(crate) fn open_again(&self) -> io::Result<()> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_some() || self.owner.is_elsewhere() {
            return Ok(());
        }
        let listener = listen(&self.path)?;
        let metadata = self.path.symlink_metadata()?;
        let (stop, stopped) = UnixStream::pair()?;
        let answering = self.answering.clone();
        let serving = move || {
            let talks = AtomicUsize::new(0);
            std::thread::scope(|scope| serve(scope, &listener, &stopped, &answering, &talks));
        };
        let thread = named().spawn(serving)?;
        *running = Some(Running { socket: (metadata.dev(), metadata.ino()), stop, thread });
        drop(running);
        self.sign.as_ref().map_or(Ok(()), |sign| point(sign, &self.path))
    }

    /// Answers the requests in hand and no more; takes the socket away. A forked child leaves it to its parent (P3).
    pub(crate) fn shut(&self) {
        if self.owner.is_elsewhere() {
            return;
        }
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Running { socket, stop, thread }) = running else { return };
        let is_mine = |metadata: fs::Metadata| (metadata.dev(), metadata.ino()) == socket;
        if self.path.symlink_metadata().is_ok_and(is_mine) {
            // Left where it lies it would do no harm: the next owner replaces it.
            let _ = fs::remove_file(&self.path);
            let _ = self.sign.as_ref().map(fs::remove_file);
        }
        // A child has the other end as well, so closing this one would not be seen.
        let _ = stop.shutdown(Shutdown::Both);
        if thread.thread().id() != std::thread::current().id() {
            let _ = thread.join();
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.shut();
    }
}

/// A socket at `path` that nobody but its owner can ever have connected to: it is made in a folder of its own, and moved.
fn listen(path: &Path) -> io::Result<UnixListener> {
    refuse_others(path)?;
    let folder = path.with_file_name(format!(".k{}", process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    let made = (|| {
        let socket = folder.join("s");
        let listener = UnixListener::bind(&socket)?;
        listener.set_nonblocking(true)?;
        fs::set_permissions(&socket, Permissions::from_mode(0o600))?;
        fs::rename(&socket, path)?;
        Ok(listener)
    })();
    let _ = fs::remove_dir_all(&folder);
    made
}

/// What is no socket is not ours to replace.
fn refuse_others(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if !found.file_type().is_socket() => Err(io::ErrorKind::AlreadyExists.into()),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes `sign` a link to `path`, in the place of an old one or of a socket that was left.
fn point(sign: &Path, path: &Path) -> io::Result<()> {
    match sign.symlink_metadata() {
        Ok(found) if found.file_type().is_symlink() || found.file_type().is_socket() => fs::remove_file(sign)?,
        Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    std::os::unix::fs::symlink(path, sign)
}

fn named() -> std::thread::Builder {
    std::thread::Builder::new().name("keyledger-admin".into())
}

fn serve<'scope>(
    scope: &'scope Scope<'scope, '_>,
    listener: &UnixListener,
    stopped: &UnixStream,
    answering: &'scope Answering,
    talks: &'scope AtomicUsize,
) {
    loop {
        let mut waiting = [PollFd::new(listener, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        match poll(&mut waiting, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
        if !waiting[1].revents().is_empty() {
            return;
        }
        let Ok((stream, _)) = listener.accept() else { continue };
        let talk = move || {
            // Whoever goes away before the answer has it not.
            let _ = converse(&stream, answering);
            talks.fetch_sub(1, Ordering::Relaxed);
        };
        if talks.fetch_add(1, Ordering::Relaxed) < TALKS_MAX {
            // Where there is no thread to be had, whoever asked is told by the end of the connection.
            let begun = named().spawn_scoped(scope, talk);
            talks.fetch_sub(usize::from(begun.is_err()), Ordering::Relaxed);
        } else {
            talk();
        }
    }
}

fn converse(stream: &UnixStream, answering: &Answering) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream.take(LINE_BYTES_MAX)).read_line(&mut line)?;
    let mut answer = with_signs_of_life(stream, || answering(line.trim_end()))?;
    answer.push('\n');
    let mut stream = stream;
    stream.write_all(answer.as_bytes())
}

/// Works in a thread of its own, and shows whoever waits for it that it goes on.
fn with_signs_of_life(mut stream: &UnixStream, work: impl FnOnce() -> String + Send) -> io::Result<String> {
    let (tell, told) = channel();
    std::thread::scope(|scope| {
        let worker = named().spawn_scoped(scope, move || tell.send(work()))?;
        loop {
            match told.recv_timeout(SIGN_EVERY) {
                Ok(answer) => return Ok(answer),
                // With nobody there any more the work goes on all the same.
                Err(RecvTimeoutError::Timeout) => drop(stream.write_all(SIGN)),
                // It panicked, and that goes no further.
                Err(RecvTimeoutError::Disconnected) => {
                    let _ = worker.join();
                    return Err(io::ErrorKind::Other.into());
                }
            }
        }
    })
}
