//! Time, from one place: a wall clock for what people agree on, a monotonic one for leases (contract L6).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Where a ledger gets the time. Milliseconds.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970-01-01 UTC. May jump either way.
    fn wall_ms(&self) -> u64;

    /// Milliseconds since some fixed instant of this process. Never falls; counts time asleep where the system can tell.
    fn monotonic_ms(&self) -> u64;

    /// Names the run of the machine that `monotonic_ms` counts in, if every process of it reads the same clock. In a shared ledger a
    /// lease that another process granted then goes by the monotonic clock, too (L7).
    fn boot_id(&self) -> Option<[u8; 16]> {
        None
    }

    /// The first whole millisecond of `monotonic_ms` at which `span` is over: of the present one a part may be gone. A wait of no time
    /// is over now.
    ///
    /// A clock that shows no time between two milliseconds has it exactly.
    fn end_ms(&self, span: Duration) -> u64 {
        self.monotonic_ms().saturating_add(whole_millis(span)).saturating_add(u64::from(!span.is_zero()))
    }

    /// How long a thread should really sleep for `span` of this clock to pass.
    ///
    /// A clock that only moves when a test moves it answers with a moment, and is asked again after it.
    fn sleep_for(&self, span: Duration) -> Duration {
        span
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn wall_ms(&self) -> u64 {
        (**self).wall_ms()
    }

    fn monotonic_ms(&self) -> u64 {
        (**self).monotonic_ms()
    }

    fn boot_id(&self) -> Option<[u8; 16]> {
        (**self).boot_id()
    }

    fn end_ms(&self, span: Duration) -> u64 {
        (**self).end_ms(span)
    }

    fn sleep_for(&self, span: Duration) -> Duration {
        (**self).sleep_for(span)
    }
}

/// The operating system's clocks. On Linux the monotonic one goes on while the machine sleeps.
///
/// On wasm32-unknown-unknown there are none: give the ledger a clock of the host's.
#[derive(Debug, Clone, Copy, Default)]
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
pub struct SystemClock;

#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
impl Clock for SystemClock {
    fn wall_ms(&self) -> u64 {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        millis(since_epoch)
    }

    fn monotonic_ms(&self) -> u64 {
        monotonic()
    }

    fn boot_id(&self) -> Option<[u8; 16]> {
        boot_id()
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn boot_id() -> Option<[u8; 16]> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(*uuid::Uuid::try_parse(text.trim()).ok()?.as_bytes())
}

/// The clock of other systems counts from the start of the process.
#[cfg(not(any(target_os = "linux", target_os = "android", all(target_arch = "wasm32", target_os = "unknown"))))]
fn boot_id() -> Option<[u8; 16]> {
    None
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn monotonic() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1000) + nanos / 1_000_000
}

#[cfg(not(any(target_os = "linux", target_os = "android", all(target_arch = "wasm32", target_os = "unknown"))))]
pub(crate) fn monotonic() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    millis(START.get_or_init(std::time::Instant::now).elapsed())
}

/// There is no clock, and no thread to need one.
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
pub(crate) fn monotonic() -> u64 {
    0
}

/// A clock that stands still until a test moves it. Copies share the time.
#[derive(Debug, Clone)]
pub struct ManualClock {
    time: Arc<Time>,
}

#[derive(Debug)]
struct Time {
    wall_ms: AtomicU64,
    monotonic_ms: AtomicU64,
}

impl ManualClock {
    /// A clock whose wall shows `wall_ms`.
    pub fn new(wall_ms: u64) -> Self {
        Self { time: Arc::new(Time { wall_ms: AtomicU64::new(wall_ms), monotonic_ms: AtomicU64::new(1) }) }
    }

    /// Lets time pass on both clocks.
    pub fn advance(&self, span: Duration) {
        for clock in [&self.time.wall_ms, &self.time.monotonic_ms] {
            let _ = clock.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |ms| Some(ms.saturating_add(millis(span))));
        }
    }

    /// Moves the wall clock alone, as somebody who sets it would. Stops at zero.
    pub fn jump_wall(&self, by_ms: i64) {
        let before = self.time.wall_ms.load(Ordering::SeqCst);
        self.time.wall_ms.store(before.saturating_add_signed(by_ms), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn wall_ms(&self) -> u64 {
        self.time.wall_ms.load(Ordering::SeqCst)
    }

    fn monotonic_ms(&self) -> u64 {
        self.time.monotonic_ms.load(Ordering::SeqCst)
    }

    fn end_ms(&self, span: Duration) -> u64 {
        self.monotonic_ms().saturating_add(whole_millis(span))
    }

    fn sleep_for(&self, span: Duration) -> Duration {
        span.min(Duration::from_millis(1))
    }
}

/// The fewest whole milliseconds that `span` fits in; saturates.
fn whole_millis(span: Duration) -> u64 {
    u64::try_from(span.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Whole milliseconds of `span`; saturates (contract L5).
pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_it_is_moved() {
        let clock = ManualClock::new(1000);
        let other = clock.clone();
        other.advance(Duration::from_millis(5));
        clock.jump_wall(-2000);
        assert_eq!((clock.wall_ms(), clock.monotonic_ms()), (0, 6));
    }

    #[test]
    fn a_span_is_over_at_its_end_and_not_before() {
        let clock = ManualClock::new(1000);
        let ends = |span| clock.end_ms(span) - clock.monotonic_ms();
        assert_eq!(ends(Duration::from_micros(1500)), 2);
        assert_eq!(ends(Duration::from_millis(2)), 2);
        assert_eq!(ends(Duration::ZERO), 0);
        assert_eq!(clock.end_ms(Duration::MAX), u64::MAX);
        for _ in 0..100 {
            let (began, span) = (std::time::Instant::now(), Duration::from_micros(1300));
            let end = SystemClock.end_ms(span);
            while SystemClock.monotonic_ms() < end {
                std::hint::spin_loop();
            }
            assert!(began.elapsed() >= span);
        }
        assert!(SystemClock.end_ms(Duration::ZERO) <= SystemClock.monotonic_ms());
    }

    #[test]
    fn the_monotonic_clock_of_the_system_does_not_fall() {
        let before = SystemClock.monotonic_ms();
        assert!(SystemClock.monotonic_ms() >= before);
        assert!(SystemClock.wall_ms() > 1_700_000_000_000);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn l7_the_run_of_this_machine_has_a_name() {
        assert!(SystemClock.boot_id().is_some_and(|id| id == SystemClock.boot_id().unwrap_or_default()));
    }
}
