//! Power goes and calls fail, at every place there is, while a workload uses every command.
//!
//! The disk is in memory and keeps what was synced apart from what was only written. The workload writes a journal of what
//! the ledger has acknowledged; whatever happens to the disk, the ledger must show that and nothing else.

mod checks;
mod commands;
mod failed_grants;
mod faults;
mod journal;
mod names;
mod search;
mod sharing;
mod sketch;
mod stops;
mod trades;
mod upkeep;
mod workload;
mod world;
