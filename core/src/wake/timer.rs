//! One thread for the whole process, and another one in a forked child, that rings bells after a while, for futures: they bring no timer of their own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::Bell;
use crate::clock::{millis, monotonic};
use crate::process::{self, GENERATIONS, PerProcess};

static TIMERS: PerProcess<Timer> = PerProcess::new([const { Timer::new() }; GENERATIONS]);

/// Rings `bell` after `span`, unless nobody has it any more by then.
pub(crate) fn ring_after(bell: &Arc<Bell>, span: Duration) {
    let timer = TIMERS.here();
    timer.start();
    timer.add(monotonic().saturating_add(millis(span)), Arc::downgrade(bell));
}

struct Timer {
    /// The process that has a thread for it; zero is none.
    started_in: AtomicU32,
    queue: Mutex<Queue>,
    changed: Condvar,
}

struct Queue {
    bells: BTreeMap<(u64, u64), Weak<Bell>>,
    added: u64,
}

impl Timer {
    const fn new() -> Self {
        let queue = Queue { bells: BTreeMap::new(), added: 0 };
        Self { started_in: AtomicU32::new(0), queue: Mutex::new(queue), changed: Condvar::new() }
    }

    fn start(&'static self) {
        if self.started_in.swap(process::id(), Ordering::AcqRel) != process::id() {
            // Where no thread can be had, waiting futures are woken by settling alone, and look again then.
            let _ = std::thread::Builder::new().name("keyledger-timer".into()).spawn(|| self.run());
        }
    }

    fn add(&self, at: u64, bell: Weak<Bell>) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.added += 1;
        let key = (at, queue.added);
        queue.bells.insert(key, bell);
        self.changed.notify_one();
    }

    fn run(&self) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let now = monotonic();
            while let Some(first) = queue.bells.first_entry().filter(|first| first.key().0 <= now) {
                if let Some(bell) = first.remove().upgrade() {
                    bell.ring();
                }
            }
            queue = match queue.bells.first_key_value() {
                Some(((at, _), _)) => {
                    let nap = Duration::from_millis(at - now);
                    self.changed.wait_timeout(queue, nap).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}
