//! Any bytes as a row of the outbox.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| keyledger::fuzzing::entry(bytes));
