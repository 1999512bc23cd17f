//! From opening to closing, and what lies between: suspend, resume, reopen (P6, P7, S6).

use std::sync::atomic::AtomicU8;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use super::{Engine, EngineError, Phase, Session, read_with};
use crate::clock::Clock;
use crate::codec::address::{Address, Salt};
use crate::codec::counters::{NEXT_FENCE, SALT, decode_fence, decode_salt, encode_fence};
use crate::commit::{Commits, Ticket};
use crate::entropy::Entropy;
use crate::fences::{BLOCK, Fences};
use crate::machine::record::{Lease, Stamp};
use crate::machine::settle::Settlement;
use crate::options::{FENCE_MAX, Options};
use crate::store::{CommitError, Space, Store, Writes};
use crate::volatile::Memory;

impl Engine {
    /// An engine over a store that was just opened. Reserves its first fences: one commit.
    pub(crate) fn open(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        options: Options,
    ) -> Result<Arc<Self>, EngineError> {
        let salt = salt_of(&*store, &*entropy)?;
        let (start, end) = reserve_block(&*store, 1)?;
        let opened_at = Stamp { wall_ms: clock.wall_ms(), mono_ms: clock.monotonic_ms(), opening: start };
        Ok(Arc::new(Self {
            commits: Commits::new(store.clone()),
            store,
            memory: Memory::new(),
            clock,
            entropy,
            options,
            salt,
            fences: Fences::new(start, end),
            opening: start,
            opened_at,
            phase: AtomicU8::new(Phase::Open as u8),
            orphans: Mutex::default(),
            last_sweep: Mutex::default(),
        }))
    }

    /// Runs `work` in the commit queue for a future, or for nobody.
    pub(crate) fn submit<T: Send + 'static, E: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Session<'_>) -> Result<T, E> + Send + 'static,
    ) -> Ticket<T, E> {
        #[cfg(not(target_arch = "wasm32"))]
        self.commits.start_pump();
        let (play, after) = self.job(work);
        self.commits.submit(play, after)
    }

    /// How a ticket's work ended.
    pub(crate) async fn arrival<T, E>(self: Arc<Self>, ticket: Ticket<T, E>) -> Result<Result<T, E>, EngineError> {
        let ended = std::future::poll_fn(|context| match ticket.poll(context.waker()) {
            Some(ended) => Poll::Ready(ended),
            None => Poll::Pending,
        });
        self.conclude(ended.await)
    }

    /// P6: stores the leases renewed in memory, lets go of file and lock. Volatile reservations end with it.
    pub(crate) fn suspend(self: &Arc<Self>) -> Result<(), EngineError> {
        self.check_outside()?;
        match self.phase() {
            Phase::Suspended => return Ok(()),
            Phase::Open | Phase::Poisoned | Phase::Closed => self.check_open()?,
        }
        self.let_go(Phase::Suspended)
    }

    /// P6: opens the file again. Durable claims are as they were; their leases ran on.
    pub(crate) fn resume(self: &Arc<Self>) -> Result<(), EngineError> {
        self.check_outside()?;
        match self.phase() {
            Phase::Open => return Ok(()),
            Phase::Suspended => {}
            Phase::Poisoned => return Err(EngineError::Poisoned),
            Phase::Closed => return Err(EngineError::Closed),
        }
        // A reservation that slipped in while the ledger was let go ends like the others.
        self.memory.for_each(|_, slot| slot.volatile = None);
        self.store.reopen()?;
        let (start, end) = reserve_block(&*self.store, 1)?;
        self.fences.replace(start, end);
        self.set_phase(Phase::Open);
        Ok(())
    }

    /// S6: opens the file again after a failed commit. Claims outlive it, in memory and on disk.
    pub(crate) fn reopen(self: &Arc<Self>) -> Result<(), EngineError> {
        self.check_outside()?;
        match self.phase() {
            Phase::Suspended => return Err(EngineError::Suspended),
            Phase::Closed => return Err(EngineError::Closed),
            Phase::Open | Phase::Poisoned => {}
        }
        self.store.reopen()?;
        let (start, end) = reserve_block(&*self.store, self.fences.next())?;
        self.fences.replace(start, end);
        self.set_phase(Phase::Open);
        self.release_orphans()
    }

    /// P7: idempotent.
    pub(crate) fn close(self: &Arc<Self>) -> Result<(), EngineError> {
        self.check_outside()?;
        match self.phase() {
            Phase::Closed => return Ok(()),
            Phase::Open => self.let_go(Phase::Closed)?,
            Phase::Poisoned | Phase::Suspended => {
                self.set_phase(Phase::Closed);
                self.store.close()?;
            }
        }
        #[cfg(not(target_arch = "wasm32"))]
        self.commits.end_pump();
        Ok(())
    }

    fn let_go(self: &Arc<Self>, phase: Phase) -> Result<(), EngineError> {
        self.store_renewed_leases()?;
        // From here on nobody gets in; whoever is in the queue is served before the store is closed.
        self.set_phase(phase);
        self.commits.barrier();
        self.memory.for_each(|_, slot| {
            slot.volatile = None;
            slot.wake();
        });
        Ok(self.store.close()?)
    }

    fn store_renewed_leases(self: &Arc<Self>) -> Result<(), EngineError> {
        let mut renewed: Vec<(Address, u64, Lease)> = Vec::new();
        self.memory.for_each(|row, slot| {
            if slot.volatile.is_none()
                && let Some((fence, lease)) = slot.witness.renewed
            {
                renewed.push((Address { id: slot.id.clone(), row: *row }, fence, lease));
            }
        });
        if renewed.is_empty() {
            return Ok(());
        }
        self.session(move |session| {
            renewed.iter().try_for_each(|(address, fence, lease)| session.store_lease(address, *fence, *lease))
        })
    }

    fn release_orphans(self: &Arc<Self>) -> Result<(), EngineError> {
        let orphans = std::mem::take(&mut *self.orphans.lock().unwrap_or_else(PoisonError::into_inner));
        if orphans.is_empty() {
            return Ok(());
        }
        let released = orphans.clone();
        let ended = self.session(move |session| {
            for (address, fence) in &released {
                match session.settle(address, *fence, &Settlement::Release) {
                    Ok(()) | Err(EngineError::ClaimLost) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        });
        if ended.is_err() {
            self.orphans.lock().unwrap_or_else(PoisonError::into_inner).extend(orphans);
        }
        ended
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        #[cfg(not(target_arch = "wasm32"))]
        self.commits.end_pump();
    }
}

/// Reserves a block of fences above all that the file knows of and above `at_least`.
fn reserve_block(store: &dyn Store, at_least: u64) -> Result<(u64, u64), EngineError> {
    let snapshot = store.snapshot()?;
    let stored = read_with(&*snapshot, Space::Meta, NEXT_FENCE, decode_fence)?.unwrap_or(1);
    drop(snapshot);
    let start = stored.max(at_least);
    let end = start.checked_add(BLOCK).filter(|end| *end <= FENCE_MAX).ok_or(EngineError::FencesSpent)?;
    let mut writes = Writes::default();
    writes.put(Space::Meta, NEXT_FENCE.to_vec(), encode_fence(end));
    store.commit(&writes).map_err(|error: CommitError| EngineError::Commit(Arc::new(error)))?;
    Ok((start, end))
}

/// The salt of the file's row keys; a new file gets one.
fn salt_of(store: &dyn Store, entropy: &dyn Entropy) -> Result<Salt, EngineError> {
    let snapshot = store.snapshot()?;
    if let Some(salt) = read_with(&*snapshot, Space::Meta, SALT, decode_salt)? {
        return Ok(salt);
    }
    drop(snapshot);
    let mut salt = [0; 16];
    entropy.fill(&mut salt);
    let mut writes = Writes::default();
    writes.put(Space::Meta, SALT.to_vec(), salt.to_vec());
    store.commit(&writes).map_err(|error| EngineError::Commit(Arc::new(error)))?;
    Ok(salt)
}
