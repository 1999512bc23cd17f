//! The layer: a ledger, what the routes say of themselves, and whose request it is.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use http::request::Parts;
use keyledger::{Ledger, Scope};
use tower_layer::Layer;

use super::service::Idempotency;
use crate::route::Route;

type RouteOf = dyn Fn(&Parts) -> Option<Arc<Route>> + Send + Sync;
type ScopeOf = dyn Fn(&Parts) -> Option<Scope> + Send + Sync;

/// Guards what is below it: a request with a key runs once, and every retry is told that answer.
///
/// Clones share everything.
#[derive(Clone)]
pub struct IdempotencyLayer {
    pub(super) guard: Arc<Guard>,
}

pub(super) struct Guard {
    pub(super) ledger: Ledger,
    route_of: Box<RouteOf>,
    scope_of: Box<ScopeOf>,
}

impl IdempotencyLayer {
    /// One route. `scope` reads what authentication has put into the request (H13); `None`, or a panic, is answered with 401.
    pub fn new(ledger: Ledger, route: Route, scope: impl Fn(&Parts) -> Option<Scope> + Send + Sync + 'static) -> Self {
        let route = Arc::new(route);
        Self::by_request(ledger, move |_| Some(route.clone()), scope)
    }

    /// Several routes in one service: `route` says by which one a request goes; with none the key is inert (H2).
    pub fn by_request(
        ledger: Ledger,
        route: impl Fn(&Parts) -> Option<Arc<Route>> + Send + Sync + 'static,
        scope: impl Fn(&Parts) -> Option<Scope> + Send + Sync + 'static,
    ) -> Self {
        Self { guard: Arc::new(Guard { ledger, route_of: Box::new(route), scope_of: Box::new(scope) }) }
    }
}

impl<S> Layer<S> for IdempotencyLayer {
    type Service = Idempotency<S>;

    fn layer(&self, inner: S) -> Idempotency<S> {
        Idempotency { inner, guard: self.guard.clone() }
    }
}

impl Guard {
    pub(super) fn route_of(&self, parts: &Parts) -> Option<Arc<Route>> {
        (self.route_of)(parts)
    }

    pub(super) fn scope_of(&self, parts: &Parts) -> Option<Scope> {
        catch_unwind(AssertUnwindSafe(|| (self.scope_of)(parts))).ok().flatten()
    }
}

impl std::fmt::Debug for IdempotencyLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IdempotencyLayer").field("ledger", &self.guard.ledger).finish_non_exhaustive()
    }
}
