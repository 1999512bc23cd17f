//! Stories that once found a fault, cut down to the commands that matter. They are told first, on every store that can.

use keyledger_harness::disk::Crash;
use keyledger_harness::model::Fingerprint;

use super::command::{Ask, Call, Command, Pick, Via};

/// Each with what was wrong.
pub(crate) fn stories() -> Vec<(&'static str, Vec<Command>)> {
    let complete = || Command::Settle(Pick::Back(0), Via::Claim, Call::Complete(0));
    vec![
        (
            "I1, I7: a wall clock set back brought a swept-over row to life beside a reservation in memory",
            vec![begin(0), complete(), Command::Advance(70), begin(0), Command::JumpWall(-30), begin(0)],
        ),
        (
            "section 4: stats did not count a lapsed AtMostOnce record as parked that is over by L7 alone",
            vec![begin(2), Command::JumpWall(-1), Command::CloseAndOpen, Command::Advance(10)],
        ),
        (
            "L7: a lease of another process outlived one lease after it was first seen",
            vec![begin(1), Command::Kill(Crash::LosesAll), Command::JumpWall(-1), Command::Advance(10), begin(1)],
        ),
        (
            "T2: a sweep said for ever that more was due, of a lease that is over by the wall clock alone",
            vec![
                begin(1),
                complete(),
                Command::Advance(12),
                begin(8),
                complete(),
                begin(8),
                Command::JumpWall(30),
                Command::Sweep(1),
                Command::Sweep(1),
            ],
        ),
    ]
}

fn begin(declared: usize) -> Command {
    Command::Begin(Ask { declared, scope: 0, key: 0, fingerprint: Fingerprint::Value(1), memo: "" })
}
