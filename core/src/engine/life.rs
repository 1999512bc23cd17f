//! From opening to closing, and what lies between: suspend, resume, reopen (P6, P7, S6).

use std::sync::atomic::AtomicU8;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::fence_block::FenceBlock;
use super::{Engine, EngineError, Owed, Parts, Phase, read_with};
use crate::codec::address::{Address, Salt};
use crate::codec::counters::{BOOT, Boot, SALT, decode_salt};
use crate::commit::Commits;
use crate::entropy::Entropy;
use crate::fences::Fences;
use crate::home::Home;
use crate::machine::record::{Lease, Stamp};
use crate::outbox_memory::OutboxMemory;
use crate::store::{Space, Store, StoreError, Writes};
use crate::volatile::Memory;

impl Engine {
    /// An engine over a store that was just opened. Reserves its first fences: one commit.
    pub(crate) fn open(store: Arc<dyn Store>, parts: Parts, home: Home<Engine>) -> Result<Arc<Self>, EngineError> {
        let Parts { clock, entropy, options, host, timer } = parts;
        let is_shared = home.is_shared();
        let is_only_looked_at = store.is_only_looked_at();
        let salt = salt_of(&*store, (!is_only_looked_at).then_some(&*entropy))?;
        let block = if is_only_looked_at { FenceBlock::NONE } else { reserve_block(&*store, 1, is_shared)? };
        // No stored stamp has the last name.
        let name = if is_only_looked_at { u64::MAX } else { block.start };
        let boot_id = clock.boot_id().filter(|_| is_shared);
        let opening = boot_id.map_or(Ok(name), |id| opening_of(&*store, Boot { id, opening: block.start }))?;
        let opened_at = Stamp { wall_ms: clock.wall_ms(), mono_ms: clock.monotonic_ms(), opening };
        Ok(Arc::new(Self {
            commits: Commits::new(store.clone(), host),
            store,
            memory: Memory::new((!is_shared).then_some(opened_at.mono_ms)),
            outbox: OutboxMemory::default(),
            clock,
            entropy,
            timer,
            options,
            salt,
            fences: Fences::new(block.usable(is_shared), block.end),
            home,
            opening,
            opened_at,
            phase: AtomicU8::new(Phase::Open as u8),
            life: Mutex::default(),
            owed: Mutex::default(),
            last_sweep: Mutex::default(),
        }))
    }

    /// P6: stores the leases renewed in memory, lets go of file and lock. Volatile reservations end with it.
    pub(crate) fn suspend(self: &Arc<Self>) -> Result<(), EngineError> {
        let _alone = self.change_phase()?;
        match self.phase() {
            Phase::Suspended => return Ok(()),
            Phase::Open | Phase::Poisoned | Phase::Closed => self.check_open()?,
        }
        self.let_go(Phase::Suspended)
    }

    /// P6: opens the file again. Durable claims are as they were; their leases ran on. Outcomes that nobody is left to tell again
    /// are settled (S3).
    pub(crate) fn resume(self: &Arc<Self>) -> Result<(), EngineError> {
        let _alone = self.change_phase()?;
        match self.phase() {
            // What a resume before could not settle is owed still.
            Phase::Open => return self.settle_owed(),
            Phase::Suspended => {}
            Phase::Poisoned => return Err(EngineError::Poisoned),
            Phase::Closed => return Err(EngineError::Closed),
        }
        // A reservation that slipped in while the ledger was let go ends like the others.
        self.memory.for_each(|_, slot| slot.volatile = None);
        self.open_again()?;
        self.settle_owed()
    }

    /// S6: opens the file again after a failed commit. Claims outlive it, in memory and on disk.
    pub(crate) fn reopen(self: &Arc<Self>) -> Result<(), EngineError> {
        let _alone = self.change_phase()?;
        match self.phase() {
            Phase::Suspended => return Err(EngineError::Suspended),
            Phase::Closed => return Err(EngineError::Closed),
            Phase::Open | Phase::Poisoned => {}
        }
        self.open_again()?;
        self.settle_owed()
    }

    /// P7: idempotent.
    pub(crate) fn close(self: &Arc<Self>) -> Result<(), EngineError> {
        let _alone = self.change_phase()?;
        match self.phase() {
            Phase::Closed => return Ok(()),
            Phase::Open => self.let_go(Phase::Closed)?,
            Phase::Poisoned | Phase::Suspended => {
                self.set_phase(Phase::Closed);
                self.outbox.ring();
                self.commits.alone(|| self.store.close())?;
            }
        }
        #[cfg(not(target_arch = "wasm32"))]
        self.commits.end_pump();
        Ok(())
    }

    /// `suspend`, `resume`, `reopen` and `close` come one after the other: each looks at the phase that the one before it has left.
    ///
    /// Refused first to whoever would wait for ever: a forked child, whose lock may be held by a thread that it does not have, and
    /// a closure in the queue, whose end the holder may be waiting for.
    fn change_phase(&self) -> Result<MutexGuard<'_, ()>, EngineError> {
        self.check_outside()?;
        Ok(self.life.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the file again, and a block of fences above all that were given out. Nobody commits meanwhile: a commit in hand could
    /// reserve the same block (I5), or keep the turn of the file that is let go.
    fn open_again(&self) -> Result<(), EngineError> {
        self.commits.alone(|| {
            self.store.reopen()?;
            if self.store.is_only_looked_at() {
                self.set_phase(Phase::Open);
                return Ok(());
            }
            let block = reserve_block(&*self.store, self.fences.next(), self.is_shared())?;
            if !self.fences.is_last(block.stored) {
                self.memory.taken_again(self.clock.monotonic_ms());
            }
            self.fences.replace(block.usable(self.is_shared()), block.end);
            self.set_phase(Phase::Open);
            self.outbox.ring();
            Ok(())
        })
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
        self.outbox.ring();
        Ok(self.commits.alone(|| self.store.close())?)
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

    /// Settles what is owed. A claim that was taken over, or ended with `suspend`, is owed nothing any more.
    fn settle_owed(self: &Arc<Self>) -> Result<(), EngineError> {
        // What was queued while there was no file has failed by then, and is among it.
        self.commits.barrier();
        let owed = std::mem::take(&mut *self.owed.lock().unwrap_or_else(PoisonError::into_inner));
        if owed.is_empty() {
            return Ok(());
        }
        let settling = owed.clone();
        let ended = self.session(move |session| {
            for Owed { address, fence, settlement } in &settling {
                match session.settle(address, *fence, settlement) {
                    Ok(()) | Err(EngineError::ClaimLost) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        });
        if ended.is_err() {
            self.owed.lock().unwrap_or_else(PoisonError::into_inner).extend(owed);
        }
        ended
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if self.is_elsewhere() {
            // P3: what closing would touch is the parent's. A child that has dropped its handle keeps what it was given.
            std::mem::forget(self.store.clone());
        } else {
            #[cfg(not(target_arch = "wasm32"))]
            self.commits.end_pump();
        }
    }
}

/// Reserves the next block of fences.
fn reserve_block(store: &dyn Store, at_least: u64, is_shared: bool) -> Result<FenceBlock, EngineError> {
    let (_turn, snapshot) = store.take_turn()?;
    let block = FenceBlock::after(&*snapshot, at_least, is_shared)?;
    drop(snapshot);
    let (space, key, value) = block.row();
    store_row(store, space, key, value)?;
    Ok(block)
}

/// What names an opening in stamps: in one run of the machine all who share the ledger have the same name, the first one's, for
/// their monotonic clocks are one (L7).
fn opening_of(store: &dyn Store, boot: Boot) -> Result<u64, EngineError> {
    let (_turn, snapshot) = store.take_turn()?;
    let stored = read_with(&*snapshot, Space::Meta, BOOT, Boot::decode)?;
    if let Some(first) = stored.filter(|stored| stored.id == boot.id) {
        return Ok(first.opening);
    }
    drop(snapshot);
    store_row(store, Space::Meta, BOOT.to_vec(), boot.encode())?;
    Ok(boot.opening)
}

/// The salt of the file's row keys; a new file gets one, out of that entropy.
fn salt_of(store: &dyn Store, entropy: Option<&dyn Entropy>) -> Result<Salt, EngineError> {
    let (_turn, snapshot) = store.take_turn()?;
    if let Some(salt) = read_with(&*snapshot, Space::Meta, SALT, decode_salt)? {
        return Ok(salt);
    }
    drop(snapshot);
    let Some(entropy) = entropy else {
        return Err(StoreError::Corrupt("it has no salt of its row keys".into()).into());
    };
    let mut salt = [0; 16];
    entropy.fill(&mut salt);
    store_row(store, Space::Meta, SALT.to_vec(), salt.to_vec())?;
    Ok(salt)
}

/// One row, in a commit of its own. The caller has the turn.
fn store_row(store: &dyn Store, space: Space, key: Vec<u8>, value: Vec<u8>) -> Result<(), EngineError> {
    let mut writes = Writes::default();
    writes.put(space, key, value);
    store.commit(writes).map_err(|error| EngineError::Commit(Arc::new(error)))
}
