// A claim with several calls under way at once, here and of a ledger that lives elsewhere; and what `run` makes of what breaks under it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { across } from "./border.mjs";
import { kit } from "./kit.mjs";

const { Batch, Fingerprint, Ledger, MemoryStore, Operation } = kit;
const charge = Operation.repeatable("charge");
const once = Operation.atMostOnce("once");
const unchecked = () => Fingerprint.unchecked();
const textOf = (bytes) => Buffer.from(bytes).toString();
const codeOf = (promise) => promise.then(() => "ok", (error) => error.code ?? error.message);

/** Calls `f` with the ledger of this thread, and with one that lives elsewhere. */
async function both(t, f, store = new MemoryStore()) {
  const { direct, remote } = across(t, Ledger.on(store));
  for (const [where, ledger] of Object.entries({ here: direct, elsewhere: remote })) await f(ledger, where, store);
}

test("steps that are taken at once run once each, whatever comes of the first attempt (S9)", (t) =>
  both(t, async (ledger, where) => {
    const ran = [];
    const step = (claim, name) => claim.step(name, async () => (ran.push(name), name));
    const handler = async (claim) => (await Promise.all(["card", "mail", "card"].map((name) => step(claim, name)))).map(textOf).join();
    const attempt = () => ledger.run(charge, where, "k", unchecked(), handler).then((response) => response.text());
    assert.deepEqual([await attempt(), await attempt(), ran], ["card,mail,card", "card,mail,card", ["card", "mail"]]);
  }));

test("a step whose function fails leaves its name to who waits for it", (t) =>
  both(t, async (ledger, where) => {
    const { claim } = await ledger.begin(charge, where, "k", unchecked());
    const told = await Promise.allSettled([claim.step("card", () => Promise.reject(new Error("no card"))), claim.step("card", () => "paid")]);
    assert.deepEqual([told[0].reason?.message, textOf(told[1].value)], ["no card", "paid"]);
    await claim.release();
  }));

test("a settlement that is said while a step is recorded comes after it, and is stored (S3)", (t) =>
  both(t, async (ledger, where) => {
    for (const [verb, ...words] of [["complete", "x"], ["fail", "x"], ["release"], ["park", "x"], ["completeBatch", new Batch(), "x"]]) {
      const { claim } = await ledger.begin(charge, where, verb, unchecked());
      const calls = [claim.recordStep("one", "1"), claim.recordStep("two", "2"), claim.heartbeat(), claim[verb](...words)];
      assert.deepEqual(await Promise.all(calls.map(codeOf)), Array(4).fill("ok"), verb);
      const record = await ledger.inspect(claim.keyId);
      assert.deepEqual([record.state === "in_progress", record.steps.map(({ name }) => name)], [false, ["one", "two"]], verb);
      assert.ok(claim.isSettled);
    }
  }));

test("a claim that has calls under way is looked at, and is settled when one of them has settled it", (t) =>
  both(t, async (ledger, where) => {
    const { claim } = await ledger.begin(charge, where, "k", unchecked());
    const looks = () => [claim.steps.length, claim.remainingMs > 0, claim.isLost, claim.deriveKey("card").length > 0, claim.isSettled];
    const step = claim.recordStep("one", "1");
    assert.deepEqual(looks(), [0, true, false, true, false]);
    await step;
    const settled = claim.complete("done");
    assert.deepEqual(looks(), [1, true, false, true, true]);
    const late = [claim.heartbeat(), claim.recordStep("two", "2"), claim.step("three", () => "3"), claim.release()];
    assert.deepEqual(await Promise.all([settled, ...late].map(codeOf)), ["ok", ...Array(4).fill("claim_settled")]);
    assert.throws(() => claim.steps, { code: "claim_settled" });
  }));

test("what is done at once is done while a step is recorded: a timer that renews the lease does not throw (H10)", async (t) => {
  const { direct } = across(t);
  const { claim } = direct.beginSync(charge, "s", "k", unchecked());
  const step = claim.recordStep("one", "1");
  claim.heartbeatSync();
  claim.recordStepSync("two", "2");
  assert.equal(textOf(claim.stepSync("three", () => "3")), "3");
  claim.completeSync("done");
  await step;
  assert.deepEqual(direct.inspectSync(claim.keyId).steps.map(({ name }) => name), ["one", "two", "three"]);
  assert.throws(() => claim.heartbeatSync(), { code: "claim_settled" });
});

test("a claim that is dropped while a step is recorded ends its lease at once (S2)", async (t) => {
  const { direct } = across(t);
  const { claim } = direct.beginSync(charge, "s", "k", unchecked());
  const step = claim.recordStep("one", "1");
  claim.drop();
  assert.equal(direct.beginSync(charge, "s", "k", unchecked()).kind, "acquired");
  await step.catch(() => undefined);
});

test("a settlement that waits for one that fails is carried out (S6)", (t) =>
  both(t, async (ledger, where, store) => {
    const { claim } = await ledger.begin(charge, where, "k", unchecked());
    const told = [claim.fail({ no: "answer" }), claim.park("x".repeat(2000)), claim.complete("done")];
    assert.deepEqual(await Promise.all(told.map(codeOf)), ["invalid_argument", "too_large", "ok"]);
    assert.equal((await ledger.lookup(charge, where, "k")).text(), "done");
  }));

test("a handler that has settled its claim, and does not wait for that, is told what was stored", (t) =>
  both(t, async (ledger, where) => {
    for (const raises of [false, true]) {
      const handler = (claim) => {
        void claim.recordStep("one", "1");
        void claim.complete("mine");
        if (raises) throw new Error("later");
      };
      assert.equal((await ledger.run(charge, where, `${raises}`, unchecked(), handler)).text(), "mine");
    }
  }));

test("a `means` that throws, or would have to be waited for, leaves the claim to its effect (S8)", (t) =>
  both(t, async (ledger, where) => {
    const own = new Error("no card");
    const broken = [() => { throw new Error("means"); }, async () => "not_done", async () => { throw new Error("later"); }, () => { throw undefined; }];
    for (const [at, means] of broken.entries()) {
      const run = (operation) => ledger.run(operation, where, `${at}`, unchecked(), () => Promise.reject(own), { means });
      for (const operation of [charge, once]) await assert.rejects(run(operation), (error) => error.code === "invalid_argument" && error.cause === own);
      const kinds = [charge, once].map((operation) => ledger.begin(operation, where, `${at}`, unchecked()).then(({ kind }) => kind));
      assert.deepEqual(await Promise.all(kinds), ["acquired", "parked"]);
    }
    await after(1);
  }));

test("an outcome that cannot be stored is parked: its handler does not run again (S4)", (t) =>
  both(t, async (ledger, where) => {
    const outcomes = [undefined, { id: "ch_1" }, 42, new kit.StoredResponse("x".repeat(2000), "a long media type")];
    for (const [at, outcome] of outcomes.entries()) {
      let runs = 0;
      const run = () => ledger.run(charge, where, `${at}`, unchecked(), () => ((runs += 1), outcome));
      await assert.rejects(run());
      await assert.rejects(run(), (error) => error.decision.kind === "parked" && error.decision.reason.includes("could not be stored"));
      const final = () => ledger.run(charge, where, `final ${at}`, unchecked(), () => Promise.reject(new Error("no")), { means: () => ({ final: outcome }) });
      await assert.rejects(final());
      await assert.rejects(final(), (error) => error.decision.kind === "parked");
      assert.equal(runs, 1);
    }
  }));

test("a refusal names its decision, and when to ask again, why it is held or what to do with the key (S9)", (t) =>
  both(t, async (ledger, where) => {
    const advice = [];
    const told = (key, fingerprint) =>
      ledger.run(charge, where, key, fingerprint, () => assert.fail("it is not to run")).catch(({ decision, message, code, keyAdvice, retryAfterMs }) => {
        advice.push([code, keyAdvice, retryAfterMs === (decision.retryAfterMs ?? null)]);
        return [decision.kind, message];
      });
    const { claim } = await ledger.begin(charge, where, "held", Fingerprint.ofJson(1));
    const [kind, message] = await told("held", Fingerprint.ofJson(1));
    assert.equal(kind, "in_progress");
    assert.match(message, /^the operation was not run: in_progress; the same key again in \d+ ms$/);
    assert.match((await told("held", Fingerprint.ofJson(2)))[1], /: mismatch; this key was used for another request; take a new one/);
    await claim.park("ask the bank");
    assert.match((await told("held", Fingerprint.ofJson(1)))[1], /: parked; nobody knows whether it happened: ask the bank$/);
    const gone = Operation.repeatable("charge", { retentionMs: 0 });
    await (await ledger.begin(gone, where, "gone", unchecked())).claim.complete("");
    assert.match((await told("gone", unchecked()))[1], /: gone; settled so long ago that its answer is gone$/);
    const reused = [["in_progress", "reuse", true], ["mismatch", "rotate", true]];
    assert.deepEqual(advice, [...reused, ["parked", "reconcile", true], ["gone", "reconcile", true]]);
  }));
