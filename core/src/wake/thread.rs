//! One thread for the whole process, and another one in a forked child, that rings bells after a while.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::Bell;
use crate::clock::{millis, monotonic};
use crate::process::{self, GENERATIONS, PerProcess};

static TIMERS: PerProcess<Timer> = PerProcess::new([const { Timer::new() }; GENERATIONS]);

struct Timer {
    /// The process that has a thread for it; zero is none.
    started_in: AtomicU32,
    queue: Mutex<Queue>,
    changed: Condvar,
}

struct Queue {
    bells: BTreeMap<Key, Weak<Bell>>,
    added: u64,
}

/// When a bell is rung, and what tells it from others of that instant.
type Key = (u64, u64);

/// A bell's place in the queue; given up when dropped.
pub(super) struct Place {
    timer: &'static Timer,
    key: Key,
}

impl Place {
    /// The bell is rung when `span` has passed.
    pub(super) fn take(bell: &Arc<Bell>, span: Duration) -> Self {
        TIMERS.here().place(bell, span)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A forked child leaves its parent's timer alone: a thread that the child does not have may hold the lock.
        if std::ptr::eq(self.timer, TIMERS.here()) {
            self.timer.queue().bells.remove(&self.key);
        }
    }
}

impl Timer {
    const fn new() -> Self {
        let queue = Queue { bells: BTreeMap::new(), added: 0 };
        Self { started_in: AtomicU32::new(0), queue: Mutex::new(queue), changed: Condvar::new() }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&'static self, bell: &Arc<Bell>, span: Duration) -> Place {
        self.start();
        let mut queue = self.queue();
        queue.added += 1;
        let key = (monotonic().saturating_add(millis(span)), queue.added);
        queue.bells.insert(key, Arc::downgrade(bell));
        if queue.bells.first_key_value().is_some_and(|(first, _)| *first == key) {
            self.changed.notify_one();
        }
        Place { timer: self, key }
    }

    fn start(&'static self) {
        if self.started_in.swap(process::id(), Ordering::AcqRel) != process::id() {
            // Where no thread can be had, waiting futures are woken by settling alone, and look again then.
            let _ = std::thread::Builder::new().name("keyledger-timer".into()).spawn(|| self.run());
        }
    }

    fn run(&self) {
        loop {
            // Without the lock: whoever is woken may set another alarm at once.
            for bell in self.due() {
                bell.ring();
            }
        }
    }

    /// Waits until bells are to be rung.
    fn due(&self) -> Vec<Arc<Bell>> {
        let mut queue = self.queue();
        loop {
            let now = monotonic();
            let later = queue.bells.split_off(&(now + 1, 0));
            let due: Vec<_> = std::mem::replace(&mut queue.bells, later).values().filter_map(Weak::upgrade).collect();
            if !due.is_empty() {
                return due;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wake::Alarm;

    const HOUR: Duration = Duration::from_hours(1);

    fn is_queued(bell: &Arc<Bell>) -> bool {
        TIMERS.here().queue().bells.values().any(|queued| std::ptr::eq(queued.as_ptr(), Arc::as_ptr(bell)))
    }

    #[test]
    fn an_alarm_that_is_dropped_leaves_nothing_in_the_queue() {
        let bell = Arc::new(Bell::default());
        let mut alarm = Alarm::new(&bell, None);
        alarm.set(HOUR);
        assert!(is_queued(&bell));
        drop(alarm);
        assert!(!is_queued(&bell));
    }

    #[test]
    fn an_alarm_that_is_set_anew_rings_at_the_new_time_alone() {
        let bell = Arc::new(Bell::default());
        let mut alarm = Alarm::new(&bell, None);
        alarm.set(HOUR);
        alarm.set(Duration::from_millis(1));
        bell.wait(HOUR);
        assert!(!is_queued(&bell));
    }
}
