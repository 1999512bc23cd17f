//! What the clients will ask for, and when server and clients will be killed: all of it follows from the seed.

use fastrand::Rng;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Processes with an outbox: each user has several.
pub(crate) const CLIENTS: usize = 8;
pub(crate) const REQUESTS: usize = 300;
/// How often the server is killed.
pub(crate) const SERVER_KILLS: usize = 5;
/// How often the clients are killed: each of them this often.
pub(crate) const KILLS_OF_A_CLIENT: usize = 5;

/// How long a client stays away that is to come back when the window in which it may send again is over.
const LONG: Duration = Duration::from_millis(3500);

pub(crate) const USERS: [&str; 4] = ["ada", "ben", "cleo", "dan"];

/// The operations of the payment server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Operation {
    TopUp,
    Charge,
    Receipt,
}

impl Operation {
    pub(crate) const ALL: [Self; 3] = [Self::TopUp, Self::Charge, Self::Receipt];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TopUp => "top-up",
            Self::Charge => "charge",
            Self::Receipt => "receipt",
        }
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::TopUp => "/top-ups",
            Self::Charge => "/charges",
            Self::Receipt => "/receipts",
        }
    }
}

/// Names a request, and the record that the ledger keeps of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Name {
    pub(crate) operation: Operation,
    pub(crate) user: String,
    pub(crate) key: String,
}

/// Something that a user wants done, once.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) name: Name,
    pub(crate) body: Value,
    /// Whose outbox it is in.
    pub(crate) client: usize,
}

/// Which request a name stands for. A request can have several: its client may have had to take a new key.
pub(crate) type Names = BTreeMap<Name, usize>;

/// One posting of a request by somebody without an outbox, when all of them are done: each is posted several times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Post {
    /// Its place in [`Plan::requests`].
    pub(crate) request: usize,
    /// The same JSON in another layout, which is no other request.
    pub(crate) laid_out: bool,
    /// Once it is answered, post another body under the same key.
    pub(crate) then_changed: bool,
}

/// Whom to kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Victim {
    Server,
    Client(usize),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Kill {
    /// How many requests are answered when it is due.
    pub(crate) due: usize,
    pub(crate) victim: Victim,
    /// How long the victim stays away.
    pub(crate) away: Duration,
}

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) requests: Vec<Request>,
    pub(crate) posts: Vec<Post>,
    /// In the order in which they are due.
    pub(crate) kills: Vec<Kill>,
}

impl Plan {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Rng::with_seed(seed);
        let requests = requests(&mut dice);
        let posts = posts(&mut dice);
        let kills = kills(&mut dice);
        Self { requests, posts, kills }
    }

    /// The requests by their own names.
    pub(crate) fn names(&self) -> Names {
        self.requests.iter().enumerate().map(|(index, request)| (request.name.clone(), index)).collect()
    }

    /// How many kills there are of the server, and of clients.
    pub(crate) fn count_kills(&self) -> (usize, usize) {
        let servers = self.kills.iter().filter(|kill| kill.victim == Victim::Server).count();
        (servers, self.kills.len() - servers)
    }
}

/// Evenly over the first four fifths of the requests. Two clients once stay away for long, early on.
fn kills(dice: &mut Rng) -> Vec<Kill> {
    let due = |number: usize, of: usize| (number + 1) * REQUESTS * 4 / 5 / (of + 1);
    let soon = |dice: &mut Rng| Duration::from_millis(dice.u64(..50));
    let mut kills: Vec<Kill> = (0..SERVER_KILLS)
        .map(|number| Kill { due: due(number, SERVER_KILLS), victim: Victim::Server, away: soon(dice) })
        .collect();
    for round in 0..KILLS_OF_A_CLIENT {
        let mut clients: Vec<usize> = (0..CLIENTS).collect();
        dice.shuffle(&mut clients);
        for (place, client) in clients.into_iter().enumerate() {
            let away = if round == 1 && place < 2 { LONG } else { soon(dice) };
            let due = due(round * CLIENTS + place, KILLS_OF_A_CLIENT * CLIENTS);
            kills.push(Kill { due, victim: Victim::Client(client), away });
        }
    }
    kills.sort_by_key(|kill| kill.due);
    kills
}

fn requests(dice: &mut Rng) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::with_capacity(REQUESTS);
    for number in 0..REQUESTS {
        let operation = Operation::ALL[number % Operation::ALL.len()];
        let name = shared_key(dice, &requests).unwrap_or_else(|| Name { operation, user: user(dice), key: key(dice) });
        let body = body(dice, &name);
        let client = client(dice, &name.user);
        requests.push(Request { name, body, client });
    }
    requests
}

/// Now and then two users' clients happen to choose one key for the same operation.
fn shared_key(dice: &mut Rng, before: &[Request]) -> Option<Name> {
    let taken = &before.get(before.len().checked_sub(Operation::ALL.len())?)?.name;
    let name = Name { user: user(dice), ..taken.clone() };
    let is_new = before.iter().all(|request| request.name != name);
    (is_new && dice.u32(..5) == 0).then_some(name)
}

fn user(dice: &mut Rng) -> String {
    USERS[dice.usize(..USERS.len())].to_owned()
}

/// One of the user's clients.
fn client(dice: &mut Rng, user: &str) -> usize {
    let place = USERS.iter().position(|known| *known == user).unwrap_or(0);
    place + USERS.len() * dice.usize(..CLIENTS / USERS.len())
}

fn key(dice: &mut Rng) -> String {
    format!("{:016x}-{:016x}", dice.u64(..), dice.u64(..))
}

fn body(dice: &mut Rng, name: &Name) -> Value {
    let cents = dice.u64(100..20_000);
    let order = format!("A-{}", dice.u32(1000..10_000));
    match name.operation {
        Operation::TopUp => json!({ "amount_cents": cents, "source": "gift card" }),
        Operation::Charge => json!({ "amount_cents": cents, "currency": "EUR", "order": order }),
        Operation::Receipt => {
            json!({ "to": format!("{}@example.test", name.user), "order": order, "total_cents": cents })
        }
    }
}

/// The body with another amount: another request.
pub(crate) fn changed(body: &Value) -> Value {
    let mut changed = body.clone();
    for member in ["amount_cents", "total_cents"] {
        if let Some(cents) = changed.get(member).and_then(Value::as_u64) {
            changed[member] = json!(cents + 1);
        }
    }
    changed
}

/// Each request, and a moment later again, in another layout; some with another body after that.
fn posts(dice: &mut Rng) -> Vec<Post> {
    let mut timed = Vec::new();
    for request in 0..REQUESTS {
        let then_changed = dice.u32(..4) == 0;
        timed.push((request, Post { request, laid_out: false, then_changed }));
        timed.push((request + dice.usize(0..6), Post { request, laid_out: true, then_changed: false }));
    }
    timed.sort_by_key(|(time, _)| *time);
    timed.into_iter().map(|(_, post)| post).collect()
}

#[cfg(test)]
mod tests {
    use super::{CLIENTS, LONG, Operation, Plan, REQUESTS, Request, USERS, Victim, changed};
    use serde_json::json;
    use std::collections::HashSet;

    #[test]
    fn a_seed_repeats_the_plan() {
        let [one, two, other] = [7, 7, 8].map(|seed| format!("{:?}", Plan::new(seed)));
        assert_eq!(one, two);
        assert_ne!(one, other);
    }

    #[test]
    fn every_request_is_posted_twice() {
        let plan = Plan::new(1);
        let count = |request| plan.posts.iter().filter(|post| post.request == request).count();
        assert!((0..REQUESTS).all(|request| count(request) == 2));
        assert!(plan.posts.iter().any(|post| post.then_changed));
    }

    #[test]
    fn server_and_clients_are_killed_five_times_each_and_two_clients_stay_away_for_long() {
        let plan = Plan::new(1);
        let count = |victim| plan.kills.iter().filter(|kill| kill.victim == victim).count();
        assert_eq!(count(Victim::Server), 5);
        assert!((0..CLIENTS).all(|client| count(Victim::Client(client)) == 5));
        assert_eq!(plan.kills.iter().filter(|kill| kill.away == LONG).count(), 2);
        assert!(plan.kills.is_sorted_by_key(|kill| kill.due));
        assert_eq!(plan.count_kills(), (5, 40));
    }

    #[test]
    fn a_request_is_in_the_outbox_of_its_user() {
        let plan = Plan::new(1);
        let is_own = |request: &Request| USERS[request.client % USERS.len()] == request.name.user;
        assert!(plan.requests.iter().all(is_own));
    }

    #[test]
    fn no_two_requests_have_one_name_and_some_share_a_key() {
        let plan = Plan::new(1);
        let names: HashSet<_> = plan.requests.iter().map(|request| &request.name).collect();
        let keys: HashSet<_> = plan.requests.iter().map(|request| &request.name.key).collect();
        assert_eq!(names.len(), REQUESTS);
        assert!(keys.len() < REQUESTS);
        assert!(Operation::ALL.iter().all(|operation| names.iter().any(|name| name.operation == *operation)));
    }

    #[test]
    fn a_changed_body_asks_for_another_amount() {
        assert_eq!(changed(&json!({ "amount_cents": 5, "order": "A" })), json!({ "amount_cents": 6, "order": "A" }));
    }
}
