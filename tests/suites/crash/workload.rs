//! The workload: every command of the ledger, told in chapters. A chapter is what one process does from opening the file to
//! closing it; what it leaves unsettled, the next chapter's process finds.

use std::sync::OnceLock;

use keyledger::{Error, Resolution, Response, Settlement};
use keyledger_harness::disk::FakeDisk;

use super::journal::Journal;
use super::names::{CHARGE, LEASE_MS, MAIL, NOTE, RETENTION_MS, TOMBSTONE_MS, WALLET};
use super::world::{Start, World};

type Done = Result<(), Error>;

/// What one process does between opening the ledger and closing it.
pub(crate) type Chapter = fn(&mut World) -> Done;

pub(crate) const CHAPTERS: [Chapter; 7] =
    [first_steps, many_at_once, lost_owners, persons, life_of_a_handle, time_goes_by, long_answers];

const START_MS: u64 = 1_800_000_000_000;

/// The file is made; each effect once, with rows, a step, and each way to settle.
fn first_steps(world: &mut World) -> Done {
    world.act(&|world| world.begin(&CHARGE, "book", b"one book"))?;
    world.act(&|world| world.begin(&MAIL, "receipt", b""))?;
    world.act(&|world| world.begin(&WALLET, "top-up", b""))?;
    world.act(&|world| world.record_step("book", "quote", b"12.50"))?;
    world.act(&|world| world.complete("book", "charged"))?;
    world.act(&|world| world.settle("receipt", &Settlement::Fail(Response::text("no such address"))))?;
    world.act(&|world| world.complete_with_error("top-up"))?;
    world.act(&|world| world.complete_with("top-up", "20"))?;
    world.act(&|world| world.begin(&NOTE, "note", b""))?;
    world.act(&|world| world.settle("note", &Settlement::Complete(Response::empty())))?;
    world.act(&|world| world.begin(&CHARGE, "pen", b"a pen"))?;
    world.act(&|world| world.settle("pen", &Settlement::Release))?;
    world.act(&|world| world.begin(&MAIL, "letter", b"to whom"))?;
    world.act(&|world| world.settle("letter", &Settlement::Park("the post is silent".into())))
}

/// Several keys in one commit, a released key again, rows of every kind.
fn many_at_once(world: &mut World) -> Done {
    let names = [(&CHARGE, "lamp"), (&WALLET, "gift"), (&MAIL, "card"), (&CHARGE, "chair"), (&WALLET, "refund")];
    world.act(&|world| world.begin_many(&names))?;
    world.act(&|world| world.begin(&CHARGE, "pen", b""))?;
    world.act(&|world| world.record_step("pen", "quote", b"2"))?;
    world.act(&|world| world.settle("pen", &Settlement::Release))?;
    world.act(&|world| world.begin(&CHARGE, "pen", b"a better pen"))?;
    world.act(&|world| world.record_step("pen", "quote", b"2"))?;
    world.act(&|world| world.complete("pen", "charged at last"))?;
    world.act_once(&World::apply)?;
    world.act_once(&|world| world.transaction("lamp"))?;
    world.act(&|world| world.complete_batch("gift"))?;
    world.act(&|world| world.settle("chair", &Settlement::Park("the bank hung up".into())))?;
    world.act(&|world| world.settle("refund", &Settlement::Release))?;
    world.drop_claim("card");
    world.act(&|world| world.begin_lost(&MAIL, "card"))
}

/// Leases that end, owners that come late, and workers who take over.
fn lost_owners(world: &mut World) -> Done {
    for name in ["desk", "door", "dish"] {
        world.act(&|world| world.begin(&CHARGE, name, b"ask the bank"))?;
        world.pass(1);
    }
    world.act(&|world| world.begin(&MAIL, "hello", b""))?;
    world.act(&|world| world.begin(&MAIL, "bye", b""))?;
    world.act(&|world| world.record_step("desk", "quote", b"80"))?;
    world.pass(LEASE_MS);
    world.act(&|world| world.begin_lost(&MAIL, "bye"))?;
    // S1: being parked by a begin that found the lease over is no take-over.
    world.act(&|world| world.complete("bye", "sent after all"))?;
    world.act(&|world| world.complete("dish", "late, and nobody came between"))?;
    world.act(&|world| world.recover(&CHARGE, &["desk", "door"]))?;
    world.act(&|world| world.complete("desk", "the bank had it"))?;
    world.drop_claim("door");
    world.pass(1);
    world.act(&|world| world.recover(&CHARGE, &["door"]))?;
    world.act(&|world| world.settle("door", &Settlement::Fail(Response::text("declined"))))?;
    world.act(&|world| world.recover(&MAIL, &["card", "hello"]))?;
    world.act(&|world| world.settle("card", &Settlement::Park("the postman left".into())))?;
    world.act(&|world| world.begin(&CHARGE, "left behind", b"its process ends"))?;
    world.act(&|world| world.begin(&MAIL, "left lying", b""))
}

/// A person decides, and people are forgotten.
fn persons(world: &mut World) -> Done {
    world.pass(LEASE_MS);
    world.act(&|world| world.resolve(&CHARGE, "chair", &Resolution::Completed(Response::text("they found it"))))?;
    world.act(&|world| world.resolve(&MAIL, "card", &Resolution::NotDone))?;
    world.act(&|world| world.begin(&WALLET, "jar", b""))?;
    world.act(&|world| world.settle("jar", &Settlement::Park("an odd coin".into())))?;
    world.act(&|world| world.resolve(&WALLET, "jar", &Resolution::NotDone))?;
    // An InLedger claim out of a live record on disk is on disk (E2).
    world.act(&|world| world.begin(&WALLET, "jar", b""))?;
    for name in ["post 1", "post 2", "post 3"] {
        world.act(&|world| world.begin(&MAIL, name, b""))?;
        world.act(&|world| world.settle(name, &Settlement::Park("unknown".into())))?;
    }
    world.act(&|world| world.resolve_many(&MAIL, &Resolution::Failed(Response::text("not sent"))))?;
    world.act(&|world| world.forget(&CHARGE, "book", false))?;
    world.act(&|world| world.forget(&CHARGE, "left behind", true))?;
    for name in ["cafe-1", "cafe-2", "cafe-3"] {
        world.act(&|world| world.begin(&CHARGE, name, b"tea"))?;
    }
    world.act(&|world| world.complete("cafe-1", "served"))?;
    world.act(&|world| world.forget_scope("cafe-1"))
}

/// Suspended and resumed, opened again, made smaller, swept by a janitor, and asked by futures.
fn life_of_a_handle(world: &mut World) -> Done {
    world.act(&|world| world.begin(&CHARGE, "long", b"a long one"))?;
    world.act(&|world| world.begin(&WALLET, "in memory", b""))?;
    world.pass(LEASE_MS / 2);
    world.act(&|world| world.heartbeat("long"))?;
    world.act(&World::suspend)?;
    world.act(&World::resume)?;
    world.act(&|world| world.complete_lost("in memory"))?;
    world.act(&World::reopen)?;
    world.act(&|world| world.complete("long", "at last"))?;
    world.act(&|world| world.begin(&CHARGE, "lapsed", b""))?;
    world.drop_claim("lapsed");
    world.act(&|world| world.tick(&CHARGE, &["lapsed"]))?;
    world.act(&World::compact)?;
    world.act_once(&|world| world.run(&CHARGE, "in one call"))?;
    world.act(&|world| world.begin_async(&CHARGE, "later"))?;
    world.act(&|world| world.settle_async("later", &Settlement::Complete(Response::text("much later"))))?;
    world.act(&|world| world.begin_async(&CHARGE, "never"))?;
    world.act(&|world| world.settle_async("never", &Settlement::Release))?;
    world.act(&World::transaction_async)?;
    world.act(&|world| world.begin(&CHARGE, "renewed", b""))?;
    world.pass(LEASE_MS / 2);
    world.act(&|world| world.heartbeat("renewed"))
}

/// Answers become tombstones, and tombstones nothing; what is parked stays.
fn time_goes_by(world: &mut World) -> Done {
    world.act(&|world| world.begin(&MAIL, "held", b""))?;
    world.act(&|world| world.settle("held", &Settlement::Park("for a person".into())))?;
    world.act(&|world| world.sweep(100))?;
    world.pass(RETENTION_MS - LEASE_MS);
    world.act(&|world| world.sweep(3))?;
    world.pass(2 * LEASE_MS);
    world.act(&|world| world.sweep(2))?;
    world.act(&|world| world.sweep(100))?;
    world.act(&|world| world.begin(&CHARGE, "fresh", b""))?;
    world.act(&|world| world.complete("fresh", "among tombstones"))?;
    world.pass(TOMBSTONE_MS - LEASE_MS);
    world.act(&|world| world.sweep(2))?;
    world.act(&|world| world.sweep(100))
}

/// More than a half of the log holds, again and again, and one that it could not hold at all.
fn long_answers(world: &mut World) -> Done {
    let lengths = [("a", 530_000), ("b", 530_000), ("c", 530_000), ("d", 10), ("e", 1_040_000)];
    for (name, length) in lengths {
        world.act(&|world| world.begin(&WALLET, name, b""))?;
        world.act(&|world| world.complete_at_length(name, length))?;
    }
    world.act(&|world| world.begin(&CHARGE, "and on", b""))
}

/// Tells the chapter, and closes.
pub(crate) fn tell(mut world: World, chapter: Chapter) -> (World, Done) {
    let told = chapter(&mut world).and_then(|()| world.act(&World::close));
    (world, told)
}

/// Where each chapter begins, and where the last one ends.
pub(crate) fn starts() -> &'static [Start] {
    static STARTS: OnceLock<Vec<Start>> = OnceLock::new();
    STARTS.get_or_init(|| {
        let mut starts = vec![Start { image: Vec::new(), wall_ms: START_MS, journal: Journal::new() }];
        for chapter in CHAPTERS {
            let start = &starts[starts.len() - 1];
            let disk = FakeDisk::of(start.image.clone());
            let world = World::open(&disk, start.wall_ms, start.journal.clone()).expect("it opens");
            let (world, told) = tell(world, chapter);
            told.expect("nothing fails");
            starts.push(Start { image: disk.shown(), wall_ms: world.now(), journal: world.journal.clone() });
        }
        starts
    })
}
