// Does the steps of a scenario. `ACTS` has one function for each.

import { Differs, Raised, check } from "./check.mjs";
import { OUTBOX } from "./outbox.mjs";
import { ROWS } from "./rows.mjs";
import * as shown from "./shown.mjs";
import { shownBytes, shownResponse, span, toBytes, toFingerprint, toKey, toResponse, toScope } from "./values.mjs";
import { World } from "./world.mjs";

const { told } = shown;

/** Runs a scenario; throws `Differs` where something is not as it says. */
export async function runScenario(kit, loaded, scenario, place) {
  const world = new World(kit, loaded, scenario, place);
  await world.start();
  try {
    await runSteps(world, scenario.steps);
    await well(world);
  } finally {
    await world.ledger.close();
  }
}

/** Nothing in the file is at odds with anything else (I7), where the scenario has left it open. */
async function well(world) {
  const checked = await told(world.kit, () => world.ledger.check());
  if (["closed", "suspended"].includes(checked.error)) return;
  if (!checked.isWell) throw new Differs(`the file is not well: ${JSON.stringify(checked)}`);
}

async function runSteps(world, steps) {
  for (const [at, step] of steps.entries()) {
    try {
      await one(world, step);
    } catch (error) {
      error.message = `step ${at + 1} (${step.do}): ${error.message}`;
      throw error;
    }
  }
}

async function one(world, step) {
  const before = step.file === "unchanged" ? world.place.bytes?.() : undefined;
  world.ran = false;
  const happened = await ACTS[step.do](world, step);
  if (step.expect !== undefined) check(world, step.expect, happened);
  if ("ran" in step && step.ran !== world.ran) throw new Differs(`ran: expected ${step.ran}, found ${world.ran}`);
  const same = before === undefined || areEqual(before, world.place.bytes());
  if (!same) throw new Differs("the step changed the file");
}

/** A file has megabytes: written as hex they would take seconds. */
const areEqual = (left, right) => left.length === right.length && left.every((byte, at) => byte === right[at]);

function asked(world, step) {
  const { kit } = world;
  return {
    operation: world.operation(step.op),
    scope: toScope(kit, step.scope),
    key: toKey(step.key),
    fingerprint: toFingerprint(kit, step.fingerprint),
    memo: toBytes(step.memo ?? ""),
    ...(step.wait_ms === undefined ? {} : { waitMs: span(step.wait_ms) }),
  };
}

function keep(world, step, decided) {
  const happened = shown.decision(decided);
  if (decided.kind === "acquired") world.keep(step.as, step.op, decided.claim);
  return happened;
}

const begin = (world, step) =>
  told(world.kit, async () => {
    const { operation, scope, key, fingerprint, ...options } = asked(world, step);
    return keep(world, step, await world.ledger.begin(operation, scope, key, fingerprint, options));
  });

const beginMany = (world, step) =>
  told(world.kit, async () => {
    const decided = await world.ledger.beginMany(step.begins.map((one) => asked(world, one)));
    return decided.map((one, at) => keep(world, step.begins[at], one));
  });

const target = (world, step) => (step.on === undefined ? world.claims.get(step.claim).keyId : world.keyId(step.on));

/** A settlement, by the object or by key id and fence. */
const settle = (verb, argument) => (world, step) => {
  const given = argument(world, step);
  if (step.by === "fence") {
    const fence = world.fences.get(step.claim);
    return told(world.kit, () => world.ledger.settleSync(target(world, step), fence, verb, given));
  }
  return told(world.kit, async () => {
    await world.claim(step.claim)[verb](given);
    world.claims.get(step.claim).claim = null;
  });
};

const answer = (world, step) => toResponse(world.kit, step.response);

function heartbeat(world, step) {
  const leaseMs = step.lease_ms === undefined ? undefined : span(step.lease_ms);
  if (step.by !== "fence") return told(world.kit, () => world.claim(step.claim).heartbeat(leaseMs));
  const given = leaseMs ?? world.operation(world.claims.get(step.claim).op).leaseMs;
  const fence = world.fences.get(step.claim);
  return told(world.kit, () => world.ledger.heartbeatSync(target(world, step), fence, given));
}

function recordStep(world, step) {
  const value = toBytes(step.value);
  if (step.by !== "fence") return told(world.kit, () => world.claim(step.claim).recordStep(step.name, value));
  const fence = world.fences.get(step.claim);
  return told(world.kit, () => world.ledger.recordStepSync(target(world, step), fence, step.name, value));
}

const step = (world, step) =>
  told(world.kit, async () => {
    const f = () => {
      world.ran = true;
      return toBytes(step.value);
    };
    return { value: shownBytes(await world.claim(step.claim).step(step.name, f)) };
  });

function drop(world, step) {
  const held = world.claims.get(step.claim);
  held.claim?.drop();
  held.claim = null;
}

async function inspect(world, step) {
  let view;
  try {
    view = await world.ledger.inspect(world.keyId(step));
  } catch (error) {
    return shown.failed(world.kit, error);
  }
  if (view === null) return null;
  if ("as" in step) {
    world.fences.set(step.as, view.fence);
    world.claims.set(step.as, { keyId: view.keyId, op: step.op, claim: null });
  }
  return shown.record(view);
}

function filter(world, { op, scope, state, page }) {
  return {
    operation: op === undefined ? undefined : world.operationName(op),
    scope: scope === undefined ? undefined : toScope(world.kit, scope),
    state,
    pageSize: page,
  };
}

const list = (world, step) =>
  told(world.kit, async () => {
    const keys = [];
    for await (const view of world.ledger.list(filter(world, step.filter))) keys.push(view.keyId.key);
    return { keys: keys.sort() };
  });

const inOrder = (a, b) => (a < b ? -1 : Number(a > b));

const recover = (world, step) =>
  told(world.kit, async () => {
    const claims = await world.ledger.recover(world.operation(step.op), step.limit);
    if (step.any_order) {
      claims.sort((a, b) => inOrder(a.keyId.scope, b.keyId.scope) || inOrder(a.keyId.key, b.keyId.key));
    }
    const happened = { claims: claims.map(shown.claim) };
    for (const [at, claim] of claims.entries()) world.keep(step.as?.[at], step.op, claim);
    return happened;
  });

function resolution(world, step) {
  const verdict = step.outcome;
  return verdict === "not_done" ? "not_done" : { [verdict]: toResponse(world.kit, step.response) };
}

const resolve = (world, step) =>
  told(world.kit, () =>
    world.ledger.resolve(world.keyId(step), world.fences.get(step.fence), resolution(world, step), step.who, step.note),
  );

const resolveMany = (world, step) =>
  told(world.kit, async () => {
    const wanted = filter(world, step.filter);
    return { resolved: await world.ledger.resolveMany(wanted, resolution(world, step), step.who, step.note) };
  });

/** camelCase of JavaScript's as scenarios write it. */
const snake = (of) =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), value]));

const even = (step) => ({ evenIfUnknown: step.even_if_unknown });

async function run(world, step) {
  const { kit } = world;
  const { handler } = step;
  const handle = async (claim) => {
    if ("claim" in handler) check(world, handler.claim, shown.claim(claim));
    await runSteps(world, handler.during ?? []);
    world.ran = true;
    if ("returns" in handler) return toResponse(kit, handler.returns);
    throw new Raised(handler.raises, handler.class);
  };
  const means = ({ kind }) => {
    if (kind === "final") return { final: toResponse(kit, handler.response) };
    return kind === "not_done" ? "not_done" : "by_effect";
  };
  try {
    const { operation, scope, key, fingerprint, ...options } = asked(world, step);
    const response = await world.ledger.run(operation, scope, key, fingerprint, handle, { ...options, means });
    return { response: shownResponse(response) };
  } catch (error) {
    if (error instanceof Raised) return { raised: error.message };
    if (error instanceof kit.Refused) return { refused: error.decision.kind, ...shown.decision(error.decision) };
    if (error instanceof kit.ReplayedFailure) return { replayed_failure: shownResponse(error.response) };
    return shown.failed(kit, error);
  }
}

const plain = (verb) => (world) => told(world.kit, () => world.ledger[verb]());

const ACTS = {
  ...OUTBOX,
  advance: (world, step) => world.clock.advance(span(step.ms)),
  jump: (world, step) => world.clock.jumpWall(step.ms),
  repeat: async (world, step) => {
    for (let time = 0; time < step.times; time++) await runSteps(world, step.steps);
  },
  restart: (world) => world.restart(),
  kill: (world) => world.kill(),
  suspend: plain("suspend"),
  resume: plain("resume"),
  reopen: plain("reopen"),
  close: plain("close"),
  begin,
  begin_many: beginMany,
  complete: settle("complete", answer),
  fail: settle("fail", answer),
  release: settle("release", () => undefined),
  park: settle("park", (_, step) => step.reason),
  heartbeat,
  record_step: recordStep,
  step,
  drop,
  look: (world, step) => shown.claim(world.claim(step.claim)),
  derive_key: (world, step) => world.claim(step.claim).deriveKey(step.name),
  inspect,
  list,
  recover,
  resolve,
  resolve_many: resolveMany,
  forget: (world, step) => told(world.kit, async () => snake(await world.ledger.forget(world.keyId(step), even(step)))),
  forget_scope: (world, step) =>
    told(world.kit, async () => snake(await world.ledger.forgetScope(toScope(world.kit, step.scope), even(step)))),
  sweep: (world, step) => told(world.kit, async () => snake(await world.ledger.sweep(step.limit))),
  stats: (world) =>
    told(world.kit, async () => {
      const stats = snake(await world.ledger.stats());
      const oldest = stats.oldest_unsettled_at_ms;
      return { ...stats, oldest_unsettled_at_ms: oldest === null ? null : shown.at(oldest) };
    }),
  run,
  ...ROWS,
};
