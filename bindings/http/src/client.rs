//! The client's half: what is sent, and what an answer means (C1 to C4, O8, O9). It opens no connection.

mod reading;
mod redirect;
mod request;

pub use reading::{Ending, Meaning, RETRY_AFTER_MAX, Reading, Trace, Unanswered};
pub use redirect::{Redirect, redirect};
pub use request::{KeyField, Request, RequestError};
