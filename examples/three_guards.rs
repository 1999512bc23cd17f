//! Three guards in one transaction: the key, a row that may exist once, and a state that may change once.
//!
//! The key stops a retry. It cannot stop a second client that asks for the same thing under another key: the other two can.

use keyledger::{Claim, Decision, Error, ErrorCode, Fingerprint, Key, Ledger, Operation, Response, Scope};

static PAY: Operation = Operation::in_ledger("pay-invoice");

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let ledger = Ledger::open(folder.path().join("invoices.kl"))?;
    ledger.transaction(|tx| {
        tx.put("invoices", b"1034", b"unpaid")?;
        tx.put("invoices", b"1035", b"cancelled")
    })?;

    pay(begin(&ledger, "a")?, "1034", "voucher-7")?;
    assert_eq!(ledger.get("invoices", b"1034")?.as_deref(), Some(&b"paid"[..]));
    println!("invoice 1034 is paid with voucher 7");

    assert!(matches!(decide(&ledger, "a")?, Decision::Replay(_)));
    println!("guard 1, the key: a retry is told so, and pays nothing");

    let again = pay(begin(&ledger, "b")?, "1034", "voucher-8").unwrap_err();
    assert_eq!(again.code(), ErrorCode::CompareFailed);
    println!("guard 2, the state: under another key, 1034 is not unpaid any more");

    ledger.transaction(|tx| tx.put("invoices", b"1036", b"unpaid"))?;
    let spent = pay(begin(&ledger, "c")?, "1036", "voucher-7").unwrap_err();
    assert_eq!(spent.code(), ErrorCode::UniqueViolation);
    println!("guard 3, the row: voucher 7 is spent, and cannot pay 1036");

    // Whatever a guard refuses leaves nothing behind, and its key is free for another try.
    assert_eq!(ledger.get("invoices", b"1036")?.as_deref(), Some(&b"unpaid"[..]));
    assert_eq!(ledger.get("spent", b"voucher-8")?, None);
    pay(begin(&ledger, "c")?, "1036", "voucher-8")?;
    println!("voucher 8 was not touched by the refusal: it pays 1036");
    Ok(())
}

/// All guards, the payment and the outcome are stored together, or none of them.
fn pay(mut claim: Claim, invoice: &str, voucher: &str) -> Result<Response, Error> {
    claim.complete_with(|tx| {
        tx.compare_and_set("invoices", invoice.as_bytes(), Some(b"unpaid"), Some(b"paid"))?;
        tx.insert_unique("spent", voucher.as_bytes(), invoice.as_bytes())?;
        Ok(Response::text("paid"))
    })
}

fn begin(ledger: &Ledger, key: &str) -> anyhow::Result<Claim> {
    match decide(ledger, key)? {
        Decision::Acquired(claim) => Ok(claim),
        other => anyhow::bail!("the key is in use: {other:?}"),
    }
}

fn decide(ledger: &Ledger, key: &str) -> anyhow::Result<Decision> {
    Ok(ledger.begin(&PAY, &Scope::single(), &Key::new(key)?, Fingerprint::Unchecked)?)
}
