//! Group commit: callers who come at the same time share one sync.
//!
//! Whoever finds nobody leading leads: it plays its own work and that of everyone who waits, one after the other, on an
//! [`Overlay`] over the last committed state, commits what they wrote in one go, hands the lead to the next who waits, and tells
//! its followers. Work that fails or panics is thrown away whole before the next is played, so nobody is harmed by it (S7, G1).
//! No work is told its result before the commit that holds it has ended.
//!
//! Work that owns what it needs is played by the leader. A closure that borrows from its caller's stack is played by the
//! caller's own thread: the leader hands it the overlay and waits to get it back. That costs two wake-ups and no unsafe code.

#[cfg(test)]
mod double;
mod led;
mod outcome;
mod overlay;
mod place;
#[cfg(all(test, feature = "schedules"))]
mod schedules;
mod sync;
#[cfg(all(test, not(feature = "schedules")))]
mod tests;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use self::led::Led;
pub(crate) use self::outcome::{Ended, Outcome};
use self::outcome::{ended, play, poisoned};
pub(crate) use self::overlay::Overlay;
pub(crate) use self::place::Ticket;
use self::place::{Call, OwnedWork, Place, Seat};
use self::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use crate::process::Owner;
use crate::store::{CommitError, Store};
use crate::unwinding::IfLeft;

/// Work that borrows from the stack of the thread that waits for it.
type BorrowedWork<'work, T, E> = Box<dyn FnOnce(&mut Overlay) -> Result<T, E> + 'work>;

/// At most so many callers share a commit: a bound on its size, far above what a machine's threads bring.
const BATCH_MAX: usize = 1024;

/// Has a host without threads call [`Commits::commit_queued`] soon.
pub(crate) type HostCall = Arc<dyn Fn() + Send + Sync>;

/// The queue in front of a store.
pub(crate) struct Commits {
    store: Arc<dyn Store>,
    /// Whose queue this is: a closure may fork, and goes on in the child, too.
    owner: Owner,
    /// Who leads when only futures wait, in the place of a thread.
    host: Option<HostCall>,
    queue: Mutex<Queue>,
    /// Read by whoever leads, written by whoever must be alone.
    gate: RwLock<()>,
    /// Rung when the pump thread is to lead, or to end.
    pump_bell: Condvar,
}

#[derive(Default)]
struct Queue {
    leading: bool,
    waiting: VecDeque<Arc<dyn Seat>>,
    pump: Pump,
}

/// The thread that leads when only futures wait, who have no thread to lend.
#[derive(Default, PartialEq, Eq)]
enum Pump {
    #[default]
    None,
    Idle,
    Called,
    Ended,
}

impl Commits {
    pub(crate) fn new(store: Arc<dyn Store>, host: Option<HostCall>) -> Arc<Self> {
        let (queue, gate, pump_bell) = (Mutex::default(), RwLock::default(), Condvar::new());
        Arc::new(Self { store, owner: Owner::this(), host, queue, gate, pump_bell })
    }

    /// Plays `work`, which owns what it needs, and returns when the commit that holds it has ended.
    ///
    /// `after` runs once the commit has ended, before anybody is told; also when the caller has gone away.
    pub(crate) fn call<T, E>(
        &self,
        work: impl FnOnce(&mut Overlay) -> Result<T, E> + Send + 'static,
        after: impl FnOnce(&Outcome) + Send + 'static,
    ) -> Ended<T, E>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let Some(mut queue) = self.queue_unless_leading() else { return self.lead_with(work, after) };
        let place = Place::new(Some(Box::new(work)), true);
        place.state().after = Some(Box::new(after));
        queue.waiting.push_back(place.clone());
        drop(queue);
        self.wait_at(&place, None)
    }

    /// Plays `work` on this very thread, whoever leads, and returns when the commit that holds it has ended.
    pub(crate) fn call_here<T, E>(
        &self,
        work: impl FnOnce(&mut Overlay) -> Result<T, E>,
        after: impl FnOnce(&Outcome) + Send + 'static,
    ) -> Ended<T, E>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let Some(mut queue) = self.queue_unless_leading() else { return self.lead_with(work, after) };
        let place = Place::<T, E>::new(None, true);
        place.state().after = Some(Box::new(after));
        queue.waiting.push_back(place.clone());
        drop(queue);
        self.wait_at(&place, Some(Box::new(work)))
    }

    /// Queues `work` for a future: the ticket is woken when the commit has ended. The work is done even if nobody waits for it.
    pub(crate) fn submit<T, E>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Overlay) -> Result<T, E> + Send + 'static,
        after: impl FnOnce(&Outcome) + Send + 'static,
    ) -> Ticket<T, E>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let place = Place::new(Some(Box::new(work) as OwnedWork<T, E>), false);
        place.state().after = Some(Box::new(after));
        let mut queue = self.queue();
        queue.waiting.push_back(place.clone());
        if !queue.leading {
            queue.leading = true;
            self.call_pump(queue);
        }
        Ticket { place }
    }

    /// Leads for the futures that the host was told of: all of them share one sync. Nothing, if there are none.
    pub(crate) fn commit_queued(&self) {
        if self.host.is_none() {
            return;
        }
        let mut queue = self.queue();
        if queue.pump == Pump::Called {
            queue.pump = Pump::Idle;
            drop(queue);
            let _ = self.lead(&mut |_| (), &mut |_| ());
        }
    }

    /// Returns when everything that was in the queue before has ended.
    pub(crate) fn barrier(&self) {
        let _ = self.call_here(|_| Ok::<(), ()>(()), |_| ());
    }

    /// Runs `work` while no commit is in hand and none can begin.
    pub(crate) fn alone<R>(&self, work: impl FnOnce() -> R) -> R {
        let _gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        work()
    }

    /// The queue, to wait in; nothing where nobody leads: then the caller does, from now on. What the host was to commit is before it,
    /// and so is what more was queued as that ended: nobody else would, where there is one thread.
    fn queue_unless_leading(&self) -> Option<MutexGuard<'_, Queue>> {
        loop {
            self.commit_queued();
            let mut queue = self.queue();
            if self.host.is_some() && queue.pump == Pump::Called {
                continue;
            }
            let is_led = std::mem::replace(&mut queue.leading, true);
            return is_led.then_some(queue);
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leads one batch that begins with this thread's own work, then hands the lead on.
    fn lead_with<T, E>(
        &self,
        work: impl FnOnce(&mut Overlay) -> Result<T, E>,
        after: impl FnOnce(&Outcome),
    ) -> Ended<T, E> {
        let mut own = None;
        let (mut work, mut after) = (Some(work), Some(after));
        let outcome = self.lead(&mut |overlay| own = work.take().map(|work| play(overlay, work)), &mut |outcome| {
            if let Some(after) = after.take() {
                after(outcome);
            }
        });
        match own {
            Some(played) => ended(played, outcome),
            None => Ended::Failed(outcome.err().unwrap_or_else(poisoned)),
        }
    }

    /// One batch: own work first, then everyone who waits; commit; hand on; tell. Each of the two is called once at most. It is compiled
    /// once, and not for each kind of work: that is a tenth of the WebAssembly module.
    fn lead(&self, own: &mut dyn FnMut(&mut Overlay), after: &mut dyn FnMut(&Outcome)) -> Outcome {
        let hand_on = || self.hand_on();
        let mut led = Led::new(&self.owner, &hand_on, after);
        let played = catch_unwind(AssertUnwindSafe(|| self.play_and_commit(own, &mut led.followers)));
        led.end(played.unwrap_or_else(|_| Err(poisoned())))
    }

    fn play_and_commit(&self, own: &mut dyn FnMut(&mut Overlay), followers: &mut Vec<Arc<dyn Seat>>) -> Outcome {
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        let (turn, snapshot) = match self.store.take_turn() {
            Ok(taken) => taken,
            Err(error) => {
                followers.extend(self.queue().waiting.drain(..));
                return Err(Arc::new(CommitError::NotStored(error)));
            }
        };
        let mut overlay = Overlay::new(snapshot);
        own(&mut overlay);
        while followers.len() < BATCH_MAX && !self.owner.is_elsewhere() {
            let Some(next) = self.queue().waiting.pop_front() else { break };
            followers.push(next.clone());
            overlay = next.play(overlay);
        }
        if self.owner.is_elsewhere() {
            // P3: this is a child that a closure has forked. The turn, the locks and the file are its parent's: nothing is given back.
            std::mem::forget((gate, turn, overlay));
            return Err(Arc::new(CommitError::Forked));
        }
        self.store.commit(overlay.into_writes()).map_err(Arc::new)
    }

    /// Gives the lead to the first who waits and can take it; to the pump, if only futures wait; else to whoever comes next.
    fn hand_on(&self) {
        let mut queue = self.queue();
        let heir = queue.waiting.iter().position(|seat| seat.take_lead());
        match heir {
            Some(at) => {
                // The heir plays its own work first, so it leaves the line.
                queue.waiting.remove(at);
            }
            None if queue.waiting.is_empty() => queue.leading = false,
            None => self.call_pump(queue),
        }
    }

    fn wait_at<T: Send + 'static, E: Send + 'static>(
        &self,
        place: &Arc<Place<T, E>>,
        mut borrowed: Option<BorrowedWork<'_, T, E>>,
    ) -> Ended<T, E> {
        loop {
            match place.wait() {
                Call::Lead => {
                    let (owned, after) = place.take_work();
                    let after = after.unwrap_or_else(|| Box::new(|_: &Outcome| ()));
                    return match (borrowed.take(), owned) {
                        (Some(work), _) => self.lead_with(work, after),
                        (None, Some(work)) => self.lead_with(work, after),
                        (None, None) => unreachable!("a place has its work until it is played"),
                    };
                }
                Call::Turn(mut overlay) => {
                    let work = borrowed.take().expect("a turn is handed to borrowed work, and once");
                    let played = play(&mut overlay, work);
                    if self.owner.is_elsewhere() {
                        // P3: the leader is the parent's.
                        std::mem::forget(overlay);
                        return ended(played, Err(Arc::new(CommitError::Forked)));
                    }
                    place.give_back(overlay, played);
                }
                Call::Ended(ended) => return ended,
            }
        }
    }

    /// Has the pump lead, a thread or the host. Where it has ended, with its ledger, or there is none, the caller leads: nobody is left
    /// waiting.
    fn call_pump(&self, mut queue: MutexGuard<'_, Queue>) {
        let has_thread = cfg!(not(target_arch = "wasm32")) && queue.pump != Pump::Ended;
        if self.host.is_none() && !has_thread {
            drop(queue);
            let _ = self.lead(&mut |_| (), &mut |_| ());
            return;
        }
        queue.pump = Pump::Called;
        drop(queue);
        match &self.host {
            Some(host) => {
                let calling = IfLeft::then(|| self.take_back_lead());
                host();
                calling.came_back();
            }
            None => self.pump_bell.notify_one(),
        }
    }

    /// The host was not told after all: whoever comes next leads.
    fn take_back_lead(&self) {
        let mut queue = self.queue();
        if queue.pump == Pump::Called {
            queue.pump = Pump::Idle;
            queue.leading = false;
        }
    }

    /// Starts the thread that leads for futures, once. It ends with `end_pump`.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn start_pump(self: &Arc<Self>) {
        let mut queue = self.queue();
        if queue.pump == Pump::None && self.host.is_none() {
            queue.pump = Pump::Idle;
            let commits = self.clone();
            let started = sync::thread::Builder::new().name("keyledger-commit".into()).spawn(move || commits.pump());
            if started.is_err() {
                queue.pump = Pump::None;
            }
        }
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn end_pump(&self) {
        let mut queue = self.queue();
        if queue.pump != Pump::None {
            queue.pump = Pump::Ended;
            self.pump_bell.notify_one();
        }
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn pump(&self) {
        let mut queue = self.queue();
        loop {
            match queue.pump {
                Pump::Called => {
                    queue.pump = Pump::Idle;
                    drop(queue);
                    let _ = self.lead(&mut |_| (), &mut |_| ());
                    if self.owner.is_elsewhere() {
                        return;
                    }
                    queue = self.queue();
                }
                Pump::Idle => queue = self.pump_bell.wait(queue).unwrap_or_else(PoisonError::into_inner),
                Pump::Ended | Pump::None => return,
            }
        }
    }
}
