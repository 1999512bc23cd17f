//! Durable commits to a bare redb table, for whoever measures something else beside them.
//!
//! For each number on standard input it makes that many commits, one row of 200 bytes to each, and prints how many nanoseconds they took.

use anyhow::{Context, Result};
use redb::{Database, TableDefinition};
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

const ROWS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("rows");

fn main() -> Result<()> {
    let path = std::env::args_os().nth(1).context("commits FILE: which file?")?;
    let database = Database::create(path)?;
    let mut next = 0;
    let mut told = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let many: u64 = line?.trim().parse().context("a number on each line")?;
        let took = commit(&database, next..next + many)?;
        next += many;
        writeln!(told, "{}", took.as_nanos())?;
        told.flush()?;
    }
    Ok(())
}

fn commit(database: &Database, rows: std::ops::Range<u64>) -> Result<Duration> {
    let start = Instant::now();
    for row in rows {
        let transaction = database.begin_write()?;
        transaction.open_table(ROWS)?.insert(row, [7; 200].as_slice())?;
        transaction.commit()?;
    }
    Ok(start.elapsed())
}
