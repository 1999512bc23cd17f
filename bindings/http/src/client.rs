//! The client's half: what is sent, and what an answer means (C1 to C4, O8, O9).
//!
//! A [`Request`] is checked and goes into the outbox; [`Reading`] says what an answer to it means, [`outcome_of`] what the outbox is
//! told. All of that opens no connection; `HttpTransport`, with the feature `transport`, does.

mod outcome;
mod reading;
mod redirect;
mod request;
mod sending;
#[cfg(feature = "transport")]
mod transport;

pub use outcome::outcome_of;
pub use reading::{Ending, Meaning, RETRY_AFTER_MAX, Reading, Trace, Unanswered};
pub use redirect::{Redirect, redirect};
pub use request::{KeyField, Request, RequestError};
pub use sending::{REDIRECTS_MAX, answered, silent, to_send, unsendable};
#[cfg(feature = "transport")]
pub use transport::{Anonymous, Authorize, HttpTransport, HttpTransportBuilder, NoCredentials};
