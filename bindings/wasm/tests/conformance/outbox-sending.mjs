// Enqueueing, leasing, sending by a script, and settling.

import { shownDelivery } from "./outbox-mail.mjs";
import { told } from "./shown.mjs";
import { span, toBytes, toFingerprint, toKey, toResponse, toScope, toText } from "./values.mjs";
import { START_MS } from "./world.mjs";

const LIMIT = 10;

const maybe = (value, to = toText) => (value === undefined ? undefined : to(value));

/** The request, and what is wanted of it. */
export function wanted({ kit }, step) {
  const wishes = {
    scope: toScope(kit, step.scope),
    operation: toText(step.operation ?? "charge"),
    mediaType: toText(step.media_type ?? "text/plain"),
    lane: maybe(step.lane),
    purpose: maybe(step.purpose),
    key: maybe(step.key, toKey),
    fingerprint: maybe(step.fingerprint, (value) => toFingerprint(kit, value)),
    sendByAtMs: maybe(step.send_by_at_ms, (ms) => START_MS + ms),
    evenIfAnswered: step.even_if_answered,
  };
  return [toBytes(step.request ?? "request-1"), wishes];
}

export const enqueued = (world, step, { entry, created }) => ({ created, entry: world.mail.named(step.as, entry) });

const enqueue = (world, step) =>
  told(world.kit, async () => enqueued(world, step, await world.mail.outbox.enqueue(...wanted(world, step))));

const enqueueMany = (world, { enqueues }) =>
  told(world.kit, async () => {
    const answers = await world.mail.outbox.enqueueMany(enqueues.map((one) => wanted(world, one)));
    return answers.map((answer, at) => enqueued(world, enqueues[at], answer));
  });

async function find(world, step) {
  const happened = await told(world.kit, () => {
    const lane = toText(step.lane ?? "default");
    const found = world.mail.outbox.find(toScope(world.kit, step.scope), toText(step.purpose), lane);
    return found === null ? {} : world.mail.named(step.as, found);
  });
  return "state" in happened || "error" in happened ? happened : null;
}

function toOutcome({ kit }, value) {
  const { DeliveryOutcome } = kit;
  const makers = {
    yes: (given) => DeliveryOutcome.yes(toResponse(kit, given)),
    no: (given) => DeliveryOutcome.no(toResponse(kit, given)),
    retry: DeliveryOutcome.retry,
    dead: DeliveryOutcome.dead,
    unknown: DeliveryOutcome.unknown,
    hold_lane: DeliveryOutcome.holdLane,
    hold_entry: DeliveryOutcome.holdEntry,
  };
  const kind = Object.keys(makers).find((name) => name in value);
  let outcome = makers[kind](value[kind]);
  if (value.replayed) outcome = outcome.replayed();
  if (value.not_taken) outcome = outcome.notTaken();
  if (value.not_counted) outcome = outcome.notCounted();
  if (value.pausing_lane) outcome = outcome.pausingLane();
  if ("not_before_ms" in value) outcome = outcome.notBefore(span(value.not_before_ms));
  if ("key_expires_after_ms" in value) outcome = outcome.keyExpiresAfter(span(value.key_expires_after_ms));
  return outcome;
}

function kept(world, names, deliveries) {
  const shown = deliveries.map(shownDelivery);
  for (const [at, delivery] of deliveries.entries()) world.mail.keep(names[at], delivery);
  return shown;
}

const lease = (world, step, limit) =>
  world.mail.outbox.leaseDue(toScope(world.kit, step.scope), step.limit ?? limit);

const leaseDue = (world, step) =>
  told(world.kit, async () => ({ deliveries: kept(world, step.as ?? [], await lease(world, step, LIMIT)) }));

const deliver = (world, step) =>
  told(world.kit, async () => {
    const { script, as = [] } = step;
    const deliveries = await lease(world, step, script.length);
    if (deliveries.length > script.length) throw new Error("more deliveries than the script has answers");
    const names = deliveries.map((_, at) => as[at] ?? `scripted ${at}`);
    const happened = { deliveries: kept(world, names, deliveries), settled: [] };
    for (const [at, name] of names.entries()) happened.settled.push(await answered(world, name, script[at]));
    return happened;
  });

function answered(world, name, answer) {
  if (answer === "drop") return drop(world, { delivery: name });
  if (answer !== "silence") return settle(world, { delivery: name, outcome: answer });
  // Its process hears nothing and says nothing: not even that it has let go.
  const handed = world.mail.deliveries.get(name);
  handed.delivery?.report(world.kit.DeliveryOutcome.retry("silence"));
  handed.delivery = null;
  return null;
}

async function settle(world, step) {
  const handed = world.mail.deliveries.get(step.delivery);
  const outcome = toOutcome(world, step.outcome);
  const { id, fence, delivery } = handed;
  if (delivery === null) {
    return told(world.kit, () => world.mail.outbox.settle(world.kit.Report.of(id, fence, outcome)));
  }
  const happened = await told(world.kit, () => delivery.settle(outcome));
  if (happened === "ok") handed.delivery = null;
  return happened;
}

function report(world, step) {
  const handed = world.mail.deliveries.get(step.delivery);
  const outcome = toOutcome(world, step.outcome);
  const { id, fence, delivery } = handed;
  handed.delivery = null;
  return delivery === null ? world.kit.Report.of(id, fence, outcome) : delivery.report(outcome);
}

const settleAndLease = (world, step) =>
  told(world.kit, async () => {
    const reports = step.reports.map((one) => report(world, one));
    const turn = await world.mail.outbox.settleAndLease(reports, toScope(world.kit, step.scope), step.limit ?? LIMIT);
    const settled = turn.settled.map((error) => (error === null ? "ok" : { error: error.code }));
    return { settled, deliveries: kept(world, step.as ?? [], turn.deliveries) };
  });

function drop(world, step) {
  const handed = world.mail.deliveries.get(step.delivery);
  handed.delivery?.drop();
  handed.delivery = null;
  return null;
}

function wire({ mail }) {
  const requests = new Map(mail.wire.map((sent) => [JSON.stringify([sent.mediaType, sent.request]), sent.request]));
  return {
    sends: mail.wire.length,
    keys: new Set(mail.wire.map(({ key }) => key)).size,
    requests: [...requests.keys()].sort().map((name) => requests.get(name)),
  };
}

export const SENDING = {
  enqueue,
  enqueue_many: enqueueMany,
  find,
  lease_due: leaseDue,
  deliver,
  settle,
  settle_and_lease: settleAndLease,
  drop_delivery: drop,
  wire,
};
