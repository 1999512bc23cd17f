//! Futures that are under way at once, each polled only when it was woken.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use crate::wake::Bell;

/// What wakes a driver: whose turn it is, and the bell that it waits for.
pub(super) struct Woken {
    flag: AtomicBool,
    bell: Arc<Bell>,
}

impl Woken {
    pub(super) fn new(bell: &Arc<Bell>) -> Arc<Self> {
        Arc::new(Self { flag: AtomicBool::new(true), bell: bell.clone() })
    }

    /// Polls, if it was woken since the last time.
    pub(super) fn poll<F: Future + ?Sized>(self: &Arc<Self>, future: Pin<&mut F>) -> Poll<F::Output> {
        if !self.flag.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        future.poll(&mut Context::from_waker(&Waker::from(self.clone())))
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.flag.store(true, Ordering::Release);
        self.bell.ring();
    }
}

/// A future with its own waker.
pub(super) struct Task<T> {
    future: Pin<Box<dyn Future<Output = T> + Send>>,
    woken: Arc<Woken>,
}

impl<T> Task<T> {
    pub(super) fn new(bell: &Arc<Bell>, future: impl Future<Output = T> + Send + 'static) -> Self {
        Self { future: Box::pin(future), woken: Woken::new(bell) }
    }

    pub(super) fn poll(&mut self) -> Poll<T> {
        self.woken.poll(self.future.as_mut())
    }
}

/// Many of them. Dropped, they drop what they hold.
pub(super) struct Tasks<T> {
    tasks: Vec<Task<T>>,
}

impl<T> Tasks<T> {
    pub(super) fn new() -> Self {
        Self { tasks: Vec::new() }
    }

    pub(super) fn push(&mut self, task: Task<T>) {
        self.tasks.push(task);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Polls those that were woken; what those gave that ended.
    pub(super) fn ended(&mut self) -> Vec<T> {
        let mut ended = Vec::new();
        self.tasks.retain_mut(|task| match task.poll() {
            Poll::Ready(value) => {
                ended.push(value);
                false
            }
            Poll::Pending => true,
        });
        ended
    }
}
