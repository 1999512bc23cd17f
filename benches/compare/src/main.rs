//! Compares keyledger with other engines in one interleaved run.

fn main() {}
