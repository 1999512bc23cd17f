//! A payment over HTTP on a bad day: the server hangs up, is busy, and turns the token away. One key, one charge.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use keyledger::{Driver, EntryStateName, EntryView, Ledger, Outcome, Scope};
use keyledger_http::client::{HttpTransport, NoCredentials, Request};
use keyledger_http::message::{Stored, StoredBody};

fn main() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/charges", listener.local_addr()?);
    let bank = Arc::new(Bank::default());
    let open = bank.clone();
    std::thread::spawn(move || listener.incoming().flatten().for_each(|customer| open.serve(customer)));

    let folder = tempfile::tempdir()?;
    let ledger = Ledger::open(folder.path().join("phone.kl"))?;
    let outbox = ledger.outbox().backoff(Duration::from_millis(50), Duration::from_millis(200), 2).open()?;
    let ada = Scope::new("ada")?;
    let token = Arc::new(Mutex::new("an old token".to_owned()));
    let wallet = token.clone();
    let http = Arc::new(HttpTransport::new(move |_: &Scope, _: &Request| {
        let token = wallet.lock().map_err(|_| NoCredentials::SignedOut)?.clone();
        Ok(vec![("Authorization".to_owned(), format!("Bearer {token}").into_bytes())])
    }));

    let charge = Request::post(url).with_body("text/plain", "1999 cents");
    let pay = http.enqueue(&ada, "POST /charges", &charge)?.purpose("pay cart 42");
    let id = outbox.enqueue(&pay)?.entry.id();
    let driver = Driver::new(&outbox, &ada, http).start()?;

    let entry = outbox.changes_of(id, |entry| {
        println!("the screen shows: {}, {} tries", entry.state().as_str(), entry.tries());
        entry.state() != EntryStateName::Held
    })?;
    println!("Ada has to sign in: {}", entry.held().map_or("not any more", |(reason, _)| reason));
    "a new token".clone_into(&mut token.lock().unwrap_or_else(PoisonError::into_inner));
    outbox.resume(&ada)?;

    let entry = outbox.wait(id, Duration::from_secs(30))?;
    entry.errors().iter().for_each(|error| println!("  it was tried in vain: {}", error.error));
    let answer = answer(&entry).expect("the bank has answered");
    assert_eq!((answer.status, answer.body), (201, StoredBody::Kept(b"charged 1999 cents".to_vec())));
    assert_eq!(bank.charges(), 1);
    println!("charged once, with one key");
    Ok(driver.stop()?)
}

/// The answer as HTTP, once there is one.
fn answer(entry: &EntryView) -> Option<Stored> {
    let outcome = if entry.is_yes() { Outcome::Completed } else { Outcome::Failed };
    entry.response().map(|response| Stored::of_response(response, outcome))
}

/// How often each key came, and how often it was charged.
#[derive(Default)]
struct Bank {
    keys: Mutex<HashMap<String, (u32, u32)>>,
}

impl Bank {
    fn charges(&self) -> u32 {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).values().map(|(_, charges)| charges).sum()
    }

    /// One request, and an answer or none.
    fn serve(&self, mut customer: TcpStream) {
        let Some((fields, body)) = read(&customer) else { return };
        let field = |name| fields.get(name).map_or("", String::as_str);
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let (tries, charges) = keys.entry(field("idempotency-key").to_owned()).or_default();
        *tries += 1;
        let (head, said) = match *tries {
            1 => return,
            2 => {
                *charges += 1;
                return;
            }
            3 => ("503 Service Unavailable\r\nRetry-After: 1", String::new()),
            _ if field("authorization") != "Bearer a new token" => ("401 Unauthorized", String::new()),
            _ => ("201 Created\r\nIdempotent-Replayed: true", format!("charged {body}")),
        };
        let length = said.len();
        // Whoever is gone does not hear of it.
        let _ = write!(customer, "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{said}");
    }
}

/// A request's fields by their names in lower case, and its body.
fn read(customer: &TcpStream) -> Option<(HashMap<String, String>, String)> {
    let mut reader = BufReader::new(customer);
    let (mut fields, mut line) = (HashMap::new(), String::new());
    reader.read_line(&mut line).ok()?;
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        fields.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length: usize = fields.get("content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((fields, String::from_utf8(body).ok()?))
}
