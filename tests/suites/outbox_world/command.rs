//! What can happen, and stories of it.

use keyledger_harness::disk::Dice;

/// One thing that happens. Numbers choose among what there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// The user asks for a purpose.
    Press {
        scope: usize,
        lane: usize,
        purpose: usize,
        amount: usize,
        send_by: bool,
        again: bool,
    },
    /// Time passes.
    Pass {
        ms: u64,
    },
    /// Time passes until just before the next wake-up, then until it.
    SleepUntilWakeup {
        scope: usize,
    },
    /// The wall clock is set.
    SetWall {
        by_ms: i64,
    },
    Lease {
        scope: usize,
        limit: usize,
    },
    /// A delivery is sent, or not, and something comes back, or not.
    Send {
        delivery: usize,
        what: Network,
    },
    /// What came back of a delivery is told to the outbox.
    Tell {
        delivery: usize,
    },
    /// What is due next is handed out, sent, and told: the whole of a try.
    Try {
        scope: usize,
        what: Network,
    },
    /// A delivery is dropped.
    Drop {
        delivery: usize,
    },
    /// The process is killed; another opens the file.
    Kill,
    /// The power is lost; another process opens the file.
    LosePower {
        seed: u64,
    },
    Cancel {
        entry: usize,
    },
    Resume {
        scope: usize,
    },
    ResumeEntry {
        entry: usize,
    },
    Requeue {
        entry: usize,
    },
    Dismiss {
        entry: usize,
    },
    /// Somebody finds out the truth about an unknown entry, and says it.
    Resolve {
        entry: usize,
        resend: bool,
    },
    Sweep,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    Acts,
    LosesRequest,
    LosesAnswer,
    GatewaySaysNo,
    NotAuthorised,
    Forbidden,
    TooMany,
    Busy,
    InProgress,
    NoConnection,
    GivesUp,
    CannotTell,
}

const NETWORK: [Network; 12] = [
    Network::Acts,
    Network::LosesRequest,
    Network::LosesAnswer,
    Network::GatewaySaysNo,
    Network::NotAuthorised,
    Network::Forbidden,
    Network::TooMany,
    Network::Busy,
    Network::InProgress,
    Network::NoConnection,
    Network::GivesUp,
    Network::CannotTell,
];

/// A story of up to sixty things. Each has a network of its own that does one thing more often than others.
pub(crate) fn story(dice: &mut Dice) -> Vec<Command> {
    let often = NETWORK[dice.below(NETWORK.len())];
    (0..10 + dice.below(50)).map(|_| command(dice, often)).collect()
}

fn command(dice: &mut Dice, often: Network) -> Command {
    match dice.below(100) {
        0..=17 => Command::Press {
            scope: dice.below(2),
            lane: dice.below(3),
            purpose: dice.below(3),
            amount: usize::from(dice.below(8) == 0),
            send_by: dice.below(5) == 0,
            again: dice.below(8) == 0,
        },
        18..=29 => Command::Pass { ms: [1, 200, 900, 2_000, 6_000, 25_000][dice.below(6)] },
        30..=33 => Command::SleepUntilWakeup { scope: dice.below(2) },
        34..=39 => Command::Try { scope: dice.below(2), what: often },
        40..=41 => Command::SetWall { by_ms: [-86_400_000, -1_500, 1_500, 86_400_000][dice.below(4)] },
        42..=56 => Command::Lease { scope: dice.below(2), limit: 1 + dice.below(4) },
        57..=70 => {
            let what = if dice.below(2) == 0 { often } else { NETWORK[dice.below(NETWORK.len())] };
            Command::Send { delivery: dice.below(8), what }
        }
        71..=82 => Command::Tell { delivery: dice.below(8) },
        83 => Command::Drop { delivery: dice.below(8) },
        84 => Command::Kill,
        85 => Command::LosePower { seed: dice.roll() },
        86..=87 => Command::Cancel { entry: dice.below(30) },
        88..=89 => Command::Resume { scope: dice.below(2) },
        90 => Command::ResumeEntry { entry: dice.below(30) },
        91..=92 => Command::Requeue { entry: dice.below(30) },
        93 => Command::Dismiss { entry: dice.below(30) },
        94..=97 => Command::Resolve { entry: dice.below(30), resend: dice.below(2) == 0 },
        _ => Command::Sweep,
    }
}
