// A ledger that lives elsewhere answers as one of this thread does: the same calls of both, and what came of them side by side.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { across } from "./border.mjs";
import { kit } from "./kit.mjs";
import { EAGER } from "./outbox-kit.mjs";

const { Batch, Fingerprint, Ledger, MemoryStore, Operation } = kit;
const charge = Operation.repeatable("charge", { rememberedForMs: 60_000 });
const mail = Operation.atMostOnce("mail");
const unchecked = Fingerprint.unchecked();
const WISHES = { scope: "user-7", operation: "charge" };
const LIMIT = { timeout: 60_000 };
const codeOf = (call) => Promise.resolve().then(call).then(() => "ok", (error) => error.code ?? error.name);

/** What came of `calls(ledger)`, of a ledger here and of one elsewhere: it is the same. */
async function alike(t, calls, store = () => new MemoryStore()) {
  const [here, there] = [store(), store()];
  const direct = Ledger.on(here);
  t.after(() => direct.close());
  const told = [await calls(direct, here), await calls(across(t, Ledger.on(there)).remote, there)];
  assert.deepEqual(told[1], told[0]);
  return told[0];
}

test("whoever holds no claim object settles by key id and fence, and of another's fence nothing is settled (S2)", LIMIT, async (t) => {
  const told = await alike(t, async (ledger) => {
    const claims = {};
    for (const key of ["complete", "fail", "release", "park", "two"]) claims[key] = (await ledger.begin(charge, "s", key, unchecked)).claim;
    const { keyId, fence } = claims.two;
    const codes = [await codeOf(() => ledger.settle({ ...keyId, key: "fail" }, fence, "complete", "mixed up"))];
    codes.push(await codeOf(() => ledger.heartbeat(keyId, fence, 5_000)), await codeOf(() => ledger.recordStep(keyId, fence, "one", "1")));
    codes.push(await codeOf(() => ledger.heartbeat(keyId, fence + 100, 5_000)));
    for (const verb of ["complete", "fail", "release", "park"]) {
      const { keyId, fence } = claims[verb];
      codes.push(await codeOf(() => ledger.settle(keyId, fence, verb, "told")), await codeOf(() => ledger.settle(keyId, fence, verb, "told")));
    }
    const records = [];
    for await (const { keyId, state, response, parkedReason, steps } of ledger.list()) {
      records.push([keyId.key, state, response?.text(), parkedReason, steps.map(({ name }) => name)]);
    }
    records.sort(([one], [other]) => (one < other ? -1 : 1));
    return [codes, records, (await ledger.lookup(charge, "s", "complete")).text(), await ledger.lookup(charge, "s", "none")];
  });
  const found = told[1].map(([key, state]) => [key, state]);
  assert.deepEqual(found, [["complete", "completed"], ["fail", "failed"], ["park", "parked"], ["release", "released"], ["two", "in_progress"]]);
});

test("a claim says how long its handler may still call out, until it is settled (E4)", LIMIT, async (t) => {
  const told = await alike(t, async (ledger) => {
    const { claim } = await ledger.begin(charge, "s", "k", unchecked);
    const first = claim.remainingMs;
    await after(30);
    const isLess = claim.remainingMs <= first - 25 && first <= 60_000 && first > 50_000;
    await claim.complete("done");
    const { claim: once } = await ledger.begin(mail, "s", "k", unchecked);
    return [isLess, await codeOf(() => claim.remainingMs), once.remainingMs];
  });
  assert.deepEqual(told, [true, "claim_settled", null]);
});

/** What is asked of a claim, and how it stands then. */
async function asked(claim, verb, ...words) {
  const told = await codeOf(() => claim[verb](...words));
  const looks = ["isLost", "steps", "deriveKey"].map((name) => codeOf(() => (name === "deriveKey" ? claim.deriveKey("card") : void claim[name])));
  return [verb, told, claim.isSettled, ...(await Promise.all(looks)), claim.isSettled || claim.isLost];
}
const VERBS = { complete: ["x"], fail: ["x"], release: [], park: ["x"], completeBatch: [new Batch(), "x"], heartbeat: [], recordStep: ["x", "y"] };

test("a claim that is lost, and one that is settled, refuse what is asked of them by the same codes (S2)", LIMIT, async (t) => {
  const told = await alike(t, async (ledger) => {
    const all = [];
    for (const [verb, words] of Object.entries(VERBS)) {
      const { claim } = await ledger.begin(charge, "s", verb, unchecked);
      await ledger.forget(claim.keyId, { evenIfUnknown: true });
      all.push(await asked(claim, verb, ...words), await asked(claim, "complete", "again"));
      const { claim: settled } = await ledger.begin(charge, "s", `${verb} later`, unchecked);
      await settled.complete("done");
      all.push(await asked(settled, verb, ...words), await codeOf(() => settled.step("x", () => "y")));
    }
    return all;
  });
  const codes = new Set(told.flatMap((one) => (Array.isArray(one) ? one[1] : one)));
  assert.deepEqual([...codes], ["claim_lost", "claim_settled"]);
});

test("what is refused at the border is refused in the words of the core", LIMIT, async (t) => {
  const wordsOf = (call) => call.then(() => "ok", ({ message }) => message);
  const told = await alike(t, async (ledger) => {
    const { claim } = await ledger.begin(charge, "s", "k", unchecked);
    await claim.complete("done");
    const [outbox, told] = [ledger.outbox(), [await wordsOf(claim.complete("done"))]];
    const { entry } = await outbox.enqueue("a", WISHES);
    for (const timeoutMs of [-1, NaN, "soon", 0]) told.push(await wordsOf(outbox.wait(entry.id, { timeoutMs })));
    await ledger.close();
    return [...told, await wordsOf(ledger.stats())];
  });
  assert.deepEqual(told.map((words) => words === "ok"), [false, false, false, false, true, false]);
});

test("a page of no records is refused, and is not asked for for ever", LIMIT, async (t) => {
  const told = await alike(t, async (ledger) => {
    await ledger.begin(charge, "s", "k", unchecked);
    const codes = [];
    for (const pageSize of [0, -1, NaN, 1, undefined]) {
      codes.push(await codeOf(async () => {
        for await (const { keyId } of ledger.list({ pageSize })) assert.equal(keyId.key, "k");
      }));
    }
    return codes;
  });
  assert.deepEqual(told.slice(3), ["ok", "ok"]);
});

test("what cannot be asked breaks the promise, and throws nothing at the caller", LIMIT, async (t) => {
  const told = await alike(t, async (ledger) => {
    const id = { scope: "s", operation: "charge", key: "k" };
    const calls = [() => ledger.resolve(id, 1, undefined, "ann", ""), () => ledger.resolveMany({}, undefined, "ann", ""), () => ledger.get("t", null)];
    return Promise.all(calls.map((call) => call().then(() => "ok", () => "refused")));
  });
  assert.deepEqual(told, Array(3).fill("refused"));
});

/** One whose next sync fails. */
class Failing extends MemoryStore {
  fails = false;
  sync() {
    if (this.fails) throw new Error("no space left");
    super.sync();
  }
}

test("after a sync that failed a ledger is poisoned until it is reopened; then the claim says again what it came to (S7)", LIMIT, async (t) => {
  const told = await alike(
    t,
    async (ledger, store) => {
      await ledger.run(charge, "s", "stored", unchecked, () => "paid");
      const { claim } = await ledger.begin(charge, "s", "k", unchecked);
      store.fails = true;
      const codes = [await codeOf(() => claim.complete("done")), claim.isSettled];
      store.fails = false;
      codes.push(await codeOf(() => claim.complete("done")), await codeOf(() => ledger.reopen()), await codeOf(() => claim.complete("done")));
      return [codes, (await ledger.lookup(charge, "s", "stored")).text(), (await ledger.lookup(charge, "s", "k")).text()];
    },
    () => new Failing(),
  );
  assert.deepEqual(told, [["ambiguous", false, "poisoned", "ok", "ok"], "paid", "done"]);
});

test("free pages are given back, and by whom is nothing to wait for otherwise", LIMIT, async (t) => {
  const told = await alike(t, async (ledger) => {
    const { beforeBytes, afterBytes } = await ledger.compact();
    const { claim } = await ledger.begin(charge, "s", "k", unchecked);
    return [afterBytes <= beforeBytes, await codeOf(() => ledger.compact()), await codeOf(() => ledger.compact({ evenWithClaims: true })), claim.attempt];
  });
  assert.deepEqual([told[0], told[2]], [true, "ok"]);
});

test("a driver that cannot go on ends by itself, and says why when it is stopped; it can be started anew (O11)", LIMIT, async (t) => {
  const { direct, remote } = across(t);
  const outbox = remote.outbox(EAGER);
  const drivers = ["user-7", "user-7", "user-8"].map((scope) => outbox.driver(scope, {}, { onError: () => undefined }).start());
  await outbox.enqueue("no request over HTTP: dead at its first try", WISHES).then(({ entry }) => outbox.wait(entry.id));
  direct.closeSync();
  while (drivers.some(({ isRunning }) => isRunning)) await after(1);
  for (const driver of drivers) await assert.rejects(driver.stop(), { code: "closed" });
  for (const driver of drivers) await driver.stop();
  drivers[0].start();
  while (drivers[0].isRunning) await after(1);
  await assert.rejects(drivers[0].stop(), { code: "closed" });
});
