//! Benchmarks of keyledger itself: see the files beside this one.
