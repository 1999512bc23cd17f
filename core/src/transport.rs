//! Who sends what the outbox hands out: the port to the network, which the core does not touch.

use std::pin::Pin;
use std::sync::Arc;

use crate::delivery::Delivery;
use crate::key::Scope;
use crate::machine::classify::DeliveryOutcome;

/// Sends deliveries, blocking.
///
/// A transport sends the request with its key, neither begins nor waits past [`Delivery::lease_left`] (O7, C4), and tells what came
/// of it. One that panics counts as a retry whose outcome is unknown.
pub trait Transport: Send + Sync {
    /// Sends one delivery and says what came of it.
    fn send(&self, delivery: &Delivery) -> DeliveryOutcome;

    /// Whether a scope has other credentials than those that were refused: then what is held with its lane is resumed (O8). Asked
    /// every five seconds while a lane is held. An app that knows when its user signs in calls
    /// [`Outbox::resume`](crate::Outbox::resume) and need not wait for it.
    fn has_other_credentials(&self, scope: &Scope) -> bool {
        let _ = scope;
        false
    }
}

/// A function that sends is a transport.
impl<F: Fn(&Delivery) -> DeliveryOutcome + Send + Sync> Transport for F {
    fn send(&self, delivery: &Delivery) -> DeliveryOutcome {
        self(delivery)
    }
}

impl<T: Transport + ?Sized> Transport for Arc<T> {
    fn send(&self, delivery: &Delivery) -> DeliveryOutcome {
        (**self).send(delivery)
    }

    fn has_other_credentials(&self, scope: &Scope) -> bool {
        (**self).has_other_credentials(scope)
    }
}

/// What an asynchronous transport returns.
pub type Sending<'a> = Pin<Box<dyn Future<Output = DeliveryOutcome> + Send + 'a>>;

/// Sends deliveries, on futures. The rules are those of [`Transport`].
pub trait AsyncTransport: Send + Sync {
    /// Sends one delivery and says what came of it.
    fn send<'a>(&'a self, delivery: &'a Delivery) -> Sending<'a>;

    /// As [`Transport::has_other_credentials`].
    fn has_other_credentials(&self, scope: &Scope) -> bool {
        let _ = scope;
        false
    }
}

impl<T: AsyncTransport + ?Sized> AsyncTransport for Arc<T> {
    fn send<'a>(&'a self, delivery: &'a Delivery) -> Sending<'a> {
        (**self).send(delivery)
    }

    fn has_other_credentials(&self, scope: &Scope) -> bool {
        (**self).has_other_credentials(scope)
    }
}
