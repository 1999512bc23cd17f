//! Steps: a handler that died half way goes on where it stopped, and gives each downstream the key that it gave before.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::{bail, ensure};
use keyledger::{Claim, Decision, Fingerprint, Key, Ledger, Operation, Response, Scope};

static BOOK: Operation = Operation::repeatable("book-trip").lease(Duration::from_secs(30));

/// Books one seat or room for each key.
#[derive(Default)]
struct Downstream {
    calls: usize,
    booked: HashSet<Key>,
}

impl Downstream {
    fn book(&mut self, key: Key) -> Vec<u8> {
        self.calls += 1;
        let reference = format!("booked by {key}").into_bytes();
        self.booked.insert(key);
        reference
    }
}

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let ledger = Ledger::open(folder.path().join("trips.kl"))?;
    let (mut airline, mut hotel) = (Downstream::default(), Downstream::default());

    assert!(book(begin(&ledger)?, &mut airline, &mut hotel, true).is_err());
    println!("the handler died after the hotel had booked, and before that was written down");

    book(begin(&ledger)?, &mut airline, &mut hotel, false)?;
    assert_eq!(airline.calls, 1);
    println!("the second attempt did not call the airline again: that step's result was stored");
    assert_eq!((hotel.calls, hotel.booked.len()), (2, 1));
    println!("it called the hotel again with the same derived key, and the hotel booked once");
    Ok(())
}

fn begin(ledger: &Ledger) -> anyhow::Result<Claim> {
    match ledger.begin(&BOOK, &Scope::new("ada")?, &Key::new("trip-7")?, Fingerprint::Unchecked)? {
        Decision::Acquired(claim) => Ok(claim),
        other => bail!("it is not ours to run: {other:?}"),
    }
}

fn book(mut claim: Claim, airline: &mut Downstream, hotel: &mut Downstream, dies: bool) -> anyhow::Result<()> {
    println!("attempt {}", claim.attempt());
    let (seat, room) = (claim.derive_key("seat"), claim.derive_key("room"));
    claim.step("seat", || anyhow::Ok(airline.book(seat)))?;
    claim.step("room", || {
        let reference = hotel.book(room);
        ensure!(!dies, "the power is gone");
        Ok(reference)
    })?;
    Ok(claim.complete(Response::text("have a good trip"))?)
}
