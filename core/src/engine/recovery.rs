//! Handing out records whose owner is lost (contract section 4, recovery).

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use super::{Engine, EngineError, Granted, Session, read_record};
use crate::codec::index::{self, UNSETTLED};
use crate::key::{KeyId, OperationName};
use crate::machine::recover::{hand_out, may_recover};
use crate::store::{Order, Snapshot, Space};

/// How many index rows are looked at before their records are: a bound on memory, whatever the ledger's size.
const CHUNK: usize = 256;

impl Engine {
    /// Claims on at most `limit` records of this operation that are lapsed, or parked without a person having looked.
    pub(crate) fn recover(
        self: &Arc<Self>,
        operation: OperationName,
        lease_ms: u64,
        limit: usize,
    ) -> Result<Vec<Granted>, EngineError> {
        self.session(move |session| session.recover(&operation, lease_ms, limit))
    }
}

impl Session<'_> {
    fn recover(
        &mut self,
        operation: &OperationName,
        lease_ms: u64,
        limit: usize,
    ) -> Result<Vec<Granted>, EngineError> {
        let mut claims = Vec::new();
        let mut after = index::operation_prefix(UNSETTLED, operation);
        let end = prefix_end(&after);
        while claims.len() < limit {
            let rows = rows_from(self.overlay, &after, &end, CHUNK)?;
            let Some(last) = rows.last() else { break };
            after = [last.as_slice(), &[0]].concat();
            for row in &rows {
                if claims.len() == limit {
                    break;
                }
                let id = index::read_by_operation(row)?.id;
                claims.extend(self.recover_one(&id, lease_ms)?);
            }
        }
        Ok(claims)
    }

    fn recover_one(&mut self, id: &KeyId, lease_ms: u64) -> Result<Option<Granted>, EngineError> {
        let witness = self.engine.memory.look(id).witness;
        let Some(stored) = read_record(self.overlay, id)? else { return Ok(None) };
        if !may_recover(&stored, &witness, self.now) {
            self.engine.memory.see(id, &stored, self.now);
            return Ok(None);
        }
        let (found, witness) = self.find(id)?;
        let Some(record) = found.record().filter(|record| may_recover(record, &witness, self.now)) else {
            return Ok(None);
        };
        if found.is_volatile() {
            return Ok(None);
        }
        let fence = self.fence()?;
        let claimed = hand_out(record, lease_ms, fence, self.now);
        self.write(id, found.stored.as_ref(), Some(&claimed))?;
        self.granted_on_disk(id, fence);
        Ok(Some(Granted::recovered(self.engine.clone(), id.clone(), claimed)))
    }
}

/// At most `limit` keys of the deadline index in `start..end`.
pub(super) fn rows_from(
    view: &dyn Snapshot,
    start: &[u8],
    end: &[u8],
    limit: usize,
) -> Result<Vec<Vec<u8>>, EngineError> {
    let mut rows = Vec::new();
    if limit == 0 {
        return Ok(rows);
    }
    view.scan(Space::Deadlines, (Bound::Included(start), Bound::Excluded(end)), Order::Ascending, &mut |key, _| {
        rows.push(key.to_vec());
        if rows.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(rows)
}

/// The first key after all that begin with `prefix`, which must hold a byte below 255.
pub(super) fn prefix_end(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            break;
        }
    }
    end
}
