//! Sixteen askers at once, without an outbox, taking one post after another from a common list.

use super::client::{Client, Reading};
use super::plan::{Post, Request};
use anyhow::Result;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

const ASKERS: usize = 16;

/// The server that they post to, and what they post.
pub(crate) struct Crowd<'a> {
    pub(crate) port: u16,
    pub(crate) requests: &'a [Request],
    pub(crate) posts: &'a [Post],
}

/// What one sees of a working crowd.
pub(crate) struct Progress<'a> {
    answered: &'a AtomicUsize,
    pub(crate) total: usize,
}

impl Progress<'_> {
    pub(crate) fn answered(&self) -> usize {
        self.answered.load(Ordering::Relaxed)
    }
}

impl Crowd<'_> {
    /// Has all posts carried out while `meanwhile` runs here, and gives everything that was read.
    ///
    /// If `meanwhile` ends with an error, the clients stop.
    pub(crate) fn work(&self, meanwhile: impl FnOnce(&Progress<'_>) -> Result<()>) -> Result<Vec<Reading>> {
        let (next, answered, stop) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            let clients: Vec<_> =
                (0..ASKERS).map(|_| scope.spawn(|| self.one_client(&next, &answered, &stop))).collect();
            let outcome = meanwhile(&Progress { answered: &answered, total: self.posts.len() });
            stop.store(outcome.is_err(), Ordering::Relaxed);
            let readings = clients.into_iter().flat_map(|client| client.join().expect("a client panicked")).collect();
            outcome.map(|()| readings)
        })
    }

    fn one_client(&self, next: &AtomicUsize, answered: &AtomicUsize, stop: &AtomicBool) -> Vec<Reading> {
        let mut client = Client::new(self.port, stop);
        while let Some(post) = self.posts.get(next.fetch_add(1, Ordering::Relaxed)) {
            client.carry_out(*post, &self.requests[post.request]);
            answered.fetch_add(1, Ordering::Relaxed);
        }
        client.into_readings()
    }
}
