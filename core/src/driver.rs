//! Who keeps an outbox going: leases what is due, sends it over a transport, and settles it (contract section 9).
//!
//! [`Driver`] has threads; [`AsyncDriver`] is a future that needs no particular runtime. Both decide by the same
//! [`course`].

mod course;
mod drain;
mod error;
mod futures;
#[cfg(not(target_arch = "wasm32"))]
mod handle;
mod pace;
#[cfg(not(target_arch = "wasm32"))]
mod senders;
mod sendings;
mod settings;
mod stop;
#[cfg(not(target_arch = "wasm32"))]
mod threads;

pub use drain::{DrainProgress, Drained};
pub use error::DriverError;
pub use futures::AsyncDriver;
#[cfg(not(target_arch = "wasm32"))]
pub use handle::DriverHandle;
pub use stop::Stop;
#[cfg(not(target_arch = "wasm32"))]
pub use threads::Driver;
