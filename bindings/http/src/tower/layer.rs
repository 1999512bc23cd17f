//! The layer: a ledger, what the routes say of themselves, and whose request it is.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use http::request::Parts;
use keyledger::{Ledger, Scope};
use tokio::sync::watch;
use tower_layer::Layer;

use super::service::Idempotency;
use crate::route::Route;

type RouteOf = dyn Fn(&Parts) -> Option<Arc<Route>> + Send + Sync;
type ScopeOf = dyn Fn(&Parts) -> Option<Scope> + Send + Sync;

/// Guards what is below it: a request with a key runs once, and every retry is told that answer.
///
/// Clones share everything; layers of several routes are made of one by [`with_route`](IdempotencyLayer::with_route).
#[derive(Clone)]
pub struct IdempotencyLayer {
    pub(super) guard: Arc<Guard>,
}

pub(super) struct Guard {
    pub(super) ledger: Ledger,
    route_of: Box<RouteOf>,
    scope_of: Arc<ScopeOf>,
    /// How many handlers run, behind all layers that share this.
    running: Arc<watch::Sender<usize>>,
}

/// A handler that runs, until this is dropped.
pub(super) struct Running {
    count: Arc<watch::Sender<usize>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.count.send_modify(|count| *count -= 1);
    }
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
        let running = Arc::new(watch::Sender::new(0));
        Self { guard: Arc::new(Guard { ledger, route_of: Box::new(route), scope_of: Arc::new(scope), running }) }
    }

    /// A layer for another route, with the same ledger and scope. [`idle`](IdempotencyLayer::idle) of either waits for both.
    pub fn with_route(&self, route: Route) -> Self {
        let route = Arc::new(route);
        let (ledger, scope_of) = (self.guard.ledger.clone(), self.guard.scope_of.clone());
        let (route_of, running) = (Box::new(move |_: &Parts| Some(route.clone())), self.guard.running.clone());
        Self { guard: Arc::new(Guard { ledger, route_of, scope_of, running }) }
    }

    /// Returns when no handler runs under a key, behind this layer or one that it shares its making with by
    /// [`with_route`](IdempotencyLayer::with_route), and what they came to is stored: also for clients that have gone away, whom a
    /// server that stops does not wait for (H9). To be awaited when the server has ended and before the runtime does.
    pub async fn idle(&self) {
        // The sender is in `self`: it outlives the wait.
        let _ = self.guard.running.subscribe().wait_for(|count| *count == 0).await;
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

    pub(super) fn running(&self) -> Running {
        self.running.send_modify(|count| *count += 1);
        Running { count: self.running.clone() }
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
