//! Bytes read as commands: one says which, the next ones what about. Near bytes tell near stories, so that libFuzzer can learn.

use keyledger_harness::disk::Crash;
use keyledger_harness::model::Fingerprint;

use crate::command::{Ask, Call, Command, Found, Pick, Row, Target, Via, Which};
use crate::stage::{DECLARED, KEYS, SCOPES, TEXTS};

/// How long a story is at most.
const COMMANDS_MAX: usize = 40;

pub fn told_by(bytes: &[u8]) -> Vec<Command> {
    let mut bytes = Bytes(bytes);
    let mut story = Vec::new();
    while !bytes.0.is_empty() && story.len() < COMMANDS_MAX {
        story.push(bytes.command());
    }
    story
}

/// What is left to be read; zeros behind the end.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let Some((byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *byte
    }

    fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 1
    }

    fn command(&mut self) -> Command {
        match self.below(32) {
            0..=7 => Command::Begin(self.ask()),
            8 => Command::BeginMany((0..=self.below(3)).map(|_| self.ask()).collect()),
            9..=12 => Command::Settle(self.pick(), self.via(), self.call()),
            13 => Command::CompleteWith(self.pick(), self.rows(), self.below(TEXTS.len())),
            14 => Command::Transaction(self.rows(), None),
            15 => Command::Transaction(self.rows(), Some((self.pick(), self.below(TEXTS.len())))),
            16 => Command::Heartbeat(self.pick(), self.via(), self.one_of(&[10, 1, 40, 0])),
            17 => Command::Step(self.pick(), self.via(), self.one_of(&["s", "t"]), self.one_of(&["1", "2"])),
            18 => Command::Drop(self.pick()),
            19 => Command::Recover { declared: self.below(DECLARED.len()), limit: self.one_of(&[10, 1]) },
            20 => Command::Resolve { key: self.target(), fence: self.which(), resolution: self.found() },
            21 => Command::ResolveMany { declared: self.below(DECLARED.len()), resolution: self.found() },
            22 => Command::Forget { key: self.target(), even_if_unknown: self.coin() },
            23 => Command::ForgetScope { scope: self.below(SCOPES.len()), even_if_unknown: self.coin() },
            24 => Command::Sweep(self.one_of(&[100, 1, 2])),
            25 | 26 => Command::ToDeadline { nth: self.below(4), off: self.one_of(&[0, 1, -1]) },
            27 => Command::Advance(self.one_of(&[1, 5, 12, 100])),
            28 => Command::JumpWall(self.one_of(&[1, -1, -5, 30, -30, 1_000, -1_000])),
            29 if self.coin() => Command::Suspend,
            29 => Command::ReopenHandle,
            30 => Command::CloseAndOpen,
            _ => Command::Kill(self.crash()),
        }
    }

    fn ask(&mut self) -> Ask {
        Ask {
            declared: self.below(DECLARED.len()),
            scope: self.below(SCOPES.len()),
            key: self.below(KEYS.len()),
            fingerprint: self.one_of(&[Fingerprint::Value(1), Fingerprint::Value(2), Fingerprint::Unchecked]),
            memo: self.one_of(&["", "m1", "m2"]),
        }
    }

    fn pick(&mut self) -> Pick {
        match self.below(8) {
            7 => Pick::Never,
            back => Pick::Back(back),
        }
    }

    fn via(&mut self) -> Via {
        self.one_of(&[Via::Claim, Via::Fence])
    }

    fn which(&mut self) -> Which {
        self.one_of(&[Which::Shown, Which::Earlier])
    }

    fn call(&mut self) -> Call {
        match self.below(4) {
            0 => Call::Complete(self.below(TEXTS.len())),
            1 => Call::Fail(self.below(TEXTS.len())),
            2 => Call::Release,
            _ => Call::Park(self.one_of(&["p", "q"])),
        }
    }

    fn found(&mut self) -> Found {
        match self.below(3) {
            0 => Found::Completed(self.below(TEXTS.len())),
            1 => Found::Failed(self.below(TEXTS.len())),
            _ => Found::NotDone,
        }
    }

    fn target(&mut self) -> Target {
        if self.coin() {
            return Target::Of(self.pick());
        }
        Target::Named(self.below(DECLARED.len()), self.below(SCOPES.len()), self.below(KEYS.len()))
    }

    fn rows(&mut self) -> Vec<Row> {
        (0..self.below(4)).map(|_| self.row()).collect()
    }

    fn row(&mut self) -> Row {
        let (key, value) = (self.one_of(&["a", "b"]), self.one_of(&["1", "2"]));
        match self.below(5) {
            0 => Row::Get(key),
            1 => Row::Put(key, value),
            2 => Row::Delete(key),
            3 => Row::InsertUnique(key, value),
            _ => Row::CompareAndSet(key, self.one_of(&[None, Some("1"), Some("2")]), self.coin().then_some(value)),
        }
    }

    fn crash(&mut self) -> Crash {
        match self.byte() {
            0 => Crash::LosesAll,
            1 => Crash::KeepsAll,
            seed => Crash::KeepsSome(seed.into()),
        }
    }
}
