//! HTTP: what `keyledger-http` says of routes, requests and answers, one method to each of its calls.

pub(crate) mod answer;
pub(crate) mod asked;
pub(crate) mod hooks;
pub(crate) mod route;
pub(crate) mod setting;
