//! The least that a test needs of a runtime.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;
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
