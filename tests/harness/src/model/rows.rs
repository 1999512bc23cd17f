//! Section 7: named tables beside the ledger's own, changed whole or not at all.

use super::record::{Record, State};
use super::settle::Settlement;
use super::values::{Bytes, Code, Fence, Id, Response};
use super::world::Model;

/// The name of a table.
pub type Table = String;

/// One call on a transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RowCall {
    /// Reads a row; its own writes are seen (G1).
    Get(Table, Bytes),
    /// Writes a row.
    Put(Table, Bytes, Bytes),
    /// Removes a row.
    Delete(Table, Bytes),
    /// Refuses a second row.
    InsertUnique(Table, Bytes, Bytes),
    /// Refuses a wrong transition: table, key, expected, value.
    CompareAndSet(Table, Bytes, Option<Bytes>, Option<Bytes>),
    /// Completes a claim with the rows.
    Complete(Id, Fence, Response),
}

impl Model {
    /// Runs the calls in order; the first refusal throws all of it away. Answers what each `Get` saw.
    pub fn transaction(&mut self, calls: &[RowCall]) -> Result<Vec<Option<Bytes>>, Code> {
        let mut after = self.clone();
        let mut seen = Vec::new();
        for call in calls {
            if let RowCall::Get(table, key) = call {
                seen.push(after.row(table, key));
            } else {
                after.row_call(call)?;
            }
        }
        *self = after;
        Ok(seen)
    }

    /// G2: the fence first. What it has completed already is the answer, and no row is written.
    pub fn complete_with(
        &mut self,
        id: &Id,
        fence: Fence,
        calls: &[RowCall],
        response: &Response,
    ) -> Result<Response, Code> {
        if let Some(Record { state: State::Completed(stored, _), fence: by, .. }) = self.current(id)
            && by == fence
        {
            return Ok(stored);
        }
        let complete = Settlement::Complete(response.clone());
        self.clone().settle(id, fence, &complete)?;
        let mut after = self.clone();
        after.transaction(calls)?;
        after.settle(id, fence, &complete)?;
        *self = after;
        Ok(response.clone())
    }

    /// A committed row.
    pub fn row(&self, table: &str, key: &[u8]) -> Option<Bytes> {
        self.rows.get(&(table.into(), key.into())).cloned()
    }

    fn row_call(&mut self, call: &RowCall) -> Result<(), Code> {
        match call {
            RowCall::Get(..) => {}
            RowCall::Put(table, key, value) => self.set_row(table, key, Some(value.clone())),
            RowCall::Delete(table, key) => self.set_row(table, key, None),
            RowCall::InsertUnique(table, key, value) => {
                if self.row(table, key).is_some() {
                    return Err(Code::UniqueViolation);
                }
                self.set_row(table, key, Some(value.clone()));
            }
            RowCall::CompareAndSet(table, key, expected, value) => {
                if self.row(table, key) != *expected {
                    return Err(Code::CompareFailed);
                }
                self.set_row(table, key, value.clone());
            }
            RowCall::Complete(id, fence, response) => {
                self.settle(id, *fence, &Settlement::Complete(response.clone()))?;
            }
        }
        Ok(())
    }

    fn set_row(&mut self, table: &str, key: &[u8], value: Option<Bytes>) {
        let at = (table.to_string(), key.to_vec());
        match value {
            Some(value) => self.rows.insert(at, value),
            None => self.rows.remove(&at),
        };
    }
}
