// What cannot be meant is refused where it is said: before a key is spent, a lease is taken or another request is taken for the same.

import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { across } from "./border.mjs";
import { folder, installed, kit } from "./kit.mjs";
import { EAGER, inMemory, server } from "./outbox-kit.mjs";

const { DeliveryOutcome, FetchTransport, Fingerprint, Ledger, Operation } = kit;
const { Ledger: Threaded } = await installed("./worker");
const LIMIT = { timeout: 60_000 };
const WISHES = { scope: "user-7", operation: "charge" };
const MAIL = Operation.atMostOnce("mail");
const refused = (words) => ({ code: "invalid_argument", message: words });

test("a fingerprint of what JSON cannot hold is refused, and is not that of something else (F1)", () => {
  const cyclic = {};
  cyclic.again = cyclic;
  const strange = [new Map([["cents", 990]]), new Set([1]), /x/, new Error("x"), Promise.resolve(), new Uint8Array(2), Symbol("x"), () => 1, 1n, cyclic];
  for (const value of [...strange, new Number(NaN), Infinity, new Date(NaN)]) {
    assert.throws(() => Fingerprint.ofJson(value), refused(/JSON/), String(value?.constructor?.name));
    assert.throws(() => Fingerprint.ofJson({ inside: [value] }), refused(/JSON/), String(value?.constructor?.name));
  }
  for (const value of [undefined, [undefined]]) assert.throws(() => Fingerprint.ofJson(value), refused(/JSON/));
  const same = [
    [{ a: 1, b: undefined }, { a: 1 }],
    [{ at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
    [new Number(5), 5],
    [Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    [new (class Order { cents = 5; })(), { cents: 5 }],
    [{ toJSON: () => [1] }, [1]],
  ];
  for (const [one, other] of same) assert.equal(Fingerprint.ofJson(one).hex, Fingerprint.ofJson(other).hex);
});

test("a fingerprint's text is read to its end, however long it is; digits in a string are no number", () => {
  const long = "x\\\"1234567890123456789".repeat(500_000);
  const hex = (text) => Fingerprint.ofJsonText(text).hex;
  assert.equal(Fingerprint.ofJson({ long, 'a"b': 1e16 }).hex, hex(`{"long":${JSON.stringify(long)},"a\\"b":1e16}`));
  assert.equal(Fingerprint.ofJson(["\\", 12345678901234567000, "1234567890123456"]).hex, hex('["\\\\",12345678901234567000e0,"1234567890123456"]'));
});

test("a run that has nothing to run spends no key", async (t) => {
  const { direct, remote } = across(t);
  for (const ledger of [direct, remote]) {
    for (const handler of [undefined, null, "x", {}]) {
      await assert.rejects(ledger.run(MAIL, "s", "k", Fingerprint.unchecked(), handler), refused(/run takes what runs the operation/));
    }
    await assert.rejects(ledger.run(MAIL, "s", "k", Fingerprint.unchecked(), () => "x", { means: "not_done" }), refused(/means is a function/));
    assert.equal(await ledger.inspect({ scope: "s", operation: "mail", key: "k" }), null);
  }
});

test("what sends is a transport, a function or settings; what is none of them costs no try", LIMIT, async (t) => {
  const { seen, url } = await server(t);
  const outbox = inMemory(t, EAGER);
  const { entry } = await outbox.enqueue({ method: "POST", url }, WISHES);
  for (const transport of [null, 5, "x", { send: 5 }, { authorise: () => ({}) }]) {
    assert.throws(() => outbox.driver("user-7", transport), { code: "invalid_argument" });
    await assert.rejects(outbox.drain("user-7", transport), { code: "invalid_argument" });
  }
  const elsewhere = (await opened(t)).outbox();
  for (const box of [outbox, elsewhere]) {
    for (const options of [{ inFlight: "2" }, { inFlight: -1 }, { inFlight: NaN }, { onError: 5 }]) {
      assert.throws(() => box.driver("user-7", undefined, options), { code: "invalid_argument" });
    }
    assert.throws(() => box.driver(5), refused(/^a number, where text is expected$/));
  }
  assert.equal(outbox.get(entry.id).tries, 0);
  await outbox.drain("user-7", { timeoutMs: 5_000 });
  assert.deepEqual([outbox.get(entry.id).state, seen.length], ["answered", 1]);
  await outbox.enqueue({ method: "POST", url }, WISHES);
  assert.equal((await outbox.drain("user-7")).settled, 1, "without settings it is fetch as it stands");
});

let made = 0;
const files = folder();
async function opened(t) {
  const ledger = await Threaded.open(join(files, `${(made += 1)}.kl`));
  t.after(() => ledger.close());
  return ledger;
}

test("a number is a number, and what names something is a whole one", async (t) => {
  const ledger = Ledger.inMemorySync();
  t.after(() => ledger.close());
  const outbox = ledger.outbox();
  const { entry } = await outbox.enqueue("x", WISHES);
  for (const id of [entry.id + 0.9, String(entry.id), [entry.id], true, null, undefined, BigInt(entry.id), NaN]) {
    await assert.rejects(async () => outbox.cancel(id), { code: "invalid_argument" }, String(id));
  }
  assert.equal(outbox.get(entry.id).state, "pending");
  const { claim } = ledger.beginSync(Operation.repeatable("charge"), "s", "k", Fingerprint.unchecked());
  assert.throws(() => ledger.settleSync(claim.keyId, claim.fence + 0.5, "complete", "z"), refused(/whole number/));
  for (const ms of ["5", [5], true, new Date()]) assert.throws(() => claim.heartbeatSync(ms), refused(/where a number is expected/));
  claim.heartbeatSync();
  await assert.rejects(ledger.sweep("10"), refused(/where a number is expected/));
});

test("a drain asks for other credentials before it counts what is held (O8)", LIMIT, async (t) => {
  const { seen, url } = await server(t, [{ status: 401 }]);
  const outbox = inMemory(t, EAGER);
  let token = "old";
  const transport = new FetchTransport({ authorize: async () => ({ authorization: `Bearer ${token}` }) });
  const { entry } = await outbox.enqueue({ method: "POST", url }, WISHES);
  assert.equal((await outbox.drain("user-7", transport)).unsettled, 1);
  assert.equal((await outbox.drain("user-7", transport)).sent, 0, "they are the same");
  token = "new";
  const { sent, settled } = await outbox.drain("user-7", transport);
  assert.deepEqual([sent, settled, outbox.get(entry.id).state], [1, 1, "answered"]);
  assert.deepEqual(seen.map(({ headers }) => headers.authorization), ["Bearer old", "Bearer new"]);
  const held = await outbox.enqueue({ method: "POST", url }, WISHES);
  await outbox.drain("user-7", () => DeliveryOutcome.holdLane("signed out"));
  const silent = { send: () => assert.fail("it is sent"), hasOtherCredentials: () => new Promise(() => undefined) };
  await assert.rejects(outbox.drain("user-7", silent, { signal: AbortSignal.timeout(20) }), { name: "TimeoutError" });
  const throws = { ...silent, hasOtherCredentials: () => Promise.reject(new Error("mine")) };
  t.mock.method(console, "error", () => undefined);
  assert.equal((await outbox.drain("user-7", throws)).counts.held, 1);
  assert.equal(outbox.get(held.entry.id).tries, 0);
});

test("what names no record, is no clock, no key's rule or no JSON has a code, wherever the ledger lives", async (t) => {
  const { direct, remote } = across(t);
  for (const id of [null, undefined, 5, "s"]) {
    const words = refused(/^a record is named by \{ scope, operation, key \}; this is /);
    for (const ledger of [direct, remote]) {
      await assert.rejects(ledger.inspect(id), words);
      await assert.rejects(ledger.settle(id, 1, "release"), words);
      await assert.rejects(ledger.heartbeat(id, 1, 5), words);
      await assert.rejects(ledger.recordStep(id, 1, "x", "y"), words);
      await assert.rejects(ledger.resolve(id, 1, "not_done", "ann", "why"), words);
      await assert.rejects(ledger.forget(id), words);
    }
  }
  for (const clock of [{}, 5, { wallMs: () => 1 }]) assert.throws(() => Ledger.inMemorySync({ clock }), refused(/^a clock has wallMs/));
  assert.throws(() => kit.idempotent(() => new Response(), { ledger: direct, key: "x", effect: "repeatable", scope: () => "s" }), refused(/^key is "required"/));
  const cyclic = {};
  cyclic.again = cyclic;
  for (const value of [cyclic, 1n]) assert.throws(() => kit.StoredResponse.json(value), refused(/^JSON cannot hold it/));
});

test("a path that is a link to nothing is told as that, and at once", () => {
  const path = join(files, "link.kl");
  symlinkSync(join(files, "nothing"), path);
  const startMs = performance.now();
  assert.throws(() => Ledger.openSync(path), { code: "unavailable", message: /link\.kl is a symbolic link to a file that is not there/ });
  assert.ok(performance.now() - startMs < 1_000);
});

test("whatever else is given in the place of what is meant has a code, and changes nothing", async (t) => {
  const { direct, remote } = across(t);
  const { claim } = direct.beginSync(MAIL, "s", "k", Fingerprint.unchecked());
  const moved = new Uint8Array(8);
  structuredClone(moved.buffer, { transfer: [moved.buffer] });
  let late;
  direct.transactionSync((tx) => void (late = tx));
  const route = { ledger: direct, key: "required", effect: "repeatable", scope: () => "s" };
  const request = { method: "POST", url: "http://localhost/" };
  const calls = [
    () => claim.complete(moved),
    () => Fingerprint.ofBytes(moved),
    () => Ledger.restoreSync(moved),
    () => direct.apply(null),
    () => remote.apply({}),
    () => claim.completeBatch(null, "x"),
    () => direct.beginMany(null),
    () => remote.beginMany({}),
    () => direct.transaction(5),
    () => claim.completeWith(undefined),
    () => claim.step("a"),
    () => direct.begin(MAIL, "s", "z", Fingerprint.unchecked(), { signal: {} }),
    () => remote.begin(MAIL, "s", "z", Fingerprint.unchecked(), { signal: 5 }),
    () => Ledger.inMemory(null),
    () => kit.storedHttp(undefined),
    () => kit.httpOfStored(null),
    () => kit.httpAnswer(5),
    () => Fingerprint.ofJson({}, { leaveOut: [1] }),
    () => Fingerprint.ofJson({}, { only: "/a" }),
    () => late.get("t", "k"),
    () => direct.outbox().enqueue({ ...request, headers: { a: "b\r\nc" } }, WISHES),
    () => direct.outbox().enqueueMany(null),
    () => remote.outbox().enqueueMany(5),
    () => kit.idempotent(() => new Response(), { ...route, onError: 5 }),
    () => kit.idempotent(() => new Response(), { ...route, stream: "yes" }),
    () => kit.deriveKeyFor(null, "x"),
  ];
  for (const call of calls) {
    await assert.rejects(async () => call(), ({ name, code }) => name === "KeyledgerError" && ["invalid_argument", "wrong_format"].includes(code), String(call));
  }
  assert.ok(!claim.isSettled);
  const { inProgress, completed, parked } = direct.statsSync();
  assert.deepEqual([inProgress, completed, parked], [1, 0, 0]);
});
