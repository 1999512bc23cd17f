//! Wishes become entries, and a driver sends them.

use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use keyledger::{Delivery, DeliveryOutcome, Driver, Enqueue, Fingerprint, Key, Outbox, Scope, Stop, Transport};
use keyledger_examples::payments::journal::{self, Journal};
use keyledger_examples::payments::records::{Sent, Wish};
use keyledger_examples::payments::serving;
use keyledger_http::KEY_FIELD;
use keyledger_http::client::{HttpTransport, KeyField, NoCredentials, Request};
use keyledger_http::message::Fields;

/// How long a send may take before the client takes it for lost.
const TIMEOUT: Duration = Duration::from_secs(1);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Whose wishes they are
    #[arg(long)]
    user: String,
    /// The wishes, one JSON object to a line
    #[arg(long)]
    wishes: PathBuf,
    /// The payment server's port on loopback
    #[arg(long)]
    server: u16,
    /// The log of requests that were about to leave
    #[arg(long)]
    sent: PathBuf,
    /// Take a new key for each try, as a client does that keeps none
    #[arg(long)]
    new_key_per_try: bool,
}

/// Says `ready`, has every wish carried out, says `drained` when only people can bring anything on, and stays until standard input
/// ends. A process that comes after a killed one asks for everything again: the outbox knows what is there already.
pub(crate) fn work(outbox: &Outbox, args: &Args) -> anyhow::Result<()> {
    let stop = Stop::new();
    let asked = stop.clone();
    let parent = thread::spawn(move || {
        serving::wait_for_parent();
        asked.stop();
    });
    let (scope, http) = (Scope::new(&args.user)?, transport(args.new_key_per_try)?);
    let wishes: Vec<Wish> = journal::read(&args.wishes)?;
    let enqueues = wishes.iter().map(|wish| enqueue(&http, &scope, args.server, wish));
    let enqueues: Vec<Enqueue> = enqueues.collect::<anyhow::Result<_>>()?;
    let noting = Noting { http, log: Journal::unsynced(&args.sent)? };
    let driver = Driver::new(outbox, &scope, noting).stop_on(&stop);
    say("ready")?;
    let working = driver.start()?;
    for enqueue in &enqueues {
        if outbox.enqueue(enqueue)?.created {
            thread::sleep(Duration::from_millis(fastrand::u64(5..40)));
        }
    }
    working.stop()?;
    driver.drain(Duration::MAX, |_| {})?;
    say("drained")?;
    // It has panicked if it gives an error: then nobody is there to wait for.
    let _ = parent.join();
    Ok(())
}

fn say(word: &str) -> io::Result<()> {
    println!("{word}");
    io::stdout().flush()
}

/// The credential of a user is never stored: it is asked for at each send.
fn transport(new_key_per_try: bool) -> anyhow::Result<HttpTransport> {
    let builder = HttpTransport::builder().timeout(TIMEOUT);
    let credential = |scope: &Scope| ("Authorization".to_owned(), format!("Bearer {}-credential", scope.as_str()));
    if new_key_per_try {
        let builder = builder.key_field(KeyField::default().named("X-Kept-Key")?);
        let other_key = || (KEY_FIELD.to_owned(), format!("\"{}\"", Key::random().as_str()));
        return Ok(builder.build(move |scope: &Scope, _: &Request| Ok(fields([credential(scope), other_key()]))));
    }
    Ok(builder.build(move |scope: &Scope, _: &Request| -> Result<_, NoCredentials> { Ok(fields([credential(scope)])) }))
}

fn fields<const N: usize>(lines: [(String, String); N]) -> Fields {
    lines.into_iter().map(|(name, value)| (name, value.into_bytes())).collect()
}

/// The fingerprint is that of the JSON, so that another layout is no other wish.
fn enqueue(http: &HttpTransport, scope: &Scope, server: u16, wish: &Wish) -> anyhow::Result<Enqueue> {
    let request = Request::post(format!("http://127.0.0.1:{server}/{}s", wish.operation))
        .with_field("X-Purpose", wish.purpose.as_bytes())
        .with_body("application/json", wish.body.as_bytes());
    let enqueue = http.enqueue(scope, &wish.operation, &request)?;
    let asked = Fingerprint::of_json_text(&wish.body)?;
    Ok(enqueue.purpose(&wish.purpose).key(&Key::new(&wish.key)?).fingerprint(asked))
}

/// Writes down what is about to leave.
struct Noting {
    http: HttpTransport,
    log: Journal,
}

impl Transport for Noting {
    fn send(&self, delivery: &Delivery) -> DeliveryOutcome {
        let (entry, operation) = (delivery.id().get(), delivery.entry().operation().to_owned());
        match self.log.append(&Sent { entry, operation, process: std::process::id() }) {
            Ok(()) => self.http.send(delivery),
            Err(error) => DeliveryOutcome::retry(format!("the log cannot be written: {error}")).not_taken(),
        }
    }

    fn has_other_credentials(&self, scope: &Scope) -> bool {
        self.http.has_other_credentials(scope)
    }
}
