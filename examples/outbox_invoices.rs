//! 10,000 invoices submitted by a program that is killed twice and started again: each arrives once.
//!
//! Without arguments it is the office, which receives invoices, starts the program, kills it and starts it again. With `submit` it
//! is the program.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use indicatif::ProgressBar;
use keyledger::{
    Delivery, DeliveryOutcome, Driver, Enqueue, EntryStateName, Ledger, Outbox, Response, Scope, Transport,
};

const INVOICES: usize = 10_000;
const KILLED_AT: [usize; 2] = [3_000, 6_000];

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["submit", ledger, office] => submit(Path::new(ledger), office.to_owned()),
        _ => office(),
    }
}

/// The program. However often it is killed, it does the same: enqueues every invoice, and drains.
fn submit(path: &Path, office: String) -> anyhow::Result<()> {
    let ledger = Ledger::open(path)?;
    let (outbox, scope) = (open(&ledger)?, Scope::single());
    let numbers: Vec<usize> = (0..INVOICES).collect();
    for some in numbers.chunks(1000) {
        let invoices: Vec<Enqueue> = some.iter().map(|number| invoice(&scope, *number)).collect();
        // Those of an earlier run are found by their purpose, sent or not.
        outbox.enqueue_many(&invoices)?;
    }
    let bar = ProgressBar::new(0);
    let drained = Driver::new(&outbox, &scope, Post { office }).in_flight(32).drain(Duration::from_mins(1), |now| {
        bar.set_length(now.settled + now.remaining);
        bar.set_position(now.settled);
    })?;
    bar.finish();
    println!("this run has sent {} and settled {}", drained.sent, drained.settled);
    Ok(())
}

fn open(ledger: &Ledger) -> anyhow::Result<Outbox> {
    // What a killed run had in flight is sent again when its lease is over. An invoice is a few bytes: two seconds are plenty.
    let outbox = ledger.outbox().lease(Duration::from_secs(2));
    Ok(outbox.backoff(Duration::from_millis(100), Duration::from_secs(1), 2).open()?)
}

fn invoice(scope: &Scope, number: usize) -> Enqueue {
    let purpose = format!("invoice {number}");
    Enqueue::new(scope, "submit invoice", "text/plain", purpose.clone()).purpose(purpose)
}

/// Brings one invoice to the office, with its key.
struct Post {
    office: String,
}

impl Transport for Post {
    fn send(&self, delivery: &Delivery) -> DeliveryOutcome {
        self.bring(delivery).unwrap_or_else(|error| DeliveryOutcome::retry(error.to_string()))
    }
}

impl Post {
    fn bring(&self, delivery: &Delivery) -> std::io::Result<DeliveryOutcome> {
        let mut office = TcpStream::connect(&self.office)?;
        office.set_read_timeout(Some(delivery.lease_left().max(Duration::from_millis(1))))?;
        let line = format!("{}\t{}\n", delivery.key().as_str(), String::from_utf8_lossy(delivery.request()));
        office.write_all(line.as_bytes())?;
        let mut answer = String::new();
        BufReader::new(office).read_line(&mut answer)?;
        Ok(match answer.trim_end() {
            "" => DeliveryOutcome::retry("the office hung up"),
            receipt => DeliveryOutcome::yes(Response::text(receipt)),
        })
    }
}

/// What has arrived: invoices by their keys, and how often one came again.
#[derive(Default)]
struct Arrived {
    invoices: HashMap<String, String>,
    again: usize,
}

fn office() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("invoices.kl");
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    let arrived = Arc::new(Mutex::new(Arrived::default()));
    let desk = arrived.clone();
    thread::spawn(move || receive(&listener, &desk));

    let run = || Command::new(std::env::current_exe()?).arg("submit").args([&path]).arg(&address).spawn();
    for invoices in KILLED_AT {
        let mut program = run()?;
        wait_for(&arrived, invoices, &mut program)?;
        program.kill()?;
        program.wait()?;
        println!("the program is killed; {} invoices have arrived", count(&arrived));
    }
    anyhow::ensure!(run()?.wait()?.success(), "the program failed");

    let arrived = arrived.lock().unwrap_or_else(PoisonError::into_inner);
    let mut numbers: Vec<&String> = arrived.invoices.values().collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!((arrived.invoices.len(), numbers.len()), (INVOICES, INVOICES));
    let answered = open(&Ledger::open(&path)?)?.stats()?.count(EntryStateName::Answered);
    assert_eq!(answered, INVOICES as u64);
    println!("{INVOICES} invoices have arrived once each; {} came again with a key that was known", arrived.again);
    Ok(())
}

/// Takes each key once, and gives the same receipt to whoever brings it again.
fn receive(listener: &TcpListener, arrived: &Mutex<Arrived>) {
    for connection in listener.incoming().flatten() {
        let mut line = String::new();
        if BufReader::new(&connection).read_line(&mut line).is_err() {
            continue;
        }
        let Some((key, invoice)) = line.trim_end().split_once('\t') else { continue };
        let mut arrived = arrived.lock().unwrap_or_else(PoisonError::into_inner);
        if arrived.invoices.insert(key.to_owned(), invoice.to_owned()).is_some() {
            arrived.again += 1;
        }
        drop(arrived);
        // Whoever has been killed does not hear of it.
        let _ = writeln!(&connection, "receipt for {invoice}");
    }
}

fn wait_for(arrived: &Mutex<Arrived>, invoices: usize, program: &mut Child) -> anyhow::Result<()> {
    while count(arrived) < invoices {
        anyhow::ensure!(program.try_wait()?.is_none(), "the program ended too early");
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn count(arrived: &Mutex<Arrived>) -> usize {
    arrived.lock().unwrap_or_else(PoisonError::into_inner).invoices.len()
}
