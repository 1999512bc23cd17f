// The outbox over a scripted transport: drivers, waits, changes, persons' calls.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { folder, kit } from "./kit.mjs";
import { EAGER, inMemory } from "./outbox-kit.mjs";

const { DeliveryOutcome, Ledger, ManualClock, ScriptedTransport } = kit;
const WISHES = { scope: "user-7", operation: "charge" };
const { retry, yes, no } = DeliveryOutcome;
const keys = ({ sent }) => new Set(sent.map(({ key }) => key)).size;

test("what was enqueued is sent until it is answered, with one key (O2, O6)", async (t) => {
  const outbox = inMemory(t, EAGER);
  const transport = new ScriptedTransport([retry("503"), new Error("secret words"), yes("paid")]);
  const heard = t.mock.method(console, "error", () => undefined);
  const { entry, created } = await outbox.enqueue("990", { ...WISHES, purpose: "cart 42" });
  const drained = await outbox.drain("user-7", transport, { untilMs: 5000 });
  assert.ok(created);
  assert.deepEqual([drained.sent, drained.settled, drained.unsettled, drained.counts.answered], [3, 1, 0, 1]);
  assert.equal((await entry.result()).text(), "paid");
  assert.equal(keys(transport), 1);
  assert.equal(heard.mock.callCount(), 1);
  const { errors } = outbox.get(entry.id);
  assert.deepEqual(errors.map(({ error }) => error), ["503", "the transport threw Error"]);
});

test("the same purpose finds the same entry, and another request for it is a conflict that has the entry (O3)", async (t) => {
  const outbox = inMemory(t);
  const wishes = { ...WISHES, purpose: "cart 42" };
  const { entry } = await outbox.enqueue("990", wishes);
  const again = outbox.enqueueSync("990", wishes);
  assert.deepEqual([again.created, again.entry.id], [false, entry.id]);
  await assert.rejects(outbox.enqueue("991", wishes), (error) => error.code === "purpose_conflict" && error.entry.id === entry.id);
  assert.throws(() => outbox.enqueueSync("991", { ...WISHES, key: entry.key }), { code: "key_conflict" });
  assert.equal(outbox.find("user-7", "cart 42").id, entry.id);
});

test("calls at once and calls of one turn answer the same, and many share one commit (O1)", async (t) => {
  const outbox = inMemory(t);
  const many = [1, 2, 3].map((number) => [`${number}`, { ...WISHES, purpose: `p${number}` }]);
  assert.deepEqual((await outbox.enqueueMany(many)).map(({ created }) => created), [true, true, true]);
  assert.deepEqual(outbox.enqueueManySync(many).map(({ created }) => created), [false, false, false]);
  const [first] = outbox.leaseDueSync("user-7", 1);
  const rest = await outbox.leaseDue("user-7");
  assert.deepEqual([first, ...rest].map(({ request }) => String.fromCharCode(...request)), ["1", "2", "3"]);
  first.settleSync(yes("one"));
  assert.throws(() => first.settleSync(yes("one")), { code: "claim_settled" });
  const turn = await outbox.settleAndLease(rest.map((delivery) => delivery.report(no("late"))), "user-7");
  assert.deepEqual(turn, { settled: [null, null], deliveries: [] });
  assert.equal(outbox.stats().counts.answered, 3);
});

test("a call at once from inside a transaction is told reentrant, and nothing of it is stored (G2)", async (t) => {
  const ledger = Ledger.inMemorySync();
  t.after(() => ledger.close());
  const outbox = ledger.outbox();
  await ledger.transaction((tx) => {
    assert.throws(() => outbox.enqueueSync("x", WISHES), { code: "reentrant" });
    tx.enqueue(outbox, "y", WISHES);
  });
  assert.equal(outbox.stats().unsettled, 1);
  assert.equal(ledger.outbox().get(1)?.operation ?? [...outbox.listSync()][0].operation, "charge");
});

test("a started driver sends what comes later, wakes by itself for a retry, and stops when it is told (O11)", async (t) => {
  const outbox = inMemory(t, { backoff: { baseMs: 30, capMs: 30, multiplier: 1 } });
  const transport = new ScriptedTransport([retry("busy"), yes("done")]);
  const driver = outbox.driver("user-7", transport).start();
  await after(10);
  const { entry } = await outbox.enqueue("x", WISHES);
  assert.equal((await entry.result({ timeoutMs: 5000 })).text(), "done");
  assert.equal(transport.sent.length, 2);
  await driver.stop();
  assert.equal(driver.isRunning, false);
  await outbox.enqueue("y", WISHES);
  await after(20);
  assert.equal(transport.sent.length, 2);
});

test("a driver that is stopped waits for what is in flight, and ends by itself when the ledger is closed", async (t) => {
  const ledger = Ledger.inMemorySync();
  const outbox = ledger.outbox();
  const transport = new ScriptedTransport([() => after(60, yes("slow"))]);
  await outbox.enqueue("x", WISHES);
  const driver = outbox.driver("user-7", transport).start();
  while (transport.sent.length === 0) await after(1);
  await driver.stop();
  assert.equal(outbox.stats().counts.answered, 1);
  driver.start();
  await after(5);
  await ledger.close();
  while (driver.isRunning) await after(1);
  await assert.rejects(driver.stop(), { code: "closed" });
});

test("a driver that is stopped waits only as long as it is told: what is in flight is a try that may have taken effect, and is sent again (O6)", async (t) => {
  const outbox = inMemory(t, { backoff: { baseMs: 0, capMs: 0, multiplier: 1 } });
  const { entry } = await outbox.enqueue("x", WISHES);
  for (const options of [{ timeoutMs: 20 }, { signal: AbortSignal.abort() }, { signal: AbortSignal.timeout(20) }, { timeoutMs: 0 }]) {
    const signals = [];
    const driver = outbox.driver("user-7", ({ signal }) => (signals.push(signal), new Promise(() => {}))).start();
    while (signals.length === 0) await after(1);
    await driver.stop(options);
    const { state, mayHaveTakenEffect, errors } = outbox.get(entry.id);
    assert.deepEqual([state, mayHaveTakenEffect, errors.at(-1).error], ["pending", true, "given up when the driver was stopped"]);
    assert.deepEqual([signals.length, signals[0].aborted, driver.isRunning], [1, true, false]);
  }
  const driver = outbox.driver("user-7", () => yes("done")).start();
  assert.equal((await entry.result()).text(), "done");
  await driver.stop({ timeoutMs: 1000 });
});

test("a drain is ended by its signal, and by what its progress throws, after what is in flight", async (t) => {
  const outbox = inMemory(t);
  for (const one of ["a", "b", "c"]) await outbox.enqueue(one, WISHES);
  const controller = new AbortController();
  const slow = new ScriptedTransport([() => (controller.abort(), after(30, yes("slow")))]);
  const drained = outbox.drain("user-7", slow, { signal: controller.signal, inFlight: 1 });
  await assert.rejects(drained, { name: "AbortError" });
  assert.deepEqual([slow.sent.length, outbox.stats().counts.answered], [1, 1]);
  const own = new Error("mine");
  const onProgress = ({ sent }) => {
    if (sent > 0) throw own;
  };
  const broken = outbox.drain("user-7", new ScriptedTransport(), { onProgress, inFlight: 1 });
  await assert.rejects(broken, (error) => error === own);
  assert.equal(outbox.stats().counts.answered, 2);
});

test("whoever is online again looks at once, though its timers slept (O11)", async (t) => {
  const events = new EventTarget();
  const platform = {
    navigator: { onLine: true },
    addEventListener: (name, listener) => events.addEventListener(name, listener),
    removeEventListener: (name, listener) => events.removeEventListener(name, listener),
  };
  for (const [name, value] of Object.entries(platform)) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true });
    t.after(() => (before ? Object.defineProperty(globalThis, name, before) : delete globalThis[name]));
  }
  const clock = new ManualClock(1_000_000_000_000);
  clock.sleepMs = () => 1e9;
  const outbox = inMemory(t, { backoff: { baseMs: 1000, capMs: 1000, multiplier: 1 } }, { clock });
  const transport = new ScriptedTransport([retry("busy"), yes("done")]);
  await outbox.enqueue("x", WISHES);
  const driver = outbox.driver("user-7", transport).start();
  while (outbox.stats().counts.pending === 0 || transport.sent.length === 0) await after(1);
  clock.advance(1000);
  await after(30);
  assert.equal(transport.sent.length, 1);
  events.dispatchEvent(new Event("online"));
  assert.equal((await outbox.result(1, { timeoutMs: 5000 })).text(), "done");
  await driver.stop();
  events.dispatchEvent(new Event("online"));
  assert.equal(driver.isRunning, false);
});

test("a tick sends what is due, and says when to come again (O11)", async (t) => {
  const clock = new ManualClock(1_000_000_000_000);
  const outbox = inMemory(t, { backoff: { baseMs: 1000, capMs: 1000, multiplier: 1 } }, { clock });
  const driver = outbox.driver("user-7", new ScriptedTransport([retry("busy")]));
  await outbox.enqueue("x", WISHES);
  const next = await driver.tick();
  assert.ok(next > clock.wallMs() && next <= clock.wallMs() + 1000);
  clock.advance(1000);
  assert.equal(await driver.tick(), null);
  assert.equal(outbox.stats().counts.answered, 1);
});

test("a held lane goes on when the transport has other credentials, also when it needs time to know (O8)", async (t) => {
  const outbox = inMemory(t);
  const script = new ScriptedTransport([DeliveryOutcome.holdLane("401"), yes("done")]);
  let asked = 0;
  const hasOtherCredentials = async () => (await after(5), ++asked > 0);
  const { entry } = await outbox.enqueue("x", WISHES);
  const transport = { send: (delivery) => script.send(delivery), hasOtherCredentials };
  const driver = outbox.driver("user-7", transport).start();
  assert.equal((await outbox.wait(entry.id, { timeoutMs: 9000 })).state, "answered");
  assert.equal(asked, 1);
  await driver.stop();
});

test("a result says how an entry stands that has no yes, and has the entry", async (t) => {
  const outbox = inMemory(t, EAGER);
  const fates = { answered_no: no("card refused"), entry_dead: DeliveryOutcome.dead("no such"), entry_held: DeliveryOutcome.holdEntry("403"), entry_unknown: DeliveryOutcome.unknown("who knows") };
  for (const [code, outcome] of Object.entries(fates)) {
    const { entry } = await outbox.enqueue(code, WISHES);
    await assert.rejects(entry.result({ timeoutMs: 1 }), { code: "no_result_yet" });
    await outbox.drain("user-7", () => outcome);
    await assert.rejects(entry.result(), (error) => error.code === code && error.entry.id === entry.id);
  }
  const [refused] = outbox.listSync({ state: "answered" });
  await assert.rejects(refused.result(), (error) => error.response.text() === "card refused");
  const { entry } = await outbox.enqueue("back", WISHES);
  assert.ok((await outbox.cancel(entry.id)).isCancelled);
  await assert.rejects(entry.result(), { code: "entry_cancelled" });
  await assert.rejects(outbox.result(4711), { code: "not_found" });
});

test("persons decide: dismiss, requeue, resume, resolve, resend (O3, O7, O8, O10)", async (t) => {
  const outbox = inMemory(t);
  const left = async (outcome) => {
    const { entry } = await outbox.enqueue("x", WISHES);
    await outbox.drain("user-7", () => outcome);
    return entry.id;
  };
  const dead = await left(DeliveryOutcome.dead("no"));
  assert.equal((await outbox.requeue(dead)).state, "pending");
  await outbox.drain("user-7", () => DeliveryOutcome.dead("no"));
  assert.equal((await outbox.dismiss(dead, "ann", "seen")).audit[0].who, "ann");
  const held = await left(DeliveryOutcome.holdEntry("403"));
  assert.equal(outbox.resumeEntrySync(held).state, "pending");
  assert.equal((await outbox.cancel(held)).isCancelled, true);
  const lane = await left(DeliveryOutcome.holdLane("401"));
  assert.deepEqual(await outbox.resume("user-7"), { lanes: 1, entries: 1 });
  assert.equal(outbox.cancelSync(lane).isCancelled, true);
  const unknown = await left(DeliveryOutcome.unknown("who knows"));
  const told = await outbox.resolve(unknown, { answeredYes: "it was done" }, "ann", "looked it up");
  assert.deepEqual([told.state, told.isYes, told.response.text()], ["answered", true, "it was done"]);
  assert.throws(() => outbox.requeueSync(unknown), { code: "wrong_state" });
});

test("changes tell every entry that changes, and end by their signal; those of one entry end when it is settled (O13)", async (t) => {
  const outbox = inMemory(t);
  const { entry } = await outbox.enqueue("x", WISHES);
  const states = [];
  const listening = (async () => {
    for await (const now of outbox.changesOf(entry.id)) states.push(now.state);
  })();
  const controller = new AbortController();
  const told = [];
  const all = (async () => {
    for await (const now of outbox.changes({ signal: controller.signal })) told.push(now.state);
  })();
  await after(5);
  await outbox.drain("user-7", () => after(20, yes("done")));
  await listening;
  assert.deepEqual(states, ["pending", "sending", "answered"]);
  controller.abort();
  await assert.rejects(all, { name: "AbortError" });
  assert.deepEqual(told, states);
});

test("what a predicate throws ends the wait, and a signal ends it at once", async (t) => {
  const outbox = inMemory(t);
  const { entry } = await outbox.enqueue("x", WISHES);
  const own = new Error("mine");
  const asks = () => {
    throw own;
  };
  await assert.rejects(outbox.waitUntil(entry.id, asks), (error) => error === own);
  await assert.rejects(entry.result({ signal: AbortSignal.timeout(10) }), { name: "TimeoutError" });
});

test("a result is told to a later process (O13)", async () => {
  const path = join(folder(), "later.kl");
  const first = await Ledger.open(path);
  const { entry } = await first.outbox().enqueue("x", WISHES);
  await first.outbox().drain("user-7", new ScriptedTransport([yes("paid")]));
  await first.close();
  const second = await Ledger.open(path);
  assert.equal((await second.outbox().get(entry.id).result()).text(), "paid");
  await second.close();
});

test("thousands of waits that were given up leave nothing behind: the process ends at once (P4)", async () => {
  const waiter = fileURLToPath(new URL("outbox-waiter.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", waiter], { timeout: 60_000 });
  const { timers, grownBytes } = JSON.parse(stdout);
  assert.equal(timers, 0);
  assert.ok(grownBytes <= 128 * 1024, `${grownBytes} bytes more`);
});
