//! What the clients will post and when the server will be killed: all of it follows from the seed.

use fastrand::Rng;
use serde_json::{Value, json};

pub(crate) const CLIENTS: usize = 16;
pub(crate) const REQUESTS: usize = 300;
pub(crate) const KILLS: usize = 5;

const USERS: [&str; 4] = ["ada", "ben", "cleo", "dan"];

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
}

/// One posting of a request: each is posted several times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Post {
    /// Its place in [`Plan::requests`].
    pub(crate) request: usize,
    /// The same JSON in another layout, which is no other request.
    pub(crate) laid_out: bool,
    /// Once it is answered, post another body under the same key.
    pub(crate) then_changed: bool,
}

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) requests: Vec<Request>,
    pub(crate) posts: Vec<Post>,
    /// How many posts are answered when a kill is due.
    pub(crate) kills: [usize; KILLS],
}

impl Plan {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Rng::with_seed(seed);
        let requests = requests(&mut dice);
        let posts = posts(&mut dice);
        let kills = std::array::from_fn(|kill| (kill + 1) * posts.len() / (KILLS + 1));
        Self { requests, posts, kills }
    }

    /// Every request once more.
    pub(crate) fn one_post_each(&self) -> Vec<Post> {
        (0..self.requests.len()).map(|request| Post { request, laid_out: false, then_changed: false }).collect()
    }
}

fn requests(dice: &mut Rng) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::with_capacity(REQUESTS);
    for number in 0..REQUESTS {
        let operation = Operation::ALL[number % Operation::ALL.len()];
        let name = shared_key(dice, &requests).unwrap_or_else(|| Name { operation, user: user(dice), key: key(dice) });
        let body = body(dice, &name);
        requests.push(Request { name, body });
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

/// Each request at once, a moment later (a second click), and some time later (a retry); some once or twice more.
fn posts(dice: &mut Rng) -> Vec<Post> {
    let mut timed = Vec::new();
    for request in 0..REQUESTS {
        let moment_later = request + dice.usize(0..6);
        let retries = 1 + dice.usize(0..3);
        let later: Vec<usize> = (0..retries).map(|_| dice.usize(request..REQUESTS + CLIENTS)).collect();
        for (count, time) in [request, moment_later].into_iter().chain(later).enumerate() {
            let post = Post { request, laid_out: count % 2 == 1, then_changed: count == 2 && dice.u32(..4) == 0 };
            timed.push((time, post));
        }
    }
    timed.sort_by_key(|(time, _)| *time);
    timed.into_iter().map(|(_, post)| post).collect()
}

#[cfg(test)]
mod tests {
    use super::{Operation, Plan, REQUESTS, changed};
    use serde_json::json;
    use std::collections::HashSet;

    #[test]
    fn a_seed_repeats_the_plan() {
        let [one, two, other] = [7, 7, 8].map(|seed| format!("{:?}", Plan::new(seed)));
        assert_eq!(one, two);
        assert_ne!(one, other);
    }

    #[test]
    fn every_request_is_posted_at_least_three_times() {
        let plan = Plan::new(1);
        let count = |request| plan.posts.iter().filter(|post| post.request == request).count();
        assert!((0..REQUESTS).all(|request| count(request) >= 3));
        assert!(plan.posts.iter().any(|post| post.then_changed));
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
