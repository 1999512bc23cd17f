//! `SQLite`'s side, as an application writes it by hand: WAL, synchronous=FULL, prepared statements, a connection for each caller.

use crate::callers::{Caller, Side};
use crate::workload::{ANSWER, ROW, SCOPE, key, scattered};
use anyhow::{Result, ensure};
use rusqlite::{Connection, TransactionBehavior, params};
use std::path::Path;
use std::time::Duration;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS requests (
        scope TEXT NOT NULL,
        operation TEXT NOT NULL,
        key TEXT NOT NULL,
        fingerprint BLOB NOT NULL,
        state TEXT NOT NULL,
        answer BLOB,
        PRIMARY KEY (scope, operation, key)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS wallet (key TEXT PRIMARY KEY, amount BLOB NOT NULL) WITHOUT ROWID;
";
const CLAIM: &str = "INSERT INTO requests (scope, operation, key, fingerprint, state)
    VALUES (?1, ?2, ?3, ?4, 'in progress') ON CONFLICT DO NOTHING";
const COMPLETE: &str = "UPDATE requests SET state = 'completed', answer = ?4
    WHERE scope = ?1 AND operation = ?2 AND key = ?3 AND state = 'in progress'";
const PUT: &str = "INSERT INTO wallet (key, amount) VALUES (?1, ?2)";
const REPLAY: &str = "SELECT fingerprint, state, answer FROM requests WHERE scope = ?1 AND operation = ?2 AND key = ?3";

const OPERATION: &str = "POST /v1/charges";
const FINGERPRINT: [u8; 32] = [7; 32];
const PATIENCE: Duration = Duration::from_mins(1);

/// One transaction that inserts, writes the row, and completes.
pub(crate) fn one(path: &Path, callers: usize) -> Result<Side> {
    each(path, callers, |connection, key| {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        claim(&transaction, key)?;
        transaction.prepare_cached(PUT)?.execute(params![key, ROW])?;
        complete(&transaction, key)?;
        Ok(transaction.commit()?)
    })
}

/// The usual two transactions: insert; then, after the work, update.
pub(crate) fn two(path: &Path, callers: usize) -> Result<Side> {
    each(path, callers, |connection, key| {
        claim(connection, key)?;
        complete(connection, key)
    })
}

/// A prepared SELECT of a stored answer.
pub(crate) fn select(path: &Path, stored: u64) -> Result<Side> {
    let mut connection = connect(path)?;
    let filling = connection.transaction()?;
    for number in 0..stored {
        claim(&filling, &key(number))?;
        complete(&filling, &key(number))?;
    }
    filling.commit()?;
    let caller: Caller = Box::new(move |number| {
        let mut statement = connection.prepare_cached(REPLAY)?;
        let key = key(scattered(number) % stored);
        let (fingerprint, state, answer) = statement.query_row(params![SCOPE, OPERATION, key], |row| {
            Ok((row.get::<_, [u8; 32]>(0)?, row.get::<_, String>(1)?, row.get::<_, Vec<u8>>(2)?))
        })?;
        ensure!(fingerprint == FINGERPRINT && state == "completed" && answer == ANSWER, "another answer");
        Ok(())
    });
    Ok(Side::new(vec![caller]))
}

fn claim(connection: &Connection, key: &str) -> Result<()> {
    let granted = connection.prepare_cached(CLAIM)?.execute(params![SCOPE, OPERATION, key, FINGERPRINT])?;
    ensure!(granted == 1, "a new key was taken");
    Ok(())
}

fn complete(connection: &Connection, key: &str) -> Result<()> {
    let completed = connection.prepare_cached(COMPLETE)?.execute(params![SCOPE, OPERATION, key, ANSWER])?;
    ensure!(completed == 1, "a claim was lost");
    Ok(())
}

fn connect(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch(SCHEMA)?;
    Ok(connection)
}

fn each(path: &Path, callers: usize, once: fn(&mut Connection, &str) -> Result<()>) -> Result<Side> {
    let caller = || -> Result<Caller> {
        let mut connection = connect(path)?;
        Ok(Box::new(move |number| once(&mut connection, &key(number))))
    };
    Ok(Side::new(std::iter::repeat_with(caller).take(callers).collect::<Result<_>>()?))
}
