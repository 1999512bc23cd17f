//! Any bytes as a key of an index, or as a value of the ledger's own.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| keyledger::fuzzing::index_key(bytes));
