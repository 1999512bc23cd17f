//! The handler of a scenario, and its route.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use keyledger::{Claim, Effect, Members, Operation, Response};
use keyledger_http::message::{Fields, StoredBody};
use keyledger_http::{Answer, Case, Keep, Route, RouteOperation};

use crate::format::{EffectName, Handler, KeepName, KeyIs, Redaction, Scenario, Settles, Told};

/// What a handler plays, run by run.
pub(crate) struct Script {
    handlers: Vec<Handler>,
    begun: AtomicUsize,
}

/// One run of it.
pub(crate) struct Play {
    handler: Handler,
    number: usize,
    /// What it recorded or derived, which is its body then.
    told: Option<Vec<u8>>,
}

/// How it ends.
pub(crate) enum Ending {
    Raises,
    Answers(Answer),
    BreaksOff(Answer),
    RaisesLate(Answer),
}

impl Script {
    pub(crate) fn of(scenario: &Scenario) -> Self {
        Self { handlers: scenario.handler.clone(), begun: AtomicUsize::new(0) }
    }

    pub(crate) fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }

    pub(crate) fn begin(&self) -> Play {
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let handler = self.handlers[number.min(self.handlers.len()) - 1].clone();
        Play { handler, number, told: None }
    }
}

impl Play {
    /// What it does with a claim that it only borrows.
    pub(crate) fn act(&mut self, claim: &mut Claim) {
        if let Some(name) = &self.handler.derives {
            self.told = Some(claim.derive_key(name).as_str().as_bytes().to_vec());
        }
        if let Some(name) = &self.handler.step {
            let value = self.number.to_string().into_bytes();
            self.told = Some(claim.step(name, || Ok::<_, keyledger::Error>(value)).expect("the step is recorded"));
        }
        let stored = match &self.handler.settles {
            Some(Settles::Complete(body)) => Response::new("text/plain", self.numbered(body)),
            Some(Settles::CompleteHttp(told)) => self.stored(told),
            Some(Settles::FailHttp(_) | Settles::Release | Settles::Park(_)) | None => return,
        };
        claim.complete_with(|_| Ok::<_, keyledger::Error>(stored)).expect("the claim is completed");
    }

    /// Whether it waits after its effect.
    pub(crate) fn waits_after(&self) -> bool {
        self.handler.waits_after
    }

    /// Whether it wants the claim for itself, to [`let_go`](Play::let_go) of it.
    pub(crate) fn takes_claim(&self) -> bool {
        matches!(self.handler.settles, Some(Settles::FailHttp(_) | Settles::Release | Settles::Park(_)))
    }

    pub(crate) fn let_go(&self, claim: Claim) {
        match &self.handler.settles {
            Some(Settles::Release) => claim.release().expect("the claim is released"),
            Some(Settles::Park(reason)) => claim.park(reason.clone()).expect("the claim is parked"),
            Some(Settles::FailHttp(told)) => claim.fail(self.stored(told)).expect("the claim is failed"),
            Some(Settles::Complete(_) | Settles::CompleteHttp(_)) | None => unreachable!("asked before"),
        }
    }

    fn stored(&self, told: &Told) -> Response {
        Answer { status: told.status, fields: fields(&told.fields), body: self.body(&told.body) }.to_stored()
    }

    fn body(&self, bytes: &crate::format::Bytes) -> Vec<u8> {
        match bytes {
            crate::format::Bytes::Text(text) => self.numbered(text).into_bytes(),
            other => other.bytes(),
        }
    }

    pub(crate) fn end(self) -> Ending {
        if self.handler.raises {
            return Ending::Raises;
        }
        let body = self.told.clone().unwrap_or_else(|| self.body(&self.handler.body));
        let answer = Answer { status: self.handler.status, fields: fields(&self.handler.fields), body };
        let cut = |answer: Answer, length| Answer { body: answer.body[..length].to_vec(), ..answer };
        match (self.handler.breaks_after, self.handler.raises_after) {
            (Some(length), _) => Ending::BreaksOff(cut(answer, length)),
            (None, Some(length)) => Ending::RaisesLate(cut(answer, length)),
            (None, None) => Ending::Answers(answer),
        }
    }

    fn numbered(&self, text: &str) -> String {
        text.replace("%n", &self.number.to_string())
    }
}

fn fields(lines: &[String]) -> Fields {
    let line = |line: &String| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
    lines.iter().map(|text| line(text).expect("a field line")).collect()
}

/// The route of a scenario; none if it did not opt in.
pub(crate) fn route(scenario: &Scenario) -> Option<Route> {
    let own = scenario.route.clone();
    let effect = match own.effect {
        EffectName::InLedger => Effect::InLedger,
        EffectName::Repeatable => Effect::Repeatable,
        EffectName::AtMostOnce => Effect::AtMostOnce,
    };
    let declared = |name| RouteOperation::from(Operation::new(effect, name));
    let operation = own.operation.map_or_else(|| effect.into(), declared);
    let mut route = match own.key {
        KeyIs::None => return None,
        KeyIs::Required => Route::required(operation),
        KeyIs::Optional => Route::optional(operation),
    };
    route = with(route, own.lease_ms.map(Duration::from_millis), Route::lease);
    route = with(route, own.retention_ms.map(Duration::from_millis), Route::retention);
    route = with(route, own.tombstone_ms.map(Duration::from_millis), Route::tombstone);
    route = with(route, own.wait_ms.map(Duration::from_millis), Route::wait);
    route = with(route, own.max_body_bytes, Route::max_body_bytes);
    route = with(route, own.max_request_bytes, Route::max_request_bytes);
    route = with(route, own.documentation, Route::documentation);
    route = with(route, own.redact, redacting);
    route = with(route, own.methods, |route, list| route.methods(list).expect("methods"));
    route = own.not_kept.into_iter().fold(route, |route, name| route.not_kept(name).expect("a field's name"));
    let status = |route: Route, (name, status): (&String, &u16)| route.status(case(name), *status).expect("a status");
    route = own.statuses.iter().fold(route, status);
    if !own.leave_out.is_empty() {
        let pointers = own.leave_out.iter().map(String::as_str);
        route = route.members(Members::leave_out(pointers).expect("JSON pointers"));
    }
    let keep = own.keep;
    route = route.keep(move |status, effect| {
        keep.get(&status).map_or_else(|| keyledger_http::by_status(status, effect), |name| keep_of(*name))
    });
    Some(if own.stream { route.stream() } else { route })
}

/// A setting, where the scenario has one.
fn with<T>(route: Route, setting: Option<T>, set: impl Fn(Route, T) -> Route) -> Route {
    match setting {
        Some(value) => set(route, value),
        None => route,
    }
}

fn redacting(route: Route, how: Redaction) -> Route {
    match how {
        Redaction::Fails => route.redact(|_| None),
        Redaction::Longer => route.redact(|mut stored| {
            stored.body = StoredBody::Kept(vec![b'x'; 2 * keyledger::options::RESPONSE_BYTES_MAX]);
            Some(stored)
        }),
        Redaction::Blank => route.redact(|mut stored| {
            stored.body = StoredBody::Kept(b"(blank)".to_vec());
            Some(stored)
        }),
    }
}

fn keep_of(name: KeepName) -> Keep {
    match name {
        KeepName::Complete => Keep::Complete,
        KeepName::Fail => Keep::Fail,
        KeepName::Release => Keep::Release,
        KeepName::Park => Keep::Park,
        KeepName::Panics => panic!("the function breaks"),
    }
}

fn case(name: &str) -> Case {
    Case::named(name).expect("a case")
}
