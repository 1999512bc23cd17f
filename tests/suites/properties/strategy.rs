//! How likely each command is.

use keyledger_harness::disk::Crash;
use keyledger_harness::model::Fingerprint;
use proptest::prelude::*;
use proptest::sample::select;

use super::command::{Ask, Call, Command, Found, Pick, Row, Target, Text, Via, Which};
use super::stage::{DECLARED, TEXTS};

/// How long a sequence is.
pub(crate) const LENGTH: usize = 30;

/// A whole day of callers. `lasts`: whether the ledger can be closed and killed.
pub(crate) fn story(lasts: bool) -> impl Strategy<Value = Vec<Command>> {
    let command = if lasts { prop_oneof![20 => command(), 3 => ends()].boxed() } else { command().boxed() };
    // A vector shrinks by leaving elements out, but only down to its shortest length: three short ones make a long one that can.
    let part = |least: usize| prop::collection::vec(command.clone(), least..=LENGTH);
    let focus = select(vec![None, Some("charge"), Some("mail"), Some("wallet")]);
    (focus, part(1), part(0), part(0)).prop_map(|(focus, first, second, third)| {
        let commands = first.into_iter().chain(second).chain(third).take(LENGTH);
        commands.map(|command| focused(command, focus)).collect()
    })
}

/// Most stories are about one operation: then its records get old, and are met again.
fn focused(command: Command, focus: Option<&'static str>) -> Command {
    let Some(name) = focus else { return command };
    let of_name: Vec<usize> = (0..DECLARED.len()).filter(|at| DECLARED[*at].name == name).collect();
    let about =
        |declared: usize| if of_name.contains(&declared) { declared } else { of_name[declared / 4 % of_name.len()] };
    let ask = |ask: Ask| Ask { declared: about(ask.declared), ..ask };
    match command {
        Command::Begin(call) => Command::Begin(ask(call)),
        Command::BeginMany(calls) => Command::BeginMany(calls.into_iter().map(ask).collect()),
        Command::Recover { declared, limit } => Command::Recover { declared: about(declared), limit },
        Command::ResolveMany { declared, resolution } => Command::ResolveMany { declared: about(declared), resolution },
        other => other,
    }
}

fn command() -> impl Strategy<Value = Command> {
    prop_oneof![
        30 => ask().prop_map(Command::Begin),
        3 => prop::collection::vec(ask(), 1..4).prop_map(Command::BeginMany),
        18 => (pick(), via(), call()).prop_map(|(pick, via, call)| Command::Settle(pick, via, call)),
        3 => (pick(), rows(), text()).prop_map(|(pick, rows, text)| Command::CompleteWith(pick, rows, text)),
        3 => (rows(), prop::option::of((pick(), text()))).prop_map(|(rows, claim)| Command::Transaction(rows, claim)),
        4 => (pick(), via(), select(vec![10, 1, 40, 0])).prop_map(|(pick, via, lease)| Command::Heartbeat(pick, via, lease)),
        4 => (pick(), via(), select(vec!["s", "t"]), select(vec!["1", "2"]))
            .prop_map(|(pick, via, name, value)| Command::Step(pick, via, name, value)),
        6 => pick().prop_map(Command::Drop),
        5 => (declared(), select(vec![10_usize, 1])).prop_map(|(declared, limit)| Command::Recover { declared, limit }),
        6 => (target(), select(vec![Which::Shown, Which::Shown, Which::Earlier]), found())
            .prop_map(|(key, fence, resolution)| Command::Resolve { key, fence, resolution }),
        1 => (declared(), found()).prop_map(|(declared, resolution)| Command::ResolveMany { declared, resolution }),
        2 => (target(), any::<bool>()).prop_map(|(key, even_if_unknown)| Command::Forget { key, even_if_unknown }),
        1 => (0..2_usize, any::<bool>()).prop_map(|(scope, even_if_unknown)| Command::ForgetScope { scope, even_if_unknown }),
        5 => select(vec![100_usize, 1, 2]).prop_map(Command::Sweep),
        18 => time(),
        2 => Just(Command::Suspend),
        1 => Just(Command::ReopenHandle),
    ]
}

fn ends() -> impl Strategy<Value = Command> {
    // What the wall clock did since the last opening matters most after the next one (L7).
    let jump = select(vec![-5_i64, -1, -5, 5]).prop_map(Command::JumpWall);
    prop_oneof![2 => Just(Command::CloseAndOpen), 2 => crash().prop_map(Command::Kill), 3 => jump]
}

fn crash() -> impl Strategy<Value = Crash> {
    prop_oneof![Just(Crash::LosesAll), Just(Crash::KeepsAll), any::<u64>().prop_map(Crash::KeepsSome)]
}

fn time() -> impl Strategy<Value = Command> {
    prop_oneof![
        12 => (prop_oneof![3 => Just(0_usize), 2 => 0..4_usize], select(vec![0_i64, 1, -1, 0])).prop_map(|(nth, off)| Command::ToDeadline { nth, off }),
        3 => select(vec![1_u64, 5, 12, 12, 100]).prop_map(Command::Advance),
        2 => select(vec![1_i64, -1, 30, -30, 1_000, -1_000]).prop_map(Command::JumpWall),
    ]
}

/// The first four declarations are the usual ones of their names, the others disagree with them.
fn declared() -> impl Strategy<Value = usize> {
    prop_oneof![5 => 0..4_usize, 1 => 4..DECLARED.len()]
}

fn ask() -> impl Strategy<Value = Ask> {
    let fingerprint = prop_oneof![
        14 => Just(Fingerprint::Value(1)),
        1 => Just(Fingerprint::Value(2)),
        1 => Just(Fingerprint::Unchecked),
    ];
    let memo = select(vec!["", "", "m1", "m2"]);
    (declared(), place(), place(), fingerprint, memo).prop_map(|(declared, scope, key, fingerprint, memo)| Ask {
        declared,
        scope,
        key,
        fingerprint,
        memo,
    })
}

/// Mostly the same scope and key: commands that never meet find nothing.
fn place() -> impl Strategy<Value = usize> {
    prop_oneof![9 => Just(0_usize), 1 => Just(1_usize)]
}

fn target() -> impl Strategy<Value = Target> {
    let named = (0..3_usize, place(), place()).prop_map(|(declared, scope, key)| Target::Named(declared, scope, key));
    prop_oneof![4 => pick().prop_map(Target::Of), 1 => named]
}

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![
        8 => Just(Pick::Back(0)),
        4 => (0..6_usize).prop_map(Pick::Back),
        1 => Just(Pick::Never),
    ]
}

fn via() -> impl Strategy<Value = Via> {
    select(vec![Via::Claim, Via::Fence])
}

fn text() -> impl Strategy<Value = Text> {
    0..TEXTS.len()
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        5 => text().prop_map(Call::Complete),
        2 => text().prop_map(Call::Fail),
        3 => Just(Call::Release),
        2 => select(vec!["ask", "owner lost"]).prop_map(Call::Park),
    ]
}

fn found() -> impl Strategy<Value = Found> {
    prop_oneof![text().prop_map(Found::Completed), text().prop_map(Found::Failed), Just(Found::NotDone)]
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let key = || select(vec!["a", "b"]);
    let value = || select(vec!["1", "2"]);
    let maybe = || prop::option::of(select(vec!["1", "2"]));
    let row = prop_oneof![
        key().prop_map(Row::Get),
        (key(), value()).prop_map(|(key, value)| Row::Put(key, value)),
        key().prop_map(Row::Delete),
        (key(), value()).prop_map(|(key, value)| Row::InsertUnique(key, value)),
        (key(), maybe(), maybe()).prop_map(|(key, expected, value)| Row::CompareAndSet(key, expected, value)),
    ];
    prop::collection::vec(row, 1..4)
}
