// What is no answer, no body and no bytes is refused at the door, here and of a ledger that lives elsewhere: nothing is stored empty.

import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";
import { across } from "./border.mjs";
import { kit } from "./kit.mjs";
import { server } from "./outbox-kit.mjs";

const { Batch, DeliveryOutcome, Fingerprint, FetchTransport, HttpRequest, Operation, StoredResponse, httpAnswer } = kit;
const REFUSED = { name: "KeyledgerError", code: "invalid_argument" };
const charge = Operation.repeatable("charge");
const once = Operation.atMostOnce("once");
const unchecked = () => Fingerprint.unchecked();

/** None of these is an answer, nor bytes. */
const NOTHING_OF_IT = {
  "a plain object": { id: "ch_1" },
  "a plain object without a prototype": Object.create(null),
  "an array of numbers": [1, 2, 3],
  "a number": 42,
  true: true,
  undefined: undefined,
  null: null,
  "a Response": Response.json({ a: 1 }),
  "an ArrayBuffer": new ArrayBuffer(4),
  "other views": new Uint16Array(2),
  "a function": () => "x",
};

/** Calls `f` with the ledger of this thread, and with one that lives elsewhere. */
async function both(t, f) {
  const { direct, remote } = across(t);
  for (const [where, ledger] of Object.entries({ here: direct, elsewhere: remote })) await f(ledger, where);
}

test("a handler whose answer is none is an error, and parks the key, whatever its effect: it has run to its end (S4)", (t) =>
  both(t, async (ledger, where) => {
    for (const [name, value] of Object.entries(NOTHING_OF_IT)) {
      for (const operation of [charge, once]) {
        const told = ledger.run(operation, where, name, unchecked(), () => value, { means: () => ({ final: "a no" }) });
        await assert.rejects(told, REFUSED, name);
        assert.equal((await ledger.begin(operation, where, name, unchecked())).kind, "parked", name);
      }
    }
    const told = ledger.run(charge, where, "words", unchecked(), () => ({ id: 1 }));
    await assert.rejects(told, /StoredResponse, text or bytes; this is a plain object: StoredResponse\.json\(value\)/);
  }));

test("a handler that has settled its claim itself needs no answer", (t) =>
  both(t, async (ledger, where) => {
    const told = await ledger.run(charge, where, "k", unchecked(), (claim) => claim.complete("mine"));
    assert.equal(told.text(), "mine");
  }));

test("what `means` says that is no word of ours settles by the effect, and has the handler's error for its cause", (t) =>
  both(t, async (ledger, where) => {
    const own = new Error("mine");
    for (const [at, means] of [{ final: { a: 1 } }, undefined, "done", { unknown: 5 }, {}].entries()) {
      const run = ledger.run(once, where, `k${at}`, unchecked(), () => Promise.reject(own), { means: () => means });
      await assert.rejects(run, (error) => error.code === "invalid_argument" && error.cause === own);
      assert.equal((await ledger.begin(once, where, `k${at}`, unchecked())).kind, "parked");
    }
  }));

test("a claim that is given no answer is not used up, and what cannot be stored again says so", (t) =>
  both(t, async (ledger, where) => {
    for (const [name, value] of Object.entries(NOTHING_OF_IT)) {
      const { claim } = await ledger.begin(charge, where, name, unchecked());
      await assert.rejects(claim.complete(value), REFUSED, name);
      await assert.rejects(claim.fail(value), REFUSED, name);
      await assert.rejects(claim.completeBatch(new Batch(), value), REFUSED, name);
      await assert.rejects(claim.step("s", () => value), REFUSED, name);
      await assert.rejects(claim.recordStep("s", value), REFUSED, name);
      for (const verb of ["complete", "fail"]) await assert.rejects(ledger.settle(claim.keyId, claim.fence, verb, value), REFUSED, `${verb} ${name}`);
      await assert.rejects(ledger.settle(claim.keyId, claim.fence, "park", value), REFUSED, `park ${name}`);
      assert.deepEqual(claim.steps, []);
      await claim.complete("right");
    }
  }));

test("a body that was not kept is not stored again as an empty one (S4)", async (t) => {
  const { direct, remote } = across(t, kit.Ledger.inMemorySync({ maxResponseBytes: 1024 }));
  await direct.run(charge, "t", "big", unchecked(), () => "x".repeat(4096));
  const kept = direct.lookupSync(charge, "t", "big");
  assert.equal(kept.body, null);
  for (const [key, ledger] of Object.entries({ direct, remote })) {
    await assert.rejects(ledger.run(charge, "t", key, unchecked(), () => kept), REFUSED);
    assert.equal(direct.lookupSync(charge, "t", key), null);
  }
});

test("memos, rows, batches and resolutions are of text and bytes", (t) =>
  both(t, async (ledger, where) => {
    for (const [name, value] of Object.entries(NOTHING_OF_IT)) {
      if (value !== undefined) await assert.rejects(ledger.begin(charge, where, name, unchecked(), { memo: value }), REFUSED, name);
      await assert.rejects(ledger.get("t", value), REFUSED, name);
      assert.throws(() => new Batch().put("t", "a", value), REFUSED, name);
      assert.throws(() => new Batch().insertUnique("t", "a", value), REFUSED, name);
      assert.throws(() => new Batch().delete("t", value), REFUSED, name);
      if (value != null) assert.throws(() => new Batch().compareAndSet("t", "a", value, "b"), REFUSED, name);
      await (await ledger.begin(once, where, name, unchecked())).claim.park("who knows");
      const { fence } = await ledger.inspect({ scope: where, operation: "once", key: name });
      const found = [value, { completed: value }, { failed: value }, { complete: "x" }];
      const id = { scope: where, operation: "once", key: name };
      for (const one of found) await assert.rejects(ledger.resolve(id, fence, one, "ada", "asked"), REFUSED, name);
      await assert.rejects(ledger.resolveMany({ scope: where }, { completed: value }, "ada", "asked"), REFUSED, name);
    }
  }));

test("a transaction stores nothing of a row, or an answer, that is none (G1)", async (t) => {
  const { direct } = across(t);
  for (const [name, value] of Object.entries(NOTHING_OF_IT)) {
    const rows = (tx) => (tx.put("t", "a", "1"), tx.put("t", "b", value));
    assert.throws(() => direct.transactionSync(rows), REFUSED, name);
    const { claim } = direct.beginSync(charge, "t", name, unchecked());
    assert.throws(() => claim.completeWithSync((tx) => (tx.put("t", "a", "1"), value)), REFUSED, name);
    assert.throws(() => claim.completeSync(value), REFUSED, name);
    assert.throws(() => direct.transactionSync((tx) => (tx.put("t", "a", "1"), tx.complete(claim, value))), REFUSED, name);
  }
  assert.equal(direct.getSync("t", "a"), null);
});

test("a request that is none, and a body that is neither text nor bytes, are not enqueued (O1)", (t) =>
  both(t, async (ledger, where) => {
    const [outbox, wishes] = [ledger.outbox(), { scope: where, operation: "o" }];
    const url = "https://bank.example/charges";
    for (const [name, value] of Object.entries({ ...NOTHING_OF_IT, "form fields": new URLSearchParams("a=1"), "a form": new FormData(), "a Blob": new Blob(["x"]) })) {
      const parts = { method: "POST", url, body: value };
      await assert.rejects(outbox.enqueue(value, wishes), REFUSED, name);
      await assert.rejects(outbox.enqueueMany([["x", wishes], [value, wishes]]), REFUSED, name);
      await assert.rejects(ledger.apply(new Batch().enqueue(outbox, value, wishes)), REFUSED, name);
      if (value == null) continue;
      await assert.rejects(outbox.enqueue(parts, wishes), REFUSED, name);
      assert.throws(() => HttpRequest.of(parts), REFUSED, name);
      assert.throws(() => DeliveryOutcome.yes(value), REFUSED, name);
    }
    await assert.rejects(ledger.apply(new Batch().enqueue(outbox, new Request(url, { method: "POST", body: "x" }), wishes)), REFUSED);
    await assert.rejects(outbox.enqueue({ method: "POST", url, body: { cents: 990 } }, wishes), /JSON\.stringify\(value\)/);
    assert.equal((await outbox.stats()).unsettled, 0);
  }));

test("an unknown entry is resolved with an answer that is one (O7)", (t) =>
  both(t, async (ledger, where) => {
    const outbox = ledger.outbox();
    const { entry } = await outbox.enqueue("x", { scope: where, operation: "o" });
    for (const one of [{ answeredYes: { a: 1 } }, { answeredNo: 5 }, { answered: "x" }, null, 5]) {
      await assert.rejects(outbox.resolve(entry.id, one, "ada", "asked"), REFUSED);
    }
  }));

test("bytes of another realm, of a Buffer and of shared memory are bytes; a fetch Request may have any body", async (t) => {
  const { direct } = across(t);
  const { seen, url } = await server(t);
  const others = { realm: vm.runInNewContext("new Uint8Array([104, 105])"), buffer: Buffer.from("hi"), shared: new Uint8Array(new SharedArrayBuffer(2)).fill(104) };
  for (const [key, value] of Object.entries(others)) {
    const told = await direct.run(charge, "t", key, unchecked(), () => value);
    assert.deepEqual([told.mediaType, told.body.length, direct.lookupSync(charge, "t", key).body.length], ["application/octet-stream", 2, 2]);
  }
  const outbox = direct.outbox();
  await outbox.enqueue(new Request(url, { method: "POST", body: new URLSearchParams("a=1") }), { scope: "u", operation: "o" });
  await outbox.drain("u", new FetchTransport());
  assert.equal(seen[0].body, "a=1");
});

test("a JSON answer is of a value that JSON has words for", () => {
  for (const value of [undefined, () => 1, Symbol("s")]) assert.throws(() => StoredResponse.json(value), REFUSED);
  assert.equal(StoredResponse.json(null).text(), "null");
});

test("a media type that is no value of a field is stored, and left out of the answer over HTTP: nothing runs again (S4)", async (t) => {
  const { direct } = across(t);
  for (const mediaType of ["text/plain\r\nset-cookie: a=b", "", "a\0b", "\u20ac"]) {
    const told = await direct.run(once, "t", `media ${mediaType.length}`, unchecked(), () => new StoredResponse(mediaType, "paid"));
    assert.equal(told.mediaType, mediaType);
    const answer = httpAnswer(await direct.lookup(once, "t", `media ${mediaType.length}`));
    assert.deepEqual([answer.status, answer.headers.get("set-cookie"), await answer.text()], [200, null, "paid"]);
  }
});
