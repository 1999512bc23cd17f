//! What `inspect` shows.

use super::record::{Reason, Record, State};
use super::values::{Bytes, Effect, Fence, Fingerprint, Id, Millis, Response};
use super::world::Model;

/// A record as it counts now: its state after its times, not as a sweep left it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// The state's name, in the spelling of section 4.
    pub state: &'static str,
    /// The last claim's fence.
    pub fence: Fence,
    /// How many claims have been granted.
    pub attempt: u32,
    /// The record's effect.
    pub effect: Effect,
    /// The record's fingerprint.
    pub fingerprint: Fingerprint,
    /// The memo.
    pub memo: Bytes,
    /// The steps.
    pub steps: Vec<(String, Bytes)>,
    /// When the first claim was granted.
    pub first_granted_at: Millis,
    /// In progress, or lapsed: when the lease ends, by the wall clock.
    pub lease_end: Option<Millis>,
    /// Settled: when.
    pub settled_at: Option<Millis>,
    /// Settled: when the retention ends.
    pub retained_until: Option<Millis>,
    /// Settled, or a tombstone: when it is no record any more.
    pub gone_at: Option<Millis>,
    /// Completed or failed: the response.
    pub response: Option<Response>,
    /// Parked, which a lapsed `AtMostOnce` record counts as: why, and since when.
    pub parked: Option<(String, Millis)>,
}

impl Model {
    /// The record that would decide a `begin` now.
    pub fn inspect(&self, id: &Id) -> Option<View> {
        self.current(id).map(|record| self.view(&record))
    }

    fn view(&self, record: &Record) -> View {
        let mut view = View {
            state: "in_progress",
            fence: record.fence,
            attempt: record.attempt,
            effect: record.effect,
            fingerprint: record.fingerprint,
            memo: record.memo.clone(),
            steps: record.steps.clone(),
            first_granted_at: record.first_granted.wall,
            lease_end: None,
            settled_at: None,
            retained_until: None,
            gone_at: None,
            response: None,
            parked: None,
        };
        match &record.state {
            State::InProgress => {
                let end = self.lease_of(record).end();
                view.lease_end = Some(end);
                if self.counts_as_parked(record) {
                    view.state = "parked";
                    view.parked = Some((Reason::OwnerLost.as_str().into(), end.min(self.wall)));
                }
            }
            State::Parked { reason, since, .. } => {
                view.state = "parked";
                view.parked = Some((reason.as_str().into(), *since));
            }
            State::Tombstone { gone_at } => {
                view.state = "tombstone";
                view.gone_at = Some(*gone_at);
            }
            State::Released(ended) | State::Completed(_, ended) | State::Failed(_, ended) => {
                view.settled_at = Some(ended.settled_at);
                view.retained_until = Some(ended.retained_until);
                view.gone_at = Some(ended.gone_at);
            }
        }
        match &record.state {
            State::Completed(response, _) => (view.state, view.response) = ("completed", Some(response.clone())),
            State::Failed(response, _) => (view.state, view.response) = ("failed", Some(response.clone())),
            State::Released(_) => view.state = "released",
            State::InProgress | State::Parked { .. } | State::Tombstone { .. } => {}
        }
        view
    }
}
