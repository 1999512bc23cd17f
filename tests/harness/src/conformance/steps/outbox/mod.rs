//! Section 9: the outbox.

mod asking;
mod deciding;
mod delivering;
mod looking;

use keyledger::EntryId;
use serde_json::Value;

pub(super) use asking::{enqueued, wanted};

use super::super::answers::ok;
use super::super::scenario::OutboxAct;
use super::super::world::World;

pub(super) fn act(world: &mut World, act: &OutboxAct) -> Result<Value, String> {
    Ok(match act {
        OutboxAct::OpenOutbox { outbox } => ok(world.mail.open_with(&world.ledger, outbox)),
        OutboxAct::Enqueue(wanted) => asking::enqueue(world, wanted),
        OutboxAct::EnqueueMany { enqueues } => asking::enqueue_many(world, enqueues),
        OutboxAct::Find(sought) => asking::find(world, sought),
        OutboxAct::LeaseDue(leasing) => delivering::lease_due(world, leasing),
        OutboxAct::Deliver { leasing, script } => delivering::deliver(world, leasing, script)?,
        OutboxAct::Settle(told) => delivering::settle(world, told),
        OutboxAct::SettleAndLease { reports, leasing } => delivering::settle_and_lease(world, reports, leasing),
        OutboxAct::DropDelivery { delivery } => delivering::drop_delivery(world, delivery),
        OutboxAct::Wire => world.mail.shown_wire(),
        OutboxAct::NextWakeup { scope } => looking::next_wakeup(world, scope.as_ref()),
        OutboxAct::Cancel { entry } => deciding::cancel(world, entry),
        OutboxAct::ResumeScope { scope } => deciding::resume_scope(world, scope.as_ref()),
        OutboxAct::ResumeEntry { entry } => deciding::resume_entry(world, entry),
        OutboxAct::Requeue { entry } => deciding::requeue(world, entry),
        OutboxAct::Dismiss(said) => deciding::dismiss(world, said),
        OutboxAct::ResolveEntry(said) => deciding::resolve(world, said),
        OutboxAct::Entry { entry } => looking::entry(world, entry),
        OutboxAct::ListEntries { filter } => looking::list(world, filter),
        OutboxAct::OutboxStats => looking::stats(world),
        OutboxAct::Changes => looking::changes(world),
        OutboxAct::ChangesOf { entry } => looking::changes_of(world, entry),
        OutboxAct::Wait { entry, wait_ms } => looking::wait(world, entry, *wait_ms),
    })
}

/// The entry that a name stands for; a name that is none stands for an entry that was never there.
fn id(world: &World, name: &str) -> EntryId {
    const NOBODY: u64 = 1 << 52;
    EntryId::new(world.names.entries.get(name).map_or(NOBODY, |(id, _)| *id))
}
