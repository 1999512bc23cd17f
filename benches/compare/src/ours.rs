//! keyledger's side.

use crate::callers::{Caller, Side};
use crate::workload::{ANSWER, ROW, SCOPE, key, scattered};
use anyhow::{Result, bail};
use keyledger::{Claim, Decision, Error, Fingerprint, Key, Ledger, Operation, Response, Scope};
use std::path::Path;

static TOP_UP: Operation = Operation::in_ledger("POST /v1/top-ups");
static CHARGE: Operation = Operation::repeatable("POST /v1/charges");

/// Begin, then complete with one row: one commit.
pub(crate) fn in_ledger(path: &Path, callers: usize) -> Result<Side> {
    let ledger = Ledger::open(path)?;
    each(callers, || {
        let asked = Asked::of(&ledger, &TOP_UP)?;
        Ok(Box::new(move |number| {
            let text = key(number);
            asked.claim(&text)?.complete_with(|tx| -> Result<Response, Error> {
                tx.put("wallet", text.as_bytes(), ROW)?;
                Ok(answer())
            })?;
            Ok(())
        }))
    })
}

/// Begin, then complete: two commits.
pub(crate) fn repeatable(path: &Path, callers: usize) -> Result<Side> {
    let ledger = Ledger::open(path)?;
    each(callers, || {
        let asked = Asked::of(&ledger, &CHARGE)?;
        Ok(Box::new(move |number| Ok(asked.claim(&key(number))?.complete(answer())?)))
    })
}

/// A begin that is answered from a stored outcome.
pub(crate) fn replay(path: &Path, stored: u64) -> Result<Side> {
    let ledger = Ledger::open(path)?;
    let asked = Asked::of(&ledger, &TOP_UP)?;
    for number in 0..stored {
        asked.claim(&key(number))?.complete(answer())?;
    }
    let caller: Caller = Box::new(move |number| match asked.begin(&key(scattered(number) % stored))? {
        Decision::Replay(replay) if replay.response == answer() => Ok(()),
        other => bail!("a stored answer was not told again: {other:?}"),
    });
    Ok(Side::new(vec![caller]))
}

/// What stays the same from call to call.
struct Asked {
    ledger: Ledger,
    operation: &'static Operation,
    scope: Scope,
    fingerprint: Fingerprint,
}

impl Asked {
    fn of(ledger: &Ledger, operation: &'static Operation) -> Result<Self> {
        let fingerprint = Fingerprint::of_bytes(&[b"what was asked"]);
        Ok(Self { ledger: ledger.clone(), operation, scope: Scope::new(SCOPE)?, fingerprint })
    }

    fn begin(&self, key: &str) -> Result<Decision> {
        Ok(self.ledger.begin(self.operation, &self.scope, &Key::new(key)?, self.fingerprint)?)
    }

    fn claim(&self, key: &str) -> Result<Claim> {
        match self.begin(key)? {
            Decision::Acquired(claim) => Ok(claim),
            other => bail!("a new key was not granted: {other:?}"),
        }
    }
}

fn each(callers: usize, make: impl FnMut() -> Result<Caller>) -> Result<Side> {
    Ok(Side::new(std::iter::repeat_with(make).take(callers).collect::<Result<_>>()?))
}

fn answer() -> Response {
    Response::new("application/json", ANSWER)
}
