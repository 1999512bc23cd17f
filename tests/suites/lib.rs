//! The suites are integration tests; this library is empty on purpose, so that `cargo test -p keyledger-tests` finds them.
