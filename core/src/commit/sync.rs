//! Locks and threads: the system's, or those of a scheduler that tries one order of events after the other
//! (`cargo test -p keyledger --features schedules --lib schedules`).

#[cfg(feature = "schedules")]
pub(super) use shuttle::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};
#[cfg(all(feature = "schedules", not(target_arch = "wasm32")))]
pub(super) use shuttle::thread;
#[cfg(not(feature = "schedules"))]
pub(super) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};
#[cfg(all(not(feature = "schedules"), not(target_arch = "wasm32")))]
pub(super) use std::thread;
