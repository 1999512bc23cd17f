//! Transactions, and claims completed with rows.

use keyledger::{Error, Transaction};
use keyledger_harness::model::{Code, RowCall};

use super::claims::code_of;
use super::{Driver, Verdict};
use crate::command::{Pick, Row, Text};
use crate::stage::{self, TABLE};
use crate::translate;

/// What the `get`s of a transaction saw.
type Seen = Vec<Option<Vec<u8>>>;

impl Driver {
    pub(super) fn transaction(&mut self, rows: &[Row], claim: Option<(Pick, Text)>) -> Verdict {
        let claim = claim.map(|(pick, text)| (self.picked(pick), text));
        let ended = claim.as_ref().map(|((id, fence, _), _)| (id.clone(), *fence));
        let seen = code_of(self.ledger.transaction(|tx| -> Result<Seen, Error> {
            let seen = run(tx, rows)?;
            if let Some(((id, _, real_fence), text)) = &claim {
                tx.complete(&translate::id(id), *real_fence, translate::response(*text))?;
            }
            Ok(seen)
        }));
        let mut calls: Vec<RowCall> = rows.iter().map(row_call).collect();
        if let Some(((id, fence, _), text)) = claim {
            calls.push(RowCall::Complete(id, fence, stage::response(text)));
        }
        let expected = self.model.transaction(&calls).map_err(Code::as_str);
        if let Some((id, fence)) = ended.filter(|_| expected.is_ok()) {
            self.watch.ended(&id, fence);
        }
        self.note("transaction", &seen);
        self.same("transaction", &seen, &expected)
    }

    /// Only who still holds the claim object can; a refusal leaves it as it was.
    pub(super) fn complete_with(&mut self, pick: Pick, rows: &[Row], text: Text) -> Verdict {
        let (id, fence, _) = self.picked(pick);
        let Some(Some(claim)) = self.held(fence) else { return Ok(()) };
        let seen = code_of(claim.complete_with(|tx| -> Result<keyledger::Response, Error> {
            run(tx, rows)?;
            Ok(translate::response(text))
        }));
        let calls: Vec<RowCall> = rows.iter().map(row_call).collect();
        let expected = self.model.complete_with(&id, fence, &calls, &stage::response(text)).map_err(Code::as_str);
        if expected.is_ok() {
            self.held(fence).map(Option::take);
            self.watch.ended(&id, fence);
        }
        self.note("complete_with", &seen);
        self.same("complete_with", &seen.map(|response| translate::response_back(&response)), &expected)
    }
}

fn run(tx: &mut Transaction<'_, '_>, rows: &[Row]) -> Result<Seen, Error> {
    let mut seen = Vec::new();
    for row in rows {
        match row {
            Row::Get(key) => seen.push(tx.get(TABLE, key.as_bytes())?),
            Row::Put(key, value) => tx.put(TABLE, key.as_bytes(), value.as_bytes())?,
            Row::Delete(key) => tx.delete(TABLE, key.as_bytes())?,
            Row::InsertUnique(key, value) => tx.insert_unique(TABLE, key.as_bytes(), value.as_bytes())?,
            Row::CompareAndSet(key, expected, value) => {
                tx.compare_and_set(TABLE, key.as_bytes(), expected.map(str::as_bytes), value.map(str::as_bytes))?;
            }
        }
    }
    Ok(seen)
}

fn row_call(row: &Row) -> RowCall {
    let table = TABLE.to_string();
    let maybe = |value: Option<&str>| value.map(|value| value.as_bytes().to_vec());
    match row {
        Row::Get(key) => RowCall::Get(table, key.as_bytes().to_vec()),
        Row::Put(key, value) => RowCall::Put(table, key.as_bytes().to_vec(), value.as_bytes().to_vec()),
        Row::Delete(key) => RowCall::Delete(table, key.as_bytes().to_vec()),
        Row::InsertUnique(key, value) => {
            RowCall::InsertUnique(table, key.as_bytes().to_vec(), value.as_bytes().to_vec())
        }
        Row::CompareAndSet(key, expected, value) => {
            RowCall::CompareAndSet(table, key.as_bytes().to_vec(), maybe(*expected), maybe(*value))
        }
    }
}
