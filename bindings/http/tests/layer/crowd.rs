//! A crowd on a few keys, some of which goes away in the middle.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use axum::Router;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::post;
use keyledger::{Effect, Ledger};
use keyledger_http::Route;
use keyledger_http::tower::{IdempotencyLayer, RequestClaim};

use crate::stage::{Server, one_user, post_and_leave, request};

const CLIENTS: usize = 64;
const REQUESTS: usize = 2000;
const KEYS: usize = 300;

/// How often the handler has run for each key.
type Runs = Arc<Mutex<HashMap<String, usize>>>;

/// Answers something else each time: in status, fields and body.
async fn handler(State(runs): State<Runs>, Extension(claim): Extension<RequestClaim>) -> impl IntoResponse {
    let key = claim.key_id().key().as_str().to_owned();
    *runs.lock().expect("the runs").entry(key).or_default() += 1;
    tokio::time::sleep(Duration::from_micros(fastrand::u64(0..10_000))).await;
    let status = [StatusCode::OK, StatusCode::CREATED, StatusCode::NOT_FOUND][fastrand::usize(..3)];
    let dice = || format!("{:032x}", fastrand::u128(..));
    (status, [("X-Run", dice())], dice())
}

#[test]
fn i1_i2_h9_each_key_of_a_crowd_runs_once_and_all_its_answers_are_equal() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = Ledger::open(folder.path().join("crowd.kl")).expect("a ledger");
    let runs = Runs::default();
    let layer = IdempotencyLayer::new(ledger, Route::required(Effect::Repeatable), one_user);
    let server = Server::of(Router::new().route("/charges", post(handler).layer(layer)).with_state(runs.clone()));
    let (next, answers) = (AtomicUsize::new(0), Mutex::new(HashMap::<String, Answers>::new()));
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while next.fetch_add(1, Ordering::Relaxed) < REQUESTS {
                    let key = format!("key-{}", fastrand::usize(0..KEYS));
                    if fastrand::u8(..) < 80 {
                        post_and_leave(server.port, "/charges", &key, [50, 99, 100, 100, 100][fastrand::usize(..5)]);
                    } else {
                        let told = insist(&server, &key);
                        answers.lock().expect("the answers").entry(key).or_default().note(&told);
                    }
                }
            });
        }
    });
    let answers = answers.into_inner().expect("the answers");
    let different: Vec<_> = answers.iter().filter(|(_, told)| told.different.len() != 1).collect();
    assert!(different.is_empty(), "keys with several answers: {different:?}");
    let fresh: Vec<_> = answers.iter().filter(|(_, told)| told.fresh > 1).collect();
    assert!(fresh.is_empty(), "keys with several answers that are no replays: {fresh:?}");
    let runs = runs.lock().expect("the runs");
    let often: Vec<_> = runs.iter().filter(|(_, count)| **count != 1).collect();
    assert!(often.is_empty(), "keys that ran more than once: {often:?}");
    assert!(answers.keys().all(|key| runs.contains_key(key)));
    assert!(answers.len() > KEYS / 2, "{} keys were asked for to the end", answers.len());
}

/// What was told for one key.
#[derive(Debug, Default)]
struct Answers {
    /// Each with its status, its fields and its body.
    different: BTreeSet<Vec<String>>,
    /// How many of them were no replays.
    fresh: usize,
}

impl Answers {
    fn note(&mut self, answer: &str) {
        let mut lines: Vec<String> = answer.lines().map(str::to_owned).collect();
        // All but the date, and the mark of a replay.
        lines.retain(|line| !line.starts_with("date: "));
        let all = lines.len();
        lines.retain(|line| line != "idempotent-replayed: true");
        self.fresh += usize::from(lines.len() == all);
        self.different.insert(lines);
    }
}

/// Asks until it is told the outcome.
fn insist(server: &Server, key: &str) -> String {
    loop {
        let answer = server.raw(&request("/charges", key));
        if !answer.contains("#in-progress") {
            assert!(["200", "201", "404"].contains(&&answer[9..12]), "{answer}");
            return answer;
        }
        thread::sleep(Duration::from_millis(2));
    }
}
