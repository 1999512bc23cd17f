//! What both drivers are told.

use std::sync::Arc;

use super::stop::Stop;
use crate::error::Error;
use crate::key::Scope;
use crate::options::IN_FLIGHT;
use crate::outbox::Outbox;

pub(super) type OnError = Arc<dyn Fn(&Error) + Send + Sync>;

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) outbox: Outbox,
    pub(super) scope: Scope,
    pub(super) in_flight: usize,
    pub(super) stop: Stop,
    pub(super) on_error: Option<OnError>,
}

impl Settings {
    pub(super) fn new(outbox: &Outbox, scope: &Scope) -> Self {
        Self { outbox: outbox.clone(), scope: scope.clone(), in_flight: IN_FLIGHT, stop: Stop::new(), on_error: None }
    }
}
