//! Zeros over the pages that are still free after a compaction: they hold what was deleted.
//!
//! redb gives back the pages at the end of its file and leaves holes before it where they are. A table of zeros fills the
//! holes, and goes again. A kill in between leaves the table, which nobody reads, to the next compaction.

use ::redb::{Database, TableDefinition};

use super::errors;
use crate::store::StoreError;

// Of the types that the other tables have: redb's trees are compiled once for each pair of types.
const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("scrub");

// One row fills one page; a second does not fit beside it.
const ROW: [u8; 4000] = [0; 4000];

// Rows of one commit, which are kept in memory until it ends.
const ROWS_MAX: usize = 2048;

/// Overwrites at least `pages` free pages, and leaves as many free.
pub(super) fn overwrite_free_pages(database: &Database, pages: u64) -> Result<(), StoreError> {
    for from in (0..pages).step_by(ROWS_MAX) {
        fill(database, from..pages.min(from + ROWS_MAX as u64))?;
    }
    remove(database)
}

/// Takes away what a kill may have left.
pub(super) fn remove(database: &Database) -> Result<(), StoreError> {
    let transaction = database.begin_write().map_err(errors::of_transaction)?;
    transaction.delete_table(TABLE).map_err(errors::of_table)?;
    transaction.commit().map_err(errors::of_commit)
}

fn fill(database: &Database, rows: std::ops::Range<u64>) -> Result<(), StoreError> {
    let transaction = database.begin_write().map_err(errors::of_transaction)?;
    {
        let mut table = transaction.open_table(TABLE).map_err(errors::of_table)?;
        for row in rows {
            table.insert(row.to_be_bytes().as_slice(), ROW.as_slice()).map_err(errors::of_storage)?;
        }
    }
    transaction.commit().map_err(errors::of_commit)
}
