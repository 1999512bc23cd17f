// The steps of the outbox: opening it, deciding about entries, and looking into it.

import { shownEntry } from "./outbox-mail.mjs";
import { SENDING } from "./outbox-sending.mjs";
import { at, told } from "./shown.mjs";
import { shownBytes, span, toResponse, toScope, toText } from "./values.mjs";

const instant = (wallMs) => (wallMs === null ? null : at(wallMs));

/** A call about an entry that answers it. */
const decided = (call) => (world, step) =>
  told(world.kit, async () => {
    const { mail } = world;
    const [who, note] = [step.who, step.note].map((text) => (text === undefined ? text : toText(text)));
    return shownEntry(await call(mail.outbox, mail.idOf(step.entry), who, note));
  });

const cancel = (world, step) =>
  told(world.kit, async () => {
    const { isCancelled, entry } = await world.mail.outbox.cancel(world.mail.idOf(step.entry));
    return { cancel: isCancelled ? "cancelled" : "too_late", entry: shownEntry(entry) };
  });

const MEANS = { answered_yes: "answeredYes", answered_no: "answeredNo" };

const resolve = (world, step) =>
  told(world.kit, async () => {
    const { kit, mail } = world;
    const name = MEANS[step.outcome];
    const resolution = name === undefined ? step.outcome : { [name]: toResponse(kit, step.response) };
    const id = mail.idOf(step.entry);
    return mail.named(step.as, await mail.outbox.resolve(id, resolution, toText(step.who), toText(step.note)));
  });

async function entry(world, step) {
  const happened = await told(world.kit, () => {
    const { outbox } = world.mail;
    const id = world.mail.idOf(step.entry);
    const [found, request] = [outbox.get(id), outbox.request(id)];
    if (found === null || request === null) return { isThere: found !== null || request !== null };
    return { ...shownEntry(found), media_type: request[0], request: shownBytes(request[1]) };
  });
  return happened.isThere === false ? null : happened;
}

const listEntries = (world, { filter = {} }) =>
  told(world.kit, async () => {
    const { lane, state, page } = filter;
    const scope = "scope" in filter ? toScope(world.kit, filter.scope) : undefined;
    const entries = [];
    for await (const one of world.mail.outbox.list({ scope, lane, state, pageSize: page })) entries.push(shownEntry(one));
    return { entries };
  });

const outboxStats = (world) =>
  told(world.kit, () => {
    const { counts, unsettled, unsettledBytes, budget, lanes, heldLanes } = world.mail.outbox.stats();
    const shown = lanes.map(({ scope, lane, heldReason, heldSinceMs, pausedUntilMs }) => ({
      scope,
      lane,
      reason: heldReason,
      held_since_at_ms: instant(heldSinceMs),
      paused_until_at_ms: instant(pausedUntilMs),
    }));
    return { ...counts, unsettled, unsettled_bytes: unsettledBytes, budget, held_lanes: heldLanes, lanes: shown };
  });

const changes = (world) =>
  told(world.kit, () => {
    const { mail } = world;
    const entries = [...mail.outbox.changesSync({ after: mail.lastChange })];
    mail.lastChange = entries.at(-1)?.change ?? mail.lastChange;
    return { entries: entries.map(shownEntry) };
  });

const changesOf = (world, step) =>
  told(world.kit, async () => {
    for await (const now of world.mail.outbox.changesOf(world.mail.idOf(step.entry))) return { states: [now.state] };
  });

const wait = (world, step) =>
  told(world.kit, async () => {
    const { mail } = world;
    return shownEntry(await mail.outbox.wait(mail.idOf(step.entry), { timeoutMs: span(step.wait_ms) }));
  });

export const OUTBOX = {
  ...SENDING,
  open_outbox: (world, step) => told(world.kit, () => world.mail.openAgain(world.ledger, step.outbox)),
  next_wakeup: (world, step) =>
    told(world.kit, () => ({ wakeup_at_ms: instant(world.mail.outbox.nextWakeup(toScope(world.kit, step.scope))) })),
  cancel,
  resume_scope: (world, step) => told(world.kit, () => world.mail.outbox.resume(toScope(world.kit, step.scope))),
  resume_entry: decided((outbox, id) => outbox.resumeEntry(id)),
  requeue: decided((outbox, id) => outbox.requeue(id)),
  dismiss: decided((outbox, id, who, note) => outbox.dismiss(id, who, note)),
  resolve_entry: resolve,
  entry,
  list_entries: listEntries,
  outbox_stats: outboxStats,
  changes,
  changes_of: changesOf,
  wait,
};
