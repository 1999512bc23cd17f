//! When something will change by itself: where a test wants its clock to stop.

use super::record::{Record, State};
use super::values::{Effect, Millis, Operation};
use super::world::Model;

impl Model {
    /// Spans from now to every deadline ahead that the rules judge, sorted, each once: leases, retention, tombstones, the end
    /// of an `InLedger` record that nobody settled, and the last instant at which E4 lets one of `operations` run again.
    pub fn deadlines(&self, operations: &[Operation]) -> Vec<Millis> {
        let mut spans = Vec::new();
        for (id, record) in self.disk.iter().chain(&self.volatile) {
            self.of_state(record, &mut spans);
            let same_name = operations.iter().filter(|operation| operation.name == id.operation);
            spans.extend(same_name.map(|operation| self.end_of_window(record, operation)));
        }
        spans.retain(|span| *span > 0);
        spans.sort_unstable();
        spans.dedup();
        spans
    }

    fn of_state(&self, record: &Record, spans: &mut Vec<Millis>) {
        let until = |instant: Millis| instant.saturating_sub(self.wall);
        match &record.state {
            State::InProgress => {
                let lease = self.lease_of(record);
                let from = |mono: Millis| mono.saturating_add(lease.length).saturating_sub(self.mono);
                if lease.from.opening == self.opening {
                    spans.push(from(lease.from.mono));
                } else {
                    spans.push(until(lease.end()));
                    spans.push(from(self.opened_mono));
                }
                if record.effect == Effect::InLedger {
                    spans.push(until(lease.end().saturating_add(record.retention)));
                }
            }
            State::Released(ended) | State::Completed(_, ended) | State::Failed(_, ended) => {
                spans.extend([until(ended.retained_until), until(ended.gone_at)]);
            }
            State::Tombstone { gone_at } => spans.push(until(*gone_at)),
            State::Parked { .. } => {}
        }
    }

    fn end_of_window(&self, record: &Record, operation: &Operation) -> Millis {
        let last = |first: Millis| first.saturating_add(operation.remembered_for).saturating_sub(operation.lease);
        if record.first_granted.opening == self.opening {
            last(record.first_granted.mono).saturating_sub(self.mono)
        } else {
            last(record.first_granted.wall).saturating_sub(self.wall)
        }
    }
}
