//! What rings bells after a while, for futures, which bring no timer of their own: the host's timers, or a thread.

use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use super::Bell;
#[cfg(not(target_arch = "wasm32"))]
use super::thread::Place;

/// Wakes after a while; what it returns, dropped, calls that off.
pub(crate) type HostTimer = Arc<dyn Fn(Duration, Waker) -> Box<dyn Send> + Send + Sync>;

/// Rings a bell in time. Set anew, or dropped, it leaves nothing behind of what it was set to before.
pub(crate) struct Alarm {
    bell: Arc<Bell>,
    host: Option<HostTimer>,
    set: Option<Set>,
}

/// What calls an alarm off when it is dropped.
enum Set {
    ByHost {
        _timer: Box<dyn Send>,
    },
    #[cfg(not(target_arch = "wasm32"))]
    ByThread {
        _place: Place,
    },
}

impl Alarm {
    pub(crate) fn new(bell: &Arc<Bell>, host: Option<HostTimer>) -> Self {
        Self { bell: bell.clone(), host, set: None }
    }

    /// The bell rings when `span` has passed.
    pub(crate) fn set(&mut self, span: Duration) {
        self.set = None;
        self.set = match &self.host {
            Some(host) => Some(Set::ByHost { _timer: host(span, Waker::from(self.bell.clone())) }),
            #[cfg(not(target_arch = "wasm32"))]
            None => Some(Set::ByThread { _place: Place::take(&self.bell, span) }),
            #[cfg(target_arch = "wasm32")]
            None => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    #[test]
    fn a_timer_of_the_hosts_is_dropped_when_it_is_not_waited_for_any_more() {
        struct Counted(Arc<AtomicUsize>);
        impl Drop for Counted {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        let under_way = Arc::new(AtomicUsize::new(0));
        let counted = under_way.clone();
        let host: HostTimer = Arc::new(move |_, waker| {
            counted.fetch_add(1, Ordering::SeqCst);
            waker.wake();
            Box::new(Counted(counted.clone()))
        });
        let bell = Arc::new(Bell::default());
        let mut alarm = Alarm::new(&bell, Some(host));
        alarm.set(HOUR);
        alarm.set(HOUR);
        bell.wait(HOUR);
        assert_eq!(under_way.load(Ordering::SeqCst), 1);
        drop(alarm);
        assert_eq!(under_way.load(Ordering::SeqCst), 0);
    }
}
