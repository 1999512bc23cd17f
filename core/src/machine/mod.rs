//! The rules, as functions: (record or none, command, now) to (answer, record to write or none). No clock, no dice, no disk.

pub(crate) mod backoff;
pub(crate) mod begin;
pub(crate) mod classify;
pub(crate) mod deliver;
pub(crate) mod enqueue;
pub(crate) mod entry;
pub(crate) mod expire;
pub(crate) mod lease;
pub(crate) mod person;
pub(crate) mod record;
pub(crate) mod recover;
pub(crate) mod settle;
pub(crate) mod standing;
pub(crate) mod timeline;

#[cfg(test)]
mod entry_tests;
#[cfg(test)]
mod tests;
