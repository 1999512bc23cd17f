//! Callers who ask one after the other, each on a thread of its own, for a slice of time.

use anyhow::{Result, anyhow};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Does one whole operation; the number makes its key.
pub(crate) type Caller = Box<dyn FnMut(u64) -> Result<()> + Send>;

/// One engine under one kind of load.
pub(crate) struct Side {
    callers: Vec<Caller>,
    next: AtomicU64,
}

impl Side {
    pub(crate) fn new(callers: Vec<Caller>) -> Self {
        Self { callers, next: AtomicU64::new(0) }
    }

    /// Operations a second over one slice: those that had ended when it was over.
    pub(crate) fn rate(&mut self, slice: Duration) -> Result<f64> {
        let (next, ended, over) = (&self.next, &AtomicU64::new(0), &AtomicBool::new(false));
        thread::scope(|scope| {
            let start = Instant::now();
            let threads: Vec<_> =
                self.callers.iter_mut().map(|caller| scope.spawn(|| call_until(caller, next, ended, over))).collect();
            thread::sleep(slice);
            let (count, took) = (ended.load(Ordering::Relaxed), start.elapsed());
            over.store(true, Ordering::Relaxed);
            for thread in threads {
                thread.join().map_err(|_| anyhow!("a caller panicked"))??;
            }
            #[expect(clippy::cast_precision_loss, reason = "a count of operations is far below 2^53")]
            Ok(count as f64 / took.as_secs_f64())
        })
    }
}

fn call_until(caller: &mut Caller, next: &AtomicU64, ended: &AtomicU64, over: &AtomicBool) -> Result<()> {
    while !over.load(Ordering::Relaxed) {
        caller(next.fetch_add(1, Ordering::Relaxed))?;
        ended.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
