//! The rules, as functions: (record or none, command, now) to (answer, record to write or none). No clock, no dice, no disk.

pub(crate) mod begin;
pub(crate) mod expire;
pub(crate) mod record;
pub(crate) mod recover;
pub(crate) mod settle;

#[cfg(test)]
mod tests;
