//! Any bytes as a stored record.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| keyledger::fuzzing::record(bytes));
