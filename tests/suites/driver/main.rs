//! The driver, with threads and as a future: what it sends, when it stops, and what it does while nothing is due.

mod drains;
mod failures;
mod futures;
mod quiet;
mod sending;
mod stage;
mod stops;
