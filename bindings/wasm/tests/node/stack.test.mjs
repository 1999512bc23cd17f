// Calls made with hardly any stack left: they throw before they have begun, and harm neither their ledger nor others of the instance.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { folder, kit } from "./kit.mjs";

const { Batch, Fingerprint, Ledger, MemoryStore, Operation } = kit;

const ANY = Fingerprint.unchecked();
const CHARGE = Operation.repeatable("charge");
const TOP_UP = Operation.inLedger("top-up");

const granted = (ledger, operation = CHARGE, key = crypto.randomUUID()) => {
  const decision = ledger.beginSync(operation, "ann", key, ANY);
  assert.equal(decision.kind, "acquired");
  return decision.claim;
};

/** The calls, and what each needs beforehand. */
const CALLS = {
  begin: { call: (ledger) => ledger.beginSync(CHARGE, "ann", crypto.randomUUID(), ANY) },
  "begin in memory": { call: (ledger) => ledger.beginSync(TOP_UP, "ann", crypto.randomUUID(), ANY) },
  lookup: { call: (ledger) => ledger.lookupSync(CHARGE, "ann", "none") },
  complete: { before: granted, call: (_, claim) => claim.completeSync("done") },
  "complete with a closure": { before: granted, call: (_, claim) => claim.completeWithSync((tx) => (tx.put("t", "k", "v"), "done")) },
  step: { before: granted, call: (_, claim) => claim.stepSync("card", () => "paid") },
  heartbeat: { before: granted, call: (_, claim) => claim.heartbeatSync() },
  drop: { before: granted, call: (_, claim) => claim.drop() },
  transaction: { call: (ledger) => ledger.transactionSync((tx) => (tx.get("t", "k"), tx.put("t", "k", "v"), tx.scan("t", { limit: 3 }))) },
  apply: { call: (ledger) => ledger.applySync(new Batch().put("t", "k", "v")) },
  "apply a lot": { call: (ledger) => ledger.applySync(new Batch().put("t", "k", new Uint8Array(300_000))) },
  sweep: { call: (ledger) => ledger.sweepSync(10) },
  recover: { call: (ledger) => ledger.recoverSync(CHARGE, 1) },
  stats: { call: (ledger) => ledger.statsSync() },
  enqueue: { before: (ledger) => ledger.outbox(), call: (_, outbox) => outbox.enqueueSync("text", { scope: "ann", operation: "note" }) },
  reopen: { call: (ledger) => ledger.reopen() },
  compact: { call: (ledger) => ledger.compactSync({ evenWithClaims: true }) },
};

let deepest = 0;

/** A frame of eight kilobytes: to get near the end of the stack soon. */
const PAD = new Array(1000).fill(0);
function stride(frames, call, ..._pad) {
  deepest += 1;
  return frames === 0 ? call() : stride.apply(undefined, [frames - 1, call, ...PAD]);
}

/** A frame of some bytes. */
function step(frames, call) {
  deepest += 1;
  return frames === 0 ? call() : step(frames - 1, call);
}

function most(walk) {
  deepest = 0;
  try {
    walk(Infinity);
  } catch {}
  return deepest;
}

/** Calls where so many steps more would be too many; what that throws, if it throws. */
function near(steps, call) {
  let thrown;
  stride(most(stride) - 30, () => {
    const last = most(step) - steps;
    try {
      step(last, call);
    } catch (error) {
      thrown = error;
    }
  });
  return thrown;
}

const isOverflow = (error) => error instanceof RangeError && /call stack/.test(error.message);

/** How a ledger is opened, and how many steps are between two calls: a file syncs each. */
const stores = {
  memory: [() => Ledger.on(new MemoryStore()), 1],
  "a file": [() => Ledger.openSync(join(folder(), "stack.kl")), 9],
};

for (const [where, [open, apart]] of Object.entries(stores)) {
  test(`in ${where}: wherever in a call the stack is over, it throws, and all ledgers go on`, async () => {
    const [ledger, bystander] = [open(), Ledger.inMemorySync()];
    granted(ledger, CHARGE, "kept").completeSync("kept");
    for (const [name, { before, call }] of Object.entries(CALLS)) {
      const overflows = sweep(ledger, apart, before, call, (steps) => {
        assert.equal(ledger.lookupSync(CHARGE, "ann", "kept").text(), "kept", `${name}, ${steps} steps from the end`);
        for (const one of [ledger, bystander]) granted(one).completeSync("done");
      });
      assert.ok(overflows > 5, `${name}: the stack was over ${overflows} times`);
    }
    await ledger.close();
  });
}

/** Calls nearer to the end of the stack than a call needs, and ever further from it, until the call goes well. How often the stack was over. */
function sweep(ledger, apart, before, call, check) {
  // An engine compiles what is called first, which takes more stack than it takes to run it.
  for (let times = 0; times < 3; times += 1) call(ledger, before?.(ledger));
  let overflows = 0;
  for (let steps = 0, well = 0; well < 5; steps += steps < 120 ? apart : 60) {
    const given = before?.(ledger);
    const thrown = near(steps, () => call(ledger, given));
    well = thrown === undefined ? well + 1 : 0;
    if (thrown) {
      assert.ok(isOverflow(thrown), `${steps} steps from the end: ${thrown.stack}`);
      overflows += 1;
    }
    check(steps);
    given?.drop?.();
  }
  return overflows;
}

test("a closure that has used up the stack is told so, and its transaction is thrown away", () => {
  const ledger = Ledger.inMemorySync();
  const put = (steps) =>
    ledger.transactionSync((tx) => {
      const thrown = near(steps, () => tx.put("t", "k", "v"));
      if (thrown) throw thrown;
    });
  put(2000);
  ledger.applySync(new Batch().delete("t", "k"));
  assert.throws(() => put(50), isOverflow);
  assert.equal(ledger.getSync("t", "k"), null);
  put(2000);
  assert.ok(ledger.getSync("t", "k"));
});
