//! What a scenario runs in: a ledger, its clock, and the claims and fences that have names.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use keyledger::{Claim, Error, KeyId, Ledger, ManualClock, Operation, OperationName};

use super::compare::Names;
use super::outbox::Mail;
use super::scenario::{Declared, Id, Options, Scenario};
use super::values;

/// Where the wall clock stands when a scenario starts: far enough from zero for it to go back.
pub(super) const START_MS: u64 = 1_000_000_000_000;

/// What the ledger of a scenario is kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Memory: it ends with the handle.
    Memory,
    /// A file in a temporary folder.
    File,
}

pub(super) struct World {
    pub(super) ledger: Ledger,
    pub(super) clock: ManualClock,
    pub(super) claims: BTreeMap<String, Held>,
    pub(super) names: Names,
    pub(super) mail: Mail,
    operations: BTreeMap<String, Declared>,
    options: Options,
    /// Claims that no step names: kept, because dropping one ends its lease (S2).
    pub(super) unnamed: Vec<Claim>,
    /// Last, so that no claim holds the ledger open when its folder goes.
    file: Option<File>,
}

/// What a scenario knows by the name of a claim. The object is used up by settling.
pub(super) struct Held {
    pub(super) id: KeyId,
    pub(super) op: String,
    pub(super) claim: Option<Claim>,
}

struct File {
    folder: tempfile::TempDir,
    /// Rises with every kill, which goes on with a copy.
    copy: u32,
}

impl File {
    fn path(&self) -> PathBuf {
        self.folder.path().join(format!("ledger-{}.kl", self.copy))
    }
}

impl World {
    pub(super) fn new(scenario: &Scenario, store: Store) -> Result<Self, Error> {
        let clock = ManualClock::new(START_MS);
        let file = match store {
            Store::Memory => None,
            Store::File => Some(File { folder: tempfile::tempdir().expect("a temporary folder"), copy: 0 }),
        };
        let ledger = open(&clock, &scenario.options, file.as_ref())?;
        let mail = Mail::new(&ledger, scenario.outbox.as_ref())?;
        Ok(Self {
            ledger,
            clock,
            claims: BTreeMap::new(),
            names: Names::default(),
            mail,
            operations: scenario.operations.clone(),
            options: scenario.options.clone(),
            unnamed: Vec::new(),
            file,
        })
    }

    /// A new process on the same file, after the old one has closed it.
    pub(super) fn restart(&mut self) -> Result<(), Error> {
        self.ledger.close()?;
        self.open_anew()
    }

    /// A new process on what the old one has left, which had no time to close.
    pub(super) fn kill(&mut self) -> Result<(), Error> {
        let file = self.file.as_mut().expect("only a file outlives a kill");
        let before = file.path();
        file.copy += 1;
        fs::copy(before, file.path()).expect("a copy of the file");
        self.ledger.close()?;
        self.open_anew()
    }

    fn open_anew(&mut self) -> Result<(), Error> {
        self.ledger = open(&self.clock, &self.options, self.file.as_ref())?;
        self.mail.open_anew(&self.ledger)
    }

    /// The bytes of the file, where there is one.
    pub(super) fn bytes(&self) -> Option<Vec<u8>> {
        self.file.as_ref().map(|file| fs::read(file.path()).expect("the ledger file can be read"))
    }

    fn declared(&self, alias: &str) -> &Declared {
        self.operations.get(alias).unwrap_or_else(|| panic!("no operation is declared as {alias}"))
    }

    pub(super) fn operation(&self, alias: &str) -> Operation {
        values::operation(self.declared(alias), alias)
    }

    pub(super) fn operation_name(&self, alias: &str) -> Result<OperationName, Error> {
        Ok(OperationName::new(values::operation_name(self.declared(alias), alias))?)
    }

    pub(super) fn key_id(&self, id: &Id) -> Result<KeyId, Error> {
        values::key_id(id, &values::operation_name(self.declared(&id.op), &id.op))
    }

    pub(super) fn keep(&mut self, name: Option<&str>, op: &str, claim: Claim) {
        let Some(name) = name else {
            self.unnamed.push(claim);
            return;
        };
        self.names.fences.insert(name.to_owned(), claim.fence());
        let held = Held { id: claim.key_id().clone(), op: op.to_owned(), claim: Some(claim) };
        self.claims.insert(name.to_owned(), held);
    }

    pub(super) fn held(&mut self, name: &str) -> &mut Held {
        self.claims.get_mut(name).unwrap_or_else(|| panic!("no claim has been named {name}"))
    }

    /// The claim object, for a call that uses it up.
    pub(super) fn take(&mut self, name: &str) -> Claim {
        self.held(name).claim.take().unwrap_or_else(|| panic!("the claim {name} is used up"))
    }

    pub(super) fn claim(&mut self, name: &str) -> &mut Claim {
        self.held(name).claim.as_mut().unwrap_or_else(|| panic!("the claim {name} is used up"))
    }

    pub(super) fn fence(&self, name: &str) -> u64 {
        *self.names.fences.get(name).unwrap_or_else(|| panic!("no fence has been named {name}"))
    }
}

fn open(clock: &ManualClock, options: &Options, file: Option<&File>) -> Result<Ledger, Error> {
    let mut builder = Ledger::builder().clock(clock.clone());
    if let Some(limit) = options.max_response_bytes {
        builder = builder.max_response_bytes(limit);
    }
    match file {
        Some(file) => builder.open(file.path()),
        None => builder.in_memory(),
    }
}
