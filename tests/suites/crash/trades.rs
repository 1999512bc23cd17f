//! Commands that change rows: transactions, batches, `run`, and the futures.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use keyledger::{Batch, Error, Operation, Response, RunError, Settlement};

use super::commands::{acquired, ask};
use super::journal::Change;
use super::names::{fingerprint, key, scope_of};
use super::world::World;

type Done = Result<(), Error>;

fn row(table: &'static str, key: &str, value: &str) -> Change {
    Change::Row(table, key.into(), Some(value.into()))
}

impl World {
    /// Completes a claim with rows of the caller's in the same commit.
    pub(crate) fn complete_with(&mut self, name: &'static str, balance: &'static str) -> Done {
        let mut claim = self.claims.remove(name).expect("a claim is held");
        let response = Response::text(format!("balance {balance}"));
        let completed = self.claimed(&claim).completed(&response, self.now());
        let rows = [row("accounts", name, balance), row("grants", name, "granted")];
        self.journal.expect([Change::record(claim.key_id(), completed)].into_iter().chain(rows).collect());
        let ended: Result<Response, Error> = claim.complete_with(|tx| {
            tx.insert_unique("grants", name.as_bytes(), "granted")?;
            tx.put("accounts", name.as_bytes(), balance)?;
            Ok(response.clone())
        });
        if ended.is_ok() {
            self.journal.acknowledge();
        } else {
            self.claims.insert(name, claim);
        }
        assert_eq!(ended?, response);
        Ok(())
    }

    /// A closure that says no: nothing of it is stored, and the claim is as it was (S7).
    pub(crate) fn complete_with_error(&mut self, name: &'static str) -> Done {
        self.journal.expect(vec![]);
        let claim = self.claims.get_mut(name).expect("a claim is held");
        let ended: Result<Response, Error> = claim.complete_with(|tx| {
            tx.put("accounts", b"nobody", "1")?;
            tx.insert_unique("accounts", b"nobody", "2")?;
            Ok(Response::empty())
        });
        match ended {
            Err(Error::UniqueViolation { .. }) => Ok(()),
            Err(error) => Err(error),
            Ok(response) => panic!("it was to fail: {response:?}"),
        }
    }

    pub(crate) fn complete_batch(&mut self, name: &'static str) -> Done {
        let mut claim = self.claims.remove(name).expect("a claim is held");
        let response = Response::bytes([0, 255, 7]);
        let completed = self.claimed(&claim).completed(&response, self.now());
        self.journal.expect(vec![Change::record(claim.key_id(), completed), row("orders", name, "paid")]);
        let batch = Batch::new().insert_unique("orders", name, "open").compare_and_set(
            "orders",
            name,
            Some(b"open".to_vec()),
            Some(b"paid".to_vec()),
        );
        let ended = claim.complete_batch(&batch, response);
        if ended.is_ok() {
            self.journal.acknowledge();
        } else {
            self.claims.insert(name, claim);
        }
        ended.map(drop)
    }

    /// Every kind of change in one transaction, and the completion of a claim beside them.
    pub(crate) fn transaction(&mut self, name: &'static str) -> Done {
        let claim = &self.claims[name];
        let (id, fence, response) = (claim.key_id().clone(), claim.fence(), Response::text("moved"));
        let completed = self.claimed(claim).completed(&response, self.now());
        let rows = [row("orders", "a", "2"), row("orders", "c", "1"), Change::Row("orders", b"b".to_vec(), None)];
        self.journal.expect([Change::record(&id, completed)].into_iter().chain(rows).collect());
        self.ledger.transaction(|tx| {
            tx.put("orders", b"a", "1")?;
            assert_eq!(tx.get("orders", b"b")?.as_deref(), Some(&b"0"[..]));
            tx.compare_and_set("orders", b"a", Some(b"1"), Some(b"2"))?;
            tx.insert_unique("orders", b"c", "1")?;
            tx.delete("orders", b"b")?;
            assert_eq!(tx.scan("orders", b"a", Some(b"d"), 9)?.len(), 2, "it sees its own writes (G1)");
            tx.complete(&id, fence, response.clone())
        })?;
        self.journal.acknowledge();
        Ok(())
    }

    pub(crate) fn apply(&mut self) -> Done {
        self.journal.expect(vec![row("orders", "b", "0"), row("accounts", "bank", "1000")]);
        self.ledger.apply(&Batch::new().put("orders", "b", "0").put("accounts", "bank", "1000"))?;
        self.journal.acknowledge();
        Ok(())
    }

    /// A row of this many bytes, and an answer as long, in one commit: the longest go into the tree by another way.
    pub(crate) fn complete_at_length(&mut self, name: &'static str, length: usize) -> Done {
        let mut claim = self.claims.remove(name).expect("a claim is held");
        let value = name.as_bytes()[..1].repeat(length);
        let response = Response::bytes(value.clone());
        let completed = self.claimed(&claim).completed(&response, self.now());
        let row = Change::Row("accounts", name.into(), Some(value.clone()));
        self.journal.expect(vec![Change::record(claim.key_id(), completed), row]);
        let ended = claim.complete_batch(&Batch::new().put("accounts", name, value), response);
        if ended.is_ok() {
            self.journal.acknowledge();
        } else {
            self.claims.insert(name, claim);
        }
        ended.map(drop)
    }

    /// Begin, handler and completion in one call.
    pub(crate) fn run(&mut self, operation: &'static Operation, name: &'static str) -> Done {
        let granted = self.granted(operation, name, b"");
        let response = Response::text("run to its end");
        let Some(Change::Record(id, Some(sketch))) = granted.clone() else { panic!("it is to be on disk") };
        let completed = Change::record(&id, sketch.completed(&response, self.now()));
        self.journal.expect_commits(vec![granted.into_iter().collect(), vec![completed]]);
        let (scope, key) = (scope_of(name), key(name));
        let mut fence = None;
        let ran = self.ledger.run(operation, &scope, &key, fingerprint(name), |claim| {
            fence = Some(claim.fence());
            Ok::<_, Error>(response.clone())
        });
        if let Some(fence) = fence {
            self.journal.expect_fence(fence);
        }
        match ran {
            Ok(answer) => assert_eq!(answer, response),
            Err(RunError::Ledger(error) | RunError::Handler(error)) => return Err(error),
            Err(other) => panic!("{other}"),
        }
        self.journal.acknowledge();
        self.compare().map(drop)
    }

    pub(crate) fn begin_async(&mut self, operation: &'static Operation, name: &'static str) -> Done {
        self.journal.expect(self.granted(operation, name, b"later").into_iter().collect());
        let decision = wait_for(self.ledger.begin_with_async(ask(operation, name).memo(*b"later")))?;
        self.journal.acknowledge();
        self.keep(name, acquired(decision));
        Ok(())
    }

    pub(crate) fn settle_async(&mut self, name: &'static str, settlement: &Settlement) -> Done {
        let claim = self.claims.remove(name).expect("a claim is held");
        let (id, sketch, now) = (claim.key_id().clone(), self.claimed(&claim), self.now());
        let (after, ended) = match settlement.clone() {
            Settlement::Complete(response) => {
                (sketch.completed(&response, now), wait_for(claim.complete_async(response)))
            }
            Settlement::Fail(response) => (sketch.failed(&response, now), wait_for(claim.fail_async(response))),
            Settlement::Release => (sketch.released(now), wait_for(claim.release_async())),
            Settlement::Park(reason) => (sketch.parked(&reason), wait_for(claim.park_async(reason))),
            other => panic!("there is no such way to settle: {other:?}"),
        };
        self.journal.expect(vec![Change::record(&id, after)]);
        self.given_back(name, ended)
    }

    pub(crate) fn transaction_async(&mut self) -> Done {
        self.journal.expect(vec![row("accounts", "later", "1")]);
        wait_for(self.ledger.transaction_async(|tx| tx.put("accounts", b"later", "1")))?;
        self.journal.acknowledge();
        Ok(())
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future on this thread until it is ready.
fn wait_for<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}
