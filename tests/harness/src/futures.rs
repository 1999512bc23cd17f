//! The least that a test needs of a runtime.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Far above what any future of a test takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Polls until it is ready.
///
/// # Panics
/// If it never ends.
pub fn finish<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let until = Instant::now() + PATIENCE;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
        assert!(Instant::now() < until, "it never ends");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Polls when it is woken, and not before: a wake that is lost is a test that fails.
///
/// # Panics
/// If nobody wakes it in time.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let until = Instant::now() + PATIENCE;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park_timeout(until.saturating_duration_since(Instant::now()));
        assert!(Instant::now() < until, "nobody has woken it");
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
