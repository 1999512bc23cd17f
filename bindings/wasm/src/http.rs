//! HTTP: what `keyledger-http` says of routes, requests and answers, one method to each of its calls.

pub(crate) mod answer;
mod asked;
mod hooks;
mod route;
mod setting;
