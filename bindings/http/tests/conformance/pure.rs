//! A server without a server: the adapter in its simplest form, as `lib.rs` describes it.

use std::collections::HashMap;

use keyledger::{Begin, Claim, HttpRequest, Ledger, ManualClock, Scope};
use keyledger_http::message::{Fields, lines_of};
use keyledger_http::{Answer, Conclusion, KEY_FIELD, OWN_FIELDS, Passage, Route, Ruling, Settled, fitting};

use crate::format::{Request, Scenario};
use crate::handler::{Ending, Play, Script, route};
use crate::stage::{Adapter, ledger};
use crate::wire::Got;

pub(crate) struct Pure {
    ledger: Ledger,
    clock: ManualClock,
    route: Option<Route>,
    script: Script,
    running: HashMap<String, Running>,
}

/// A handler that was started: its play and, under a route, what it was granted.
struct Running {
    play: Play,
    granted: Option<(Begin, Claim)>,
}

impl Pure {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let (ledger, clock) = ledger(scenario);
        Self { ledger, clock, route: route(scenario), script: Script::of(scenario), running: HashMap::new() }
    }

    fn begin(&self, request: &Request) -> Result<Running, Answer> {
        if request.user.as_deref() == Some("sent-away") {
            return Err(Answer::of_status(401).with_body("who are you?"));
        }
        let lines = fields(request);
        let passage = self
            .route
            .as_ref()
            .map_or(Passage::Inert, |route| route.receive(&request.method, lines_of(&lines, KEY_FIELD)));
        match (passage, &self.route) {
            (Passage::Refused(answer), _) => Err(answer),
            (Passage::Keyed(key), Some(route)) => {
                let scope = scope(request).ok_or_else(|| route.no_principal())?;
                let body = request.body.bytes();
                if body.len() > route.request_bytes_max() {
                    return Err(route.too_large());
                }
                let begin = route.begin(&scope, &key, &as_asked(request, &body));
                match route.rule(self.ledger.begin_with(&begin)) {
                    Ruling::Answer(answer) => Err(answer),
                    Ruling::Run(claim) => Ok(Running { play: self.script.begin(), granted: Some((begin, claim)) }),
                }
            }
            (Passage::Inert | Passage::Keyed(_), _) => Ok(Running { play: self.script.begin(), granted: None }),
        }
    }

    fn end(&self, running: Running) -> Answer {
        let Running { mut play, granted } = running;
        let (Some((begin, mut claim)), Some(route)) = (granted, &self.route) else {
            return match play.end() {
                Ending::Answers(answer) | Ending::BreaksOff(answer) | Ending::RaisesLate(answer) => answer,
                Ending::Raises => Answer::of_status(500),
            };
        };
        let effect = claim.effect();
        play.act(&mut claim);
        let mut claim = Some(claim);
        if play.takes_claim() {
            claim.take().into_iter().for_each(|claim| play.let_go(claim));
        }
        let kept_max = self.ledger.max_response_bytes();
        let settle = |settlement| Settled::of(claim, |_| fitting(settlement, kept_max));
        match play.end() {
            Ending::Answers(answer) => {
                let settled = settle(route.settlement(effect, &answer));
                match route.conclude(answer.status, &settled, self.ledger.ask(&begin)) {
                    Conclusion::Own(added) => with(answer, added),
                    Conclusion::Instead(answer) => answer,
                }
            }
            Ending::Raises | Ending::BreaksOff(_) | Ending::RaisesLate(_) => {
                let settled = settle(route.settlement_of_failure(effect));
                route.conclude_failure(&settled, self.ledger.ask(&begin))
            }
        }
    }
}

impl Adapter for Pure {
    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn script(&self) -> &Script {
        &self.script
    }

    fn send(&mut self, request: &Request) -> Got {
        sent(match self.begin(request) {
            Ok(running) => self.end(running),
            Err(answer) => answer,
        })
    }

    fn start(&mut self, name: &str, request: &Request, _queued: bool) {
        let running = self.begin(request).map_err(|answer| format!("{answer:?}"));
        self.running.insert(name.to_owned(), running.expect("the handler begins"));
    }

    fn finish(&mut self, name: &str) -> Got {
        let running = self.running.remove(name).expect("it was started");
        sent(self.end(running))
    }

    fn cut(&mut self, _name: &str) {}

    fn cut_short(&mut self, _request: &Request) {}

    fn settles(&mut self) {}
}

/// The handler's own answer, with what the adapter says.
fn with(mut answer: Answer, added: Fields) -> Answer {
    let is_own = |name: &str| OWN_FIELDS.iter().chain(&["Content-Length"]).any(|own| name.eq_ignore_ascii_case(own));
    answer.fields.retain(|(name, _)| !is_own(name));
    answer.fields.extend(added);
    answer
}

/// What a server adds to an answer that it sends.
fn sent(answer: Answer) -> Got {
    let has_length = answer.status == 204 || answer.field("Content-Length").is_some();
    let length = answer.body.len().to_string();
    Got::Whole(if has_length { answer } else { answer.with_field("Content-Length", length) })
}

fn fields(request: &Request) -> Fields {
    let line = |line: String| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
    request.lines().into_iter().filter_map(line).collect()
}

/// Raising and returning nothing are one thing to an adapter.
fn scope(request: &Request) -> Option<Scope> {
    Scope::new(request.user.as_deref().filter(|user| *user != "raises")?).ok()
}

fn as_asked<'a>(request: &'a Request, body: &'a [u8]) -> HttpRequest<'a> {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    HttpRequest {
        method: request.method.as_bytes(),
        path: path.as_bytes(),
        query: query.as_bytes(),
        content_type: request.content_type.as_deref().map(str::as_bytes),
        body,
    }
}
