//! The HTTP transport against a real server on loopback, with the outbox's clock in the test's hand.

mod answers;
mod credentials;
mod server;
mod stage;
mod tries;
