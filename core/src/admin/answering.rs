//! Answering.

use std::path::Path;
use std::time::Duration;

use super::content::{Content, hex, unhex};
use super::entry::Entry;
use super::record::Record;
use super::reply::Reply;
use super::request::{EntryOutcome, EntryQuery, Id, Outcome, RecordQuery, Request};
use super::stats::Stats;
use super::unreadable::Unreadable;
use crate::entry::{EntryId, EntryView};
use crate::error::{Error, Result};
use crate::key::{Key, KeyId, OperationName, Scope};
use crate::ledger::{Cursor, Filter, Forgotten, Ledger, StateName};
use crate::machine::person::EntryResolution;
use crate::machine::settle::Resolution;
use crate::machine::standing::EntryStateName;
use crate::outbox::{Cancel, EntryFilter, Outbox, OutboxBuilder, Resumed};
use crate::response::Response;
use crate::stats::{Compacted, FileCheck, FileSizes};

impl Ledger {
    /// Answers what a person on call asks, by the calls of this handle.
    ///
    /// # Errors
    /// Those of the call; `InvalidKey` and `InvalidArgument` for what cannot be asked; `NotFound` for a record or an entry that
    /// there is not.
    pub fn administer(&self, request: &Request) -> Result<Reply> {
        match request {
            Request::Stats => self.admin_stats(),
            Request::Sizes => self.inspect_file().map(Reply::from),
            Request::List(query) => self.admin_list(query),
            Request::Show { id } => self.admin_show(&key_id(id)?),
            Request::Resolve { id, fence, outcome, who, note } => {
                let id = key_id(id)?;
                self.resolve(&id, *fence, resolution(outcome)?, who, note)?;
                self.admin_show(&id)
            }
            Request::Forget { id, even_if_unknown } => self.forget(&key_id(id)?, *even_if_unknown).map(Reply::from),
            Request::ForgetScope { scope, even_if_unknown } => {
                self.forget_scope(&Scope::new(scope.as_str())?, *even_if_unknown).map(Reply::from)
            }
            Request::Sweep { limit } => self.sweep(*limit).map(|swept| Reply::Swept(swept.into())),
            Request::Compact { even_with_claims } => self.compact(*even_with_claims).map(Reply::from),
            Request::Check => self.check().map(Reply::from),
            Request::Snapshot { path } => self.admin_snapshot(path),
            outbox => answer_about_entries(&self.admin_outbox()?, outbox),
        }
    }

    fn admin_outbox(&self) -> Result<Outbox> {
        OutboxBuilder::of_people(self.engine().clone()).open()
    }

    fn admin_stats(&self) -> Result<Reply> {
        let now_ms = self.engine().clock.wall_ms();
        Ok(Reply::Stats(Box::new(Stats::of(now_ms, self.stats()?, self.admin_outbox()?.stats()?))))
    }

    fn admin_list(&self, query: &RecordQuery) -> Result<Reply> {
        let filter = filter(query)?;
        let (page, unreadable) =
            if query.past_damage { self.salvage(&filter)? } else { (self.list(&filter)?, Vec::new()) };
        Ok(Reply::Records {
            records: page.records.iter().map(|view| Record::of(view, query.contents)).collect(),
            next: page.next.map(|cursor| hex(cursor.as_bytes())),
            unreadable: unreadable.into_iter().map(Unreadable::from).collect(),
        })
    }

    fn admin_show(&self, id: &KeyId) -> Result<Reply> {
        let view = self
            .inspect(id)?
            .ok_or_else(|| Error::NotFound(format!("record for {id}; check scope, operation and key")))?;
        Ok(Reply::Record(Box::new(Record::of(&view, true))))
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn admin_snapshot(&self, path: &Path) -> Result<Reply> {
        self.snapshot(path).map(|()| Reply::Copied { path: path.to_owned() })
    }

    #[cfg(target_arch = "wasm32")]
    #[expect(clippy::unused_self, reason = "elsewhere it is a method")]
    fn admin_snapshot(&self, _: &Path) -> Result<Reply> {
        Err(Error::Unavailable("there are no files here".into()))
    }
}

fn answer_about_entries(outbox: &Outbox, request: &Request) -> Result<Reply> {
    let entry = |view: EntryView| Reply::Entry(Box::new(Entry::of(&view, true)));
    match request {
        Request::Entries(query) => list_entries(outbox, query),
        Request::Entry { id } => show_entry(outbox, EntryId::new(*id)),
        Request::Cancel { id } => outbox.cancel(EntryId::new(*id)).map(Reply::from),
        Request::Requeue { id } => outbox.requeue(EntryId::new(*id)).map(entry),
        Request::ResolveEntry { id, outcome, who, note } => {
            let resolution = match outcome {
                EntryOutcome::Dead => EntryResolution::Dead,
                EntryOutcome::Resend => EntryResolution::Resend,
            };
            outbox.resolve(EntryId::new(*id), resolution, who, note).map(entry)
        }
        Request::Resume { scope } => outbox.resume(&Scope::new(scope.as_str())?).map(Reply::from),
        Request::ResumeEntry { id } => outbox.resume_entry(EntryId::new(*id)).map(entry),
        Request::Dismiss { id, who, note } => outbox.dismiss(EntryId::new(*id), who, note).map(entry),
        Request::Stats
        | Request::Sizes
        | Request::List(_)
        | Request::Show { .. }
        | Request::Resolve { .. }
        | Request::Forget { .. }
        | Request::ForgetScope { .. }
        | Request::Sweep { .. }
        | Request::Compact { .. }
        | Request::Check
        | Request::Snapshot { .. } => Err(Error::InvalidArgument("this is not asked of the outbox".into())),
    }
}

fn list_entries(outbox: &Outbox, query: &EntryQuery) -> Result<Reply> {
    let filter = entry_filter(query)?;
    let (page, unreadable) =
        if query.past_damage { outbox.salvage(&filter)? } else { (outbox.list(&filter)?, Vec::new()) };
    let mut unreadable: Vec<_> = unreadable.into_iter().map(Unreadable::from).collect();
    let mut entries = Vec::new();
    for view in &page.entries {
        let entry = Entry::of(view, query.contents);
        entries.push(match query.contents.then(|| outbox.request(view.id())) {
            None => entry,
            Some(Ok(request)) => entry.with_request(request),
            Some(Err(error)) if query.past_damage => {
                unreadable.push(Unreadable::request_of(view.id(), error)?);
                entry
            }
            Some(Err(error)) => return Err(error),
        });
    }
    Ok(Reply::Entries { entries, next: page.next.map(EntryId::get), unreadable })
}

fn show_entry(outbox: &Outbox, id: EntryId) -> Result<Reply> {
    let view = outbox.get(id)?.ok_or_else(|| Error::no_entry(id.get()))?;
    Ok(Reply::Entry(Box::new(Entry::of(&view, true).with_request(outbox.request(id)?))))
}

fn key_id(id: &Id) -> Result<KeyId> {
    Ok(KeyId::new(Scope::new(id.scope.as_str())?, &id.operation, Key::new(id.key.as_str())?)?)
}

fn filter(query: &RecordQuery) -> Result<Filter> {
    let mut filter = Filter::all().limit(query.limit);
    if let Some(state) = &query.state {
        filter = filter.state(of_name(state, &StateName::ALL, StateName::as_str)?);
    }
    if let Some(operation) = &query.operation {
        filter = filter.operation(OperationName::new(operation.as_str())?);
    }
    if let Some(scope) = &query.scope {
        filter = filter.scope(Scope::new(scope.as_str())?);
    }
    if let Some(key) = &query.key {
        filter = filter.key(Key::new(key.as_str())?);
    }
    if let Some(age) = query.newer_than_ms {
        filter = filter.newer_than(Duration::from_millis(age));
    }
    if let Some(age) = query.older_than_ms {
        filter = filter.older_than(Duration::from_millis(age));
    }
    if query.by_place {
        filter = filter.by_place();
    }
    if let Some(after) = &query.after {
        let bytes = unhex(after).ok_or_else(|| Error::InvalidArgument("that is not where a page ended".into()))?;
        filter = filter.after(Cursor::from_bytes(bytes));
    }
    Ok(filter)
}

fn entry_filter(query: &EntryQuery) -> Result<EntryFilter> {
    let mut filter = EntryFilter::all().limit(query.limit);
    if let Some(state) = &query.state {
        filter = filter.state(of_name(state, &EntryStateName::ALL, EntryStateName::as_str)?);
    }
    if let Some(scope) = &query.scope {
        filter = filter.scope(&Scope::new(scope.as_str())?);
    }
    if let Some(lane) = &query.lane {
        filter = filter.lane(lane.as_str());
    }
    if let Some(operation) = &query.operation {
        filter = filter.operation(operation.as_str());
    }
    if let Some(age) = query.older_than_ms {
        filter = filter.older_than(Duration::from_millis(age));
    }
    if let Some(after) = query.after {
        filter = filter.after(EntryId::new(after));
    }
    Ok(filter)
}

fn of_name<T: Copy>(name: &str, all: &[T], name_of: impl Fn(T) -> &'static str) -> Result<T> {
    let found = all.iter().copied().find(|one| name_of(*one) == name);
    found.ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|one| name_of(*one)).collect();
        Error::InvalidArgument(format!("{name} is no state; there are {}", names.join(", ")))
    })
}

fn resolution(outcome: &Outcome) -> Result<Resolution> {
    let response = |media_type: &str, body: &Content| {
        let bytes = body.bytes().ok_or_else(|| Error::InvalidArgument("the body is not hexadecimal".into()))?;
        Ok::<_, Error>(Response::new(media_type, bytes))
    };
    Ok(match outcome {
        Outcome::Completed { media_type, body } => Resolution::Completed(response(media_type, body)?),
        Outcome::Failed { media_type, body } => Resolution::Failed(response(media_type, body)?),
        Outcome::NotDone => Resolution::NotDone,
    })
}

impl From<FileSizes> for Reply {
    fn from(FileSizes { file, stored, overhead, free, leaked }: FileSizes) -> Self {
        Reply::Sizes {
            file_bytes: file,
            stored_bytes: stored,
            overhead_bytes: overhead,
            free_bytes: free,
            leaked_bytes: leaked,
        }
    }
}

impl From<Forgotten> for Reply {
    fn from(forgotten: Forgotten) -> Self {
        let Forgotten { settled, released, tombstones, unsettled, kept_unsettled, entries, kept_entries } = forgotten;
        Reply::Forgotten { settled, released, tombstones, unsettled, kept_unsettled, entries, kept_entries }
    }
}

impl From<Compacted> for Reply {
    fn from(Compacted { before_bytes, after_bytes }: Compacted) -> Self {
        Reply::Compacted { before_bytes, after_bytes }
    }
}

impl From<FileCheck> for Reply {
    fn from(FileCheck { records, rows, entries, faults, fault_count }: FileCheck) -> Self {
        Reply::Checked { records, rows, entries, fault_count, faults }
    }
}

impl From<Cancel> for Reply {
    fn from(cancel: Cancel) -> Self {
        let (cancelled, view) = match cancel {
            Cancel::Cancelled(view) => (true, view),
            Cancel::TooLate(view) => (false, view),
        };
        Reply::Cancelled { cancelled, entry: Box::new(Entry::of(&view, true)) }
    }
}

impl From<Resumed> for Reply {
    fn from(Resumed { lanes, entries }: Resumed) -> Self {
        Reply::Resumed { lanes, entries }
    }
}
