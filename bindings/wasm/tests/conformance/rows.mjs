// Steps on the caller's own tables.

import { enqueued, wanted } from "./outbox-sending.mjs";
import { failed, told } from "./shown.mjs";
import { Differs, Raised, check } from "./check.mjs";
import { shownBytes, shownResponse, toBytes, toResponse, toText } from "./values.mjs";

const maybeBytes = (value) => (value == null ? null : toBytes(value));
const pairs = (rows) => rows.map(([key, value]) => [shownBytes(key), shownBytes(value)]);
const found = (value) => (value === null ? null : shownBytes(value));

/** A call that a transaction and a batch both have. */
function write(world, to, call) {
  if (call.call === "enqueue") return to.enqueue(world.mail.outbox, ...wanted(world, call));
  const [table, key] = [toText(call.table), toBytes(call.key)];
  switch (call.call) {
    case "put":
      return to.put(table, key, toBytes(call.value));
    case "delete":
      return to.delete(table, key);
    case "insert_unique":
      return to.insertUnique(table, key, toBytes(call.value));
    case "compare_and_set":
      return to.compareAndSet(table, key, maybeBytes(call.expected), maybeBytes(call.value));
  }
  throw new Differs(`there is no call ${call.call}`);
}

function within(world, tx, call) {
  switch (call.call) {
    case "get":
      return found(tx.get(toText(call.table), toBytes(call.key)));
    case "scan":
      return pairs(tx.scan(toText(call.table), { from: toBytes(call.from), to: maybeBytes(call.to), limit: call.limit }));
    case "complete":
      tx.complete({ keyId: world.claims.get(call.claim).keyId, fence: world.fences.get(call.claim) }, toResponse(world.kit, call.response));
      return "ok";
    case "enqueue":
      return enqueued(world, call, write(world, tx, call));
    case "reenter":
      return world.ledger.statsSync();
  }
  write(world, tx, call);
  return "ok";
}

function calls(world, tx, step) {
  for (const call of step.calls) {
    let happened;
    try {
      happened = within(world, tx, call);
    } catch (error) {
      if (call.expect === undefined) throw error;
      happened = failed(world.kit, error);
    }
    if (call.expect !== undefined) check(world, call.expect, happened);
  }
  if (step.end === "abort") throw new Raised("abort");
}

async function closing(world, call) {
  try {
    return await told(world.kit, call);
  } catch (error) {
    if (error instanceof Raised) return { raised: error.message };
    throw error;
  }
}

function batch(world, step) {
  const made = new world.kit.Batch();
  for (const call of step.calls) write(world, made, call);
  return made;
}

export const ROWS = {
  transaction: (world, step) =>
    closing(world, () => world.ledger.transaction((tx) => void calls(world, tx, step))),
  complete_with: (world, step) =>
    closing(world, async () => {
      const response = await world.claim(step.claim).completeWith((tx) => {
        world.ran = true;
        calls(world, tx, step);
        return toResponse(world.kit, step.response);
      });
      return step.expect === "ok" ? "ok" : { response: shownResponse(response) };
    }),
  apply: (world, step) => told(world.kit, () => world.ledger.apply(batch(world, step))),
  complete_batch: (world, step) =>
    told(world.kit, async () => {
      await world.claim(step.claim).completeBatch(batch(world, step), toResponse(world.kit, step.response));
    }),
  get: async (world, step) => {
    try {
      return found(await world.ledger.get(toText(step.table), toBytes(step.key)));
    } catch (error) {
      return failed(world.kit, error);
    }
  },
  scan: (world, step) => {
    const range = { from: toBytes(step.from), to: maybeBytes(step.to), limit: step.limit };
    return told(world.kit, async () => pairs(await world.ledger.scan(toText(step.table), range)));
  },
};
