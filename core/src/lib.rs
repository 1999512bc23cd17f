//! keyledger
