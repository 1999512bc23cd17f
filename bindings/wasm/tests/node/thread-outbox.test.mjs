// The outbox of a ledger that a thread of its own has: every call of it goes over the border.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { folder, installed, kit, scratch } from "./kit.mjs";
import { EAGER, keyOf, server } from "./outbox-kit.mjs";

const { FetchTransport, Ledger: Threaded } = await installed("./worker");
const { Fingerprint, HttpRequest, StoredResponse } = kit;
const LIMIT = { timeout: 60_000 };
const WISHES = { scope: "user-7", operation: "charge" };
const DEAD = "no request over HTTP: dead at its first try";
let made = 0;
const files = folder();
const place = () => join(files, `${(made += 1)}.kl`);

async function opened(t, settings, path = place()) {
  const ledger = await Threaded.open(path);
  t.after(() => ledger.close());
  return ledger.outbox(settings);
}

const post = (url, body = "{}") => new Request(url, { method: "POST", body });
const idsOf = async (listing) => {
  const ids = [];
  for await (const { id } of listing) ids.push(id);
  return ids;
};

test("what is enqueued there is sent from there until it is answered, with one key; the answer is told here (O1, O2)", LIMIT, async (t) => {
  const { seen, url } = await server(t, [{ status: 503 }, "cut", { status: 201, headers: { "x-charge": "9" }, body: "paid" }]);
  const outbox = await opened(t, EAGER);
  const { entry, created } = await outbox.enqueue(post(url, '{"cents":990}'), { ...WISHES, purpose: "cart 42" });
  assert.ok(created && entry.state === "pending" && /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(entry.key));
  const driver = outbox.driver("user-7", new FetchTransport()).start();
  const answer = kit.httpAnswer(await entry.result({ timeoutMs: 30_000 }));
  assert.deepEqual([answer.status, answer.headers.get("x-charge"), await answer.text()], [201, "9", "paid"]);
  assert.deepEqual(seen.map((one) => [keyOf(one), one.body]), Array(3).fill([`"${entry.key}"`, '{"cents":990}']));
  const now = await outbox.get(entry.id);
  assert.deepEqual([now.state, now.isYes, now.httpAnswer.status, now.tries], ["answered", true, 201, 3]);
  assert.ok(driver.isRunning);
  await driver.stop();
});

test("a purpose and a key find the entry again; a conflict is told by its code and has the entry (O3)", LIMIT, async (t) => {
  const outbox = await opened(t);
  const wishes = { ...WISHES, purpose: "cart 42" };
  const { entry } = await outbox.enqueue("990", wishes);
  const again = await outbox.enqueue("990", wishes);
  assert.deepEqual([again.created, again.entry.id], [false, entry.id]);
  const conflict = (code) => (error) => error instanceof kit.KeyledgerError && error.code === code && error.entry.id === entry.id;
  await assert.rejects(outbox.enqueue("991", wishes), conflict("purpose_conflict"));
  await assert.rejects(outbox.enqueue("991", { ...WISHES, key: entry.key }), conflict("key_conflict"));
  assert.equal((await outbox.enqueue("991", { ...wishes, fingerprint: Fingerprint.unchecked() })).entry.id, entry.id);
  assert.equal((await outbox.enqueue("1", { ...WISHES, key: "k", fingerprint: Fingerprint.ofJson({ a: 1 }) })).created, true);
  assert.equal((await outbox.enqueue("2", { ...WISHES, key: "k", fingerprint: Fingerprint.ofJson({ a: 1 }) })).created, false);
  assert.equal((await outbox.find("user-7", "cart 42")).id, entry.id);
  assert.equal(await outbox.find("user-7", "cart 43"), null);
  const many = ["a", "b", "a"].map((purpose) => [purpose, { ...WISHES, purpose }]);
  assert.deepEqual((await outbox.enqueueMany(many)).map(({ created }) => created), [true, true, false]);
  await assert.rejects(outbox.enqueueMany([["c", WISHES], ["d", { ...WISHES, lane: "nowhere" }]]), { code: "invalid_argument" });
});

test("entries, their requests and how it all stands can be looked at", LIMIT, async (t) => {
  const outbox = await opened(t, { lanes: [{ name: "mail", isOrdered: true }] });
  const sent = HttpRequest.of({ method: "POST", url: "http://127.0.0.1:1/a", body: "body" });
  const { entry } = await outbox.enqueue(sent, WISHES);
  const [mediaType, bytes] = await outbox.request(entry.id);
  assert.deepEqual([mediaType, Buffer.from(bytes)], ["application/http", Buffer.from(sent.bytes)]);
  const mail = (await outbox.enqueue("x", { ...WISHES, lane: "mail", mediaType: "text/mail" })).entry;
  assert.equal((await outbox.request(mail.id))[0], "text/mail");
  assert.deepEqual([await outbox.get(4711), await outbox.request(4711)], [null, null]);
  assert.deepEqual(await idsOf(outbox.list({ pageSize: 1 })), [entry.id, mail.id]);
  assert.deepEqual(await idsOf(outbox.list({ lane: "mail" })), [mail.id]);
  const { unsettled, counts } = await outbox.stats();
  assert.deepEqual([unsettled, counts.pending], [2, 2]);
  assert.ok((await outbox.nextWakeup("user-7")) <= Date.now());
  assert.equal(await outbox.nextWakeup("user-8"), null);
});

test("a wait ends when the entry is settled, when it is enough, when the time is up, and by its signal (O13)", LIMIT, async (t) => {
  const { url } = await server(t, [() => ({ status: 200 })]);
  const outbox = await opened(t);
  const { entry } = await outbox.enqueue(post(url), WISHES);
  assert.equal((await outbox.wait(entry.id, { timeoutMs: 10 })).state, "pending");
  assert.equal((await outbox.wait(entry.id, { timeoutMs: 0 })).state, "pending");
  await assert.rejects(entry.result({ timeoutMs: 1 }), { code: "no_result_yet" });
  await assert.rejects(entry.result({ signal: AbortSignal.timeout(10) }), { name: "TimeoutError" });
  await assert.rejects(outbox.wait(entry.id, { signal: AbortSignal.abort(new Error("mine")) }), { message: "mine" });
  await assert.rejects(outbox.wait(4711), { code: "not_found" });
  const own = new Error("mine");
  const asks = () => {
    throw own;
  };
  await assert.rejects(outbox.waitUntil(entry.id, asks), (error) => error === own);
  const sending = outbox.waitUntil(entry.id, ({ state }) => state !== "pending");
  const drained = await outbox.drain("user-7");
  assert.deepEqual([drained.sent, drained.settled, drained.unsettled, drained.counts.answered], [1, 1, 0, 1]);
  assert.notEqual((await sending).state, "pending");
  assert.equal((await outbox.wait(entry.id)).state, "answered");
  await assert.rejects(outbox.drain("user-7", {}, { signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("a result says how an entry stands that has no yes, and has the entry (O8, O9)", LIMIT, async (t) => {
  const replies = [{ status: 422, body: "card refused" }, { status: 403 }, "cut", { status: 400 }];
  const { url } = await server(t, replies);
  const outbox = await opened(t, EAGER);
  for (const [code, request] of [["answered_no"], ["entry_held"], ["entry_unknown"], ["entry_dead", DEAD]]) {
    const { entry } = await outbox.enqueue(request ?? post(url), WISHES);
    await outbox.drain("user-7", {}, { untilMs: 1000 });
    await assert.rejects(entry.result(), (error) => error.code === code && error.entry.id === entry.id);
  }
  const refused = await outbox.get((await idsOf(outbox.list({ state: "answered" })))[0]);
  const saysWhy = async (error) => (await kit.httpAnswer(error.response).text()) === "card refused" && error.response instanceof StoredResponse;
  await refused.result().then(assert.fail, async (error) => assert.ok(await saysWhy(error)));
});

test("persons decide: cancel, dismiss, requeue, resume, resolve, resend (O3, O7, O8, O10)", LIMIT, async (t) => {
  const { url } = await server(t, [{ status: 403 }, { status: 401 }, "cut", { status: 400 }, "cut", { status: 400 }]);
  const outbox = await opened(t, EAGER);
  const left = async (request = post(url)) => {
    const { entry } = await outbox.enqueue(request, WISHES);
    await outbox.drain("user-7", {}, { untilMs: 1000 });
    return entry.id;
  };
  const dead = await left(DEAD);
  assert.equal((await outbox.requeue(dead)).state, "pending");
  await outbox.drain("user-7");
  assert.deepEqual((await outbox.dismiss(dead, "ann", "seen")).audit.map(({ who, note }) => [who, note]), [["ann", "seen"]]);
  await assert.rejects(outbox.dismiss(dead, "", "seen"), { code: "invalid_argument" });
  const held = await left();
  assert.equal((await outbox.resumeEntry(held)).state, "pending");
  await assert.rejects(outbox.resumeEntry(held), { code: "wrong_state" });
  assert.deepEqual([(await outbox.cancel(held)).isCancelled, (await outbox.cancel(held)).entry.state], [true, "cancelled"]);
  const lane = await left();
  assert.deepEqual(await outbox.resume("user-7"), { lanes: 1, entries: 1 });
  assert.equal((await outbox.cancel(lane)).isCancelled, true);
  const [known, lost] = [await left(), await left()];
  const told = await outbox.resolve(known, { answeredYes: "it was done" }, "ann", "looked it up");
  assert.deepEqual([told.state, told.isYes, told.response.text()], ["answered", true, "it was done"]);
  await assert.rejects(outbox.requeue(known), { code: "wrong_state" });
  const successor = await outbox.resolve(lost, "resend", "ann", "never came");
  assert.notEqual(successor.key, (await outbox.get(lost)).key);
  assert.equal((await outbox.get(lost)).successor, successor.id);
});

test("changes are told here, and end by their signal; those of one entry end when it is settled (O13)", LIMIT, async (t) => {
  const { url } = await server(t, [{ status: 200 }]);
  const outbox = await opened(t);
  const { entry } = await outbox.enqueue(post(url), WISHES);
  const [states, told, controller] = [[], [], new AbortController()];
  const listening = (async () => {
    for await (const now of outbox.changesOf(entry.id)) states.push(now.state);
  })();
  const all = (async () => {
    for await (const now of outbox.changes({ signal: controller.signal })) told.push(now.state);
  })();
  await outbox.wait(entry.id, { timeoutMs: 10 });
  await outbox.drain("user-7");
  await listening;
  assert.deepEqual([states[0], states.at(-1), told[0]], ["pending", "answered", "pending"]);
  while (told.at(-1) !== "answered") await after(1);
  controller.abort();
  await assert.rejects(all, { name: "AbortError" });
  const { lastChange } = await outbox.stats();
  for await (const { change } of outbox.changes({ after: lastChange - 1 })) {
    assert.equal(change, lastChange);
    break;
  }
});

test("what sends is told by data: save for authorize a function cannot cross the border, and that is said at once", LIMIT, async (t) => {
  const outbox = await opened(t);
  const refused = (name) => ({ code: "invalid_argument", message: new RegExp(`^${name} cannot go to the thread that has the ledger; .*keyledger/worker`) });
  assert.throws(() => outbox.driver("s", () => kit.DeliveryOutcome.yes("")), refused("a transport of your own"));
  assert.throws(() => outbox.driver("s", new kit.ScriptedTransport([])), refused("a transport of your own"));
  for (const [name, given] of Object.entries({ identity: () => "", classify: () => {}, fetch, signal: AbortSignal.timeout(1) })) {
    assert.throws(() => outbox.driver("s", new FetchTransport({ [name]: given })), refused(name));
    assert.throws(() => outbox.driver("s", { [name]: given }), refused(name));
  }
});

test("settings and a transport's settings go over as they are; what is wrong with them each call says", LIMIT, async (t) => {
  const { seen, url } = await server(t, [{ status: 200 }]);
  const outbox = await opened(t);
  await outbox.enqueue(post(url), { ...WISHES, key: "k" });
  await outbox.drain("user-7", { keyField: { name: "X-Key", isQuoted: false } });
  assert.equal(seen[0].headers["x-key"], "k");
  const wrong = await opened(t, { lanes: [{ name: "", isOrdered: true }] });
  await assert.rejects(wrong.stats(), { code: "invalid_key" });
  await assert.rejects(outbox.enqueue({ method: "POST", url, headers: { authorization: "Bearer x" } }, WISHES), { code: "invalid_argument" });
  const lane = await opened(t, { maxTries: 1e12 });
  const driver = lane.driver("").start();
  while (driver.isRunning) await after(1);
  await assert.rejects(driver.stop(), { code: "invalid_key" });
});

test("a scope has one driver, however many want it; it stops with the last one, after what is in flight", LIMIT, async (t) => {
  let [under, most] = [0, 0];
  const { seen, made: http, url } = await server(t);
  http.removeAllListeners("request");
  http.on("request", async (request, response) => {
    most = Math.max(most, (under += 1));
    seen.push(request.headers["idempotency-key"]);
    await after(20);
    under -= 1;
    response.end();
  });
  const outbox = await opened(t);
  for (let at = 0; at < 10; at += 1) await outbox.enqueue(post(url), WISHES);
  const [one, two] = [outbox.driver("user-7", {}, { inFlight: 1 }).start(), outbox.driver("user-7", {}, { inFlight: 1 }).start()];
  while (seen.length < 3) await after(1);
  await one.stop();
  const then = seen.length;
  while (seen.length < then + 2) await after(1);
  await two.stop();
  assert.deepEqual([under, most, new Set(seen).size], [0, 1, seen.length]);
  assert.equal((await outbox.stats()).counts.answered, seen.length);
  await after(50);
  assert.equal((await outbox.stats()).counts.answered, seen.length);
});

test("a ledger that is closed cuts off what is in flight: the next one sends it at once, with its key (O6)", LIMIT, async (t) => {
  const { seen, url } = await server(t, ["silence", { status: 200 }]);
  const path = place();
  const ledger = await Threaded.open(path);
  const outbox = ledger.outbox(EAGER);
  const { entry } = await outbox.enqueue(post(url), WISHES);
  const driver = outbox.driver("user-7").start();
  while (seen.length === 0) await after(1);
  const startMs = performance.now();
  await ledger.close();
  assert.ok(performance.now() - startMs < 5_000);
  await assert.rejects(driver.stop(), { code: "closed" });
  assert.equal(driver.isRunning, false);
  const again = await opened(t, EAGER, path);
  const left = await again.get(entry.id);
  assert.deepEqual([left.state, left.mayHaveTakenEffect], ["pending", true]);
  await again.drain("user-7", {}, { untilMs: 1000 });
  assert.deepEqual(seen.map(keyOf), Array(2).fill(`"${entry.key}"`));
  assert.equal((await again.get(entry.id)).state, "answered");
});

test("what a process that was killed had in flight does not wait for the end of its lease: it goes out again, with its key (O5, O9)", LIMIT, async (t) => {
  const { seen, url } = await server(t, ["silence", { status: 200 }]);
  const path = place();
  const lines = `
    import { Ledger } from "keyledger/worker";
    const outbox = (await Ledger.open(${JSON.stringify(path)})).outbox();
    await outbox.enqueue({ method: "POST", url: ${JSON.stringify(url)} }, ${JSON.stringify(WISHES)});
    outbox.driver("user-7").start();`;
  const sender = spawn(process.execPath, ["--input-type=module", "-e", lines], { cwd: scratch });
  while (seen.length === 0) await after(1);
  sender.kill("SIGKILL");
  await once(sender, "exit");
  const outbox = await opened(t, EAGER, path);
  const [{ sent, counts }, entry] = [await outbox.drain("user-7", {}, { untilMs: 5_000 }), await outbox.get(1)];
  assert.deepEqual([sent, counts.answered, seen.length], [1, 1, 2]);
  assert.equal(new Set(seen.map(keyOf)).size, 1);
  assert.deepEqual([entry.tries, entry.errors[0].error], [2, "who sent it was lost in the middle"]);
});

test("a tick sends what is due, and says when to come again (O11)", LIMIT, async (t) => {
  const { url } = await server(t, [{ status: 503 }]);
  const outbox = await opened(t, { backoff: { baseMs: 60_000, capMs: 60_000, multiplier: 1 } });
  await outbox.enqueue(post(url), WISHES);
  const driver = outbox.driver("user-7");
  const next = await driver.tick();
  assert.ok(Math.abs(next - (await driver.nextWakeup())) < 1000 && next > Date.now(), `${next}`);
});

test("a driver keeps the program alive, and one that was stopped does not", LIMIT, async () => {
  const lines = (stops) => `
    import { Ledger } from "keyledger/worker";
    const ledger = await Ledger.open(${JSON.stringify(place())});
    const driver = ledger.outbox().driver("user-7").start();
    if (${stops}) await driver.stop();
    console.log("works");`;
  const run = (stops) => spawn(process.execPath, ["--input-type=module", "-e", lines(stops)], { cwd: scratch, timeout: 20_000 });
  assert.deepEqual(await once(run(true), "exit"), [0, null]);
  const working = run(false);
  await once(working.stdout, "data");
  await after(500);
  assert.equal(working.exitCode, null);
  working.kill("SIGKILL");
});
