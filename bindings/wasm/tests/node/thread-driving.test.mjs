// What a driver and a drain tell while they work, where a thread of its own has the ledger: it comes over the border.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { across, part } from "./border.mjs";
import { folder, installed, kit } from "./kit.mjs";
import { EAGER, inMemory, server } from "./outbox-kit.mjs";

const { FetchTransport, Ledger: Threaded } = await installed("./worker");
const { Calls } = await part("browser/calls");
const { KeyledgerError } = kit;
const LIMIT = { timeout: 60_000 };
const WISHES = { scope: "user-7", operation: "charge" };
const DEAD = "no request over HTTP: dead at its first try";
const files = folder();
let made = 0;

async function opened(t, settings) {
  const ledger = await Threaded.open(join(files, `${(made += 1)}.kl`));
  t.after(() => ledger.close());
  return ledger.outbox(settings);
}

const posted = (outbox, url, bodies) => outbox.enqueueMany(bodies.map((body) => [{ method: "POST", url, body }, WISHES]));

test("a drain tells how far it is, at the beginning and as it goes, as that of a ledger of this thread does (O11)", LIMIT, async (t) => {
  const { url } = await server(t, [{ status: 503 }]);
  const told = [];
  for (const outbox of [await opened(t, EAGER), inMemory(t, EAGER)]) {
    await posted(outbox, url, ["a", "b", "c"]);
    const steps = [];
    const drained = await outbox.drain("user-7", new FetchTransport(), { untilMs: 5_000, inFlight: 1, onProgress: (progress) => steps.push(progress) });
    assert.equal(drained.settled, 3);
    assert.deepEqual([steps[0], steps.at(-1)], [{ sent: 0, settled: 0, remaining: 3 }, { sent: drained.sent, settled: 3, remaining: 0 }]);
    told.push(steps.map(({ settled }) => settled).filter((settled, at, all) => settled !== all[at - 1]));
  }
  assert.deepEqual(told[0], told[1]);
});

test("a drain is ended by its signal, and by what its progress throws, after what is in flight", LIMIT, async (t) => {
  const controller = new AbortController();
  const { seen, made: http, url } = await server(t);
  http.removeAllListeners("request");
  http.on("request", async (request, response) => {
    seen.push(request);
    controller.abort(new Error("enough"));
    await after(50);
    response.end();
  });
  const outbox = await opened(t);
  await posted(outbox, url, ["a", "b", "c"]);
  const answered = async () => (await outbox.stats()).counts.answered;
  await assert.rejects(outbox.drain("user-7", {}, { signal: controller.signal, inFlight: 1 }), { message: "enough" });
  assert.deepEqual([seen.length, await answered()], [1, 1]);
  const own = new KeyledgerError("unavailable", "mine");
  const told = [];
  const onProgress = (progress) => {
    told.push(progress);
    if (progress.sent > 0) throw own;
  };
  await assert.rejects(outbox.driver("user-7", {}, { inFlight: 1 }).drain({ onProgress }), (error) => error === own);
  assert.deepEqual([seen.length, await answered(), told.at(-1).sent], [2, 2, 1]);
  const beginning = () => {
    throw own;
  };
  await assert.rejects(outbox.driver("user-7").tick({ onProgress: beginning }), (error) => error === own);
});

/** A suspended ledger is resumed when that `hasFailed`: every call of the outbox fails until then, and is made again. */
async function resumed(direct, hasFailed) {
  while (!hasFailed()) await after(1);
  await direct.resume();
}

test("what fails and is done again later is told to all that want the driver, as errors of here; what they throw is nobody's", LIMIT, async (t) => {
  const { direct, remote } = across(t);
  const [outbox, told] = [remote.outbox(), { one: [], two: [], here: [], drain: [] }];
  t.mock.method(console, "error", () => undefined);
  const hears = (name) => (error) => {
    told[name].push(error);
    throw new Error("nobody's");
  };
  const breaks = (name) => async (error) => hears(name)(error);
  const one = outbox.driver("user-7", {}, { onError: hears("one") }).start();
  const two = outbox.driver("user-7", {}, { onError: breaks("two") }).start();
  const here = direct.outbox().driver("user-7", () => assert.fail("it is sent"), { onError: breaks("here") }).start();
  const silent = outbox.driver("user-7").start();
  await outbox.stats();
  direct.suspend();
  await resumed(direct, () => told.one.length > 0 && told.two.length > 0 && told.here.length > 0);
  await here.stop();
  assert.ok(told.one[0] instanceof KeyledgerError);
  assert.deepEqual([told.one[0].code, told.two[0].code], ["suspended", "suspended"]);
  const { entry } = await outbox.enqueue(DEAD, WISHES);
  assert.equal((await outbox.wait(entry.id)).state, "dead");
  assert.ok(one.isRunning && two.isRunning);
  await Promise.all([one.stop(), two.stop(), silent.stop()]);
  const { url } = await server(t, [() => (direct.suspend(), { status: 200 })]);
  await posted(outbox, url, ["while it was sent, the ledger was suspended"]);
  const drained = outbox.drain("user-7", {}, { untilMs: 5_000, onError: hears("drain") });
  await resumed(direct, () => told.drain.length > 0);
  assert.deepEqual([(await drained).settled, told.drain[0].code], [1, "suspended"]);
});

test("what fails where nobody hears it is on the console, in the same words, wherever the ledger lives", LIMIT, async (t) => {
  const { direct, remote } = across(t);
  const { mock } = t.mock.method(console, "error", () => undefined);
  const words = [];
  for (const outbox of [remote.outbox(), direct.outbox()]) {
    mock.resetCalls();
    const driver = outbox.driver("user-7", new FetchTransport()).start();
    await remote.stats();
    direct.suspend();
    await resumed(direct, () => mock.callCount() > 0);
    const [said, error] = mock.calls[0].arguments;
    words.push(said);
    assert.equal(error.code, "suspended");
    await driver.stop();
  }
  assert.deepEqual(words, Array(2).fill("keyledger: a call of the outbox failed, and is made again later"));
});

test("a drain that is ended while nobody leads, or after who led was lost, is asked no more, and ends here", LIMIT, async () => {
  for (const goes of ["leave", "follow"]) {
    const [asked, told] = [[], []];
    const calls = new Calls((to) => asked.push(to), (id, outcome) => told.push([id, outcome.error.name]));
    calls.follow("a");
    calls.ask(1, { method: "outbox.drain", words: [] });
    assert.equal(calls.cancel(1), "a");
    calls[goes](goes === "leave" ? "a" : "b");
    calls.follow("b");
    calls.leave("b");
    calls.ask(2, { method: "outbox.drain", words: [] });
    assert.equal(calls.cancel(2), null);
    assert.deepEqual([asked, told], [["a"], [[1, "AbortError"], [2, "AbortError"]]]);
  }
});

test("a stop waits only as long as it is told, and then what is in flight is cut off and sent again later (O6)", LIMIT, async (t) => {
  const { seen, url } = await server(t, ["silence", "silence", "silence", { status: 201 }]);
  const outbox = await opened(t, EAGER);
  const [{ entry }] = await posted(outbox, url, ["a"]);
  for (const [at, options] of [{ timeoutMs: 20 }, { signal: AbortSignal.abort() }, { signal: AbortSignal.timeout(20) }].entries()) {
    const driver = outbox.driver("user-7").start();
    while (seen.length <= at) await after(1);
    const startMs = performance.now();
    await driver.stop(options);
    assert.ok(performance.now() - startMs < 5_000);
    const { state, mayHaveTakenEffect } = await outbox.get(entry.id);
    assert.deepEqual([state, mayHaveTakenEffect], ["pending", true]);
  }
  const driver = outbox.driver("user-7").start();
  assert.equal((await entry.result()).mediaType, "application/http");
  await driver.stop({ timeoutMs: 10_000 });
  assert.equal(new Set(seen.map(({ headers }) => headers["idempotency-key"])).size, 1);
});
