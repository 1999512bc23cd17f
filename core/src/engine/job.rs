//! Work on its way through the commit queue.
//!
//! The queue knows only whether work went well. What it has answered is left aside until its commit has ended, so that the queue and
//! all around it are compiled once, and not for each kind of answer: that is 20 KB of the WebAssembly module.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use super::session::{Kept, SaidNo, Session, Work};
use super::{Engine, EngineError, Errand};
use crate::commit::{self, Outcome};

type Last = Box<dyn FnOnce(&Outcome) + Send>;

/// What work has answered.
struct Answer<T, E>(Arc<Mutex<Option<Result<T, E>>>>);

impl<T, E> Answer<T, E> {
    fn of(work: impl FnOnce(&mut Session<'_>) -> Result<T, E> + Send + 'static) -> (Work, Self)
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let answer = Self(Arc::default());
        let place = Self(answer.0.clone());
        (Box::new(move |session| place.leave(work(session))), answer)
    }

    fn leave(&self, result: Result<T, E>) -> Kept {
        let kept = kept(&result);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        kept
    }

    fn take(&self) -> Option<Result<T, E>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Throws it away where its commit has failed.
    fn unless_stored(self, outcome: &Outcome) {
        if outcome.is_err() {
            drop(self.take());
        }
    }

    /// Of work that has come to its end.
    fn told(&self) -> Result<T, E> {
        self.take().expect("work that came to its end has answered")
    }
}

fn kept<T, E>(result: &Result<T, E>) -> Kept {
    if result.is_ok() { Ok(()) } else { Err(SaidNo) }
}

/// A future's place in the queue.
pub(crate) struct Ticket<T, E> {
    queued: commit::Ticket<(), SaidNo>,
    answer: Answer<T, E>,
}

impl<T, E> Ticket<T, E> {
    /// What the work has answered, when its commit has ended; else the context's waker is woken then.
    pub(crate) fn poll(&self, engine: &Engine, context: &Context<'_>) -> Poll<Result<Result<T, E>, EngineError>> {
        engine.ended(&self.queued, context).map_ok(|()| self.answer.told())
    }
}

impl Engine {
    /// Runs `work`, which owns what it needs, in the commit queue; returns when what it wrote is on disk.
    pub(crate) fn session<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Session<'_>) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        self.check_open()?;
        let (work, answer) = Answer::of(work);
        self.run(work)?;
        answer.told()
    }

    fn run(self: &Arc<Self>, work: Work) -> Result<(), EngineError> {
        let (play, after) = self.job(work);
        self.conclude(self.commits.call(play, after))
    }

    /// Runs `work` on this very thread, whoever leads the queue.
    pub(crate) fn session_here<T: Send + 'static, E: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Session<'_>) -> Result<T, E>,
    ) -> Result<Result<T, E>, EngineError> {
        self.check_open()?;
        let (mut work, mut answer) = (Some(work), None);
        self.play_here(&mut |session| {
            let work = work.take().expect("work is played once");
            kept(answer.insert(work(session)))
        })?;
        Ok(answer.expect("work that came to its end has answered"))
    }

    /// Runs `work` in the commit queue for a future, or for nobody.
    pub(crate) fn submit<T: Send + 'static, E: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Session<'_>) -> Result<T, E> + Send + 'static,
    ) -> Ticket<T, E> {
        let (work, answer) = Answer::of(work);
        // Where nobody waits any more, the answer is thrown away here, when the commit has ended.
        let left = Answer(answer.0.clone());
        let queued = self.queue(work, Box::new(move |outcome| left.unless_stored(outcome)));
        Ticket { queued, answer }
    }

    /// The same for a settlement, which may be abandoned on its way.
    pub(crate) fn submit_errand<T: Send + 'static, E: Send + 'static>(
        self: &Arc<Self>,
        errand: Arc<Errand>,
        work: impl FnOnce(&mut Session<'_>) -> Result<T, E> + Send + 'static,
    ) -> Ticket<T, E> {
        let (work, answer) = Answer::of(work);
        Ticket { queued: self.queue_errand(errand, work), answer }
    }

    fn queue_errand(self: &Arc<Self>, errand: Arc<Errand>, work: Work) -> commit::Ticket<(), SaidNo> {
        let went_well = Arc::new(AtomicBool::new(false));
        let noted = went_well.clone();
        let work: Work = Box::new(move |session| {
            work(session)?;
            noted.store(true, Ordering::Release);
            Ok(())
        });
        self.queue(work, Box::new(move |outcome| errand.ended(went_well.load(Ordering::Acquire), outcome)))
    }

    fn queue(self: &Arc<Self>, work: Work, last: Last) -> commit::Ticket<(), SaidNo> {
        #[cfg(not(target_arch = "wasm32"))]
        self.commits.start_pump();
        let (play, after) = self.job(work);
        self.commits.submit(play, move |outcome| {
            after(outcome);
            last(outcome);
        })
    }

    /// What a ticket's work has answered.
    pub(crate) async fn arrival<T, E>(self: Arc<Self>, ticket: Ticket<T, E>) -> Result<Result<T, E>, EngineError> {
        poll_fn(|context| ticket.poll(&self, context)).await
    }

    fn ended(&self, queued: &commit::Ticket<(), SaidNo>, context: &Context<'_>) -> Poll<Result<(), EngineError>> {
        queued.poll(context.waker()).map_or(Poll::Pending, |ended| Poll::Ready(self.conclude(ended)))
    }
}
