//! Handing out records whose owner is lost (contract section 4, recovery).

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use super::{Engine, EngineError, Granted, Session, read_entry};
use crate::codec::address::{Address, RowKey, operation_mark};
use crate::codec::index::{self, RECOVERABLE};
use crate::key::OperationName;
use crate::machine::record::Retention;
use crate::machine::recover::{hand_out, may_recover};
use crate::store::{Snapshot, Space};

/// How many index rows are looked at before their records are: a bound on memory, whatever the ledger's size.
pub(super) const CHUNK: usize = 256;

impl Engine {
    /// Claims on at most `limit` records of this operation that are lapsed, or parked without a person having looked.
    pub(crate) fn recover(
        self: &Arc<Self>,
        operation: OperationName,
        retention: Retention,
        limit: usize,
    ) -> Result<Vec<Granted>, EngineError> {
        self.session(move |session| session.recover(&operation, retention, limit))
    }
}

impl Session<'_> {
    pub(crate) fn recover(
        &mut self,
        operation: &OperationName,
        retention: Retention,
        limit: usize,
    ) -> Result<Vec<Granted>, EngineError> {
        let mut claims = Vec::new();
        let mut after = index::unsettled_prefix(RECOVERABLE, operation_mark(operation, &self.engine.salt));
        let end = prefix_end(&after);
        while claims.len() < limit {
            let rows = rows_from(self.overlay, Space::Unsettled, &after, Bound::Excluded(&end), CHUNK)?;
            let Some(last) = rows.last() else { break };
            after = [last.as_slice(), &[0]].concat();
            for row in &rows {
                if claims.len() == limit {
                    break;
                }
                let row = index::read_unsettled(row)?.row;
                claims.extend(self.recover_one(&row, operation, retention)?);
            }
        }
        Ok(claims)
    }

    fn recover_one(
        &mut self,
        row: &RowKey,
        operation: &OperationName,
        retention: Retention,
    ) -> Result<Option<Granted>, EngineError> {
        let Some((id, stored)) = read_entry(self.overlay, row)? else { return Ok(None) };
        let address = Address { id, row: *row };
        if address.id.operation() != operation {
            return Ok(None);
        }
        if !may_recover(&stored, &self.engine.memory.look(row).witness, self.now) {
            self.engine.memory.see(row, &stored, self.now);
            return Ok(None);
        }
        let (found, witness) = self.find(&address)?;
        let Some(record) = found.record().filter(|record| may_recover(record, &witness, self.now)) else {
            return Ok(None);
        };
        if found.is_volatile() {
            return Ok(None);
        }
        let fence = self.fence()?;
        let claimed = hand_out(record, retention, fence, self.now);
        self.write(&address, found.stored.as_ref(), Some(&claimed))?;
        Ok(Some(Granted::recovered(self.engine.clone(), address, claimed)))
    }
}

/// At most `limit` keys of a space, from `start` on.
pub(super) fn rows_from(
    view: &dyn Snapshot,
    space: Space,
    start: &[u8],
    end: Bound<&[u8]>,
    limit: usize,
) -> Result<Vec<Vec<u8>>, EngineError> {
    let mut rows = Vec::new();
    if limit == 0 {
        return Ok(rows);
    }
    view.scan(space, (Bound::Included(start), end), &mut |key, _| {
        rows.push(key.to_vec());
        if rows.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(rows)
}

/// The first key after all that begin with `prefix`; empty when there is none.
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
