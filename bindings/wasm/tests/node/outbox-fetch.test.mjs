// The transport over fetch, against a real server (C1 to C4, O8, O9, O14).

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { kit } from "./kit.mjs";
import { EAGER, inMemory, keyOf, server } from "./outbox-kit.mjs";

const { DeliveryOutcome, FetchTransport, HttpRequest, NotNow, SignedOut, httpAnswer } = kit;
const WISHES = { scope: "user-7", operation: "charge" };
const post = (url, body = "{}") => ({ method: "POST", url, headers: { "content-type": "application/json" }, body });

/** Enqueues one request and drains; the entry as it is then. */
async function sent(outbox, request, transport = new FetchTransport(), options = { untilMs: 3000 }) {
  const { entry } = await outbox.enqueue(request, WISHES);
  await outbox.drain("user-7", transport, options);
  return outbox.get(entry.id);
}

test("a fetch Request goes out as it was, with its one quoted key; the answer is stored whole (C1, O2)", async (t) => {
  const outbox = inMemory(t);
  const { seen, url } = await server(t, [{ status: 201, headers: { "content-type": "application/json", etag: '"1"' }, body: '{"id":7}' }]);
  const request = new Request(`${url}?a=1`, { method: "POST", headers: { "x-trace": "9" }, body: '{"cents":990}' });
  const entry = await sent(outbox, request);
  assert.deepEqual([seen[0].method, seen[0].path, seen[0].body, seen[0].headers["x-trace"]], ["POST", "/charges?a=1", '{"cents":990}', "9"]);
  assert.equal(keyOf(seen[0]), `"${entry.key}"`);
  const answer = entry.httpAnswer;
  assert.deepEqual([answer.status, answer.headers.get("etag"), await answer.json()], [201, '"1"', { id: 7 }]);
  assert.equal(httpAnswer(await entry.result()).status, 201);
});

test("what a server says decides: a no, a retry with the same key, a held lane, a held entry (O8)", async (t) => {
  const outbox = inMemory(t, EAGER);
  const { seen, url } = await server(t, [{ status: 422, body: "no" }, { status: 503 }, "cut", { status: 200 }, { status: 403 }, { status: 401 }]);
  const states = [];
  for (let at = 0; at < 4; at++) states.push((await sent(outbox, post(url, `${at}`), new FetchTransport(), { untilMs: at < 2 ? 3000 : 0 })).state);
  assert.deepEqual(states, ["answered", "answered", "held", "held"]);
  assert.equal(new Set(seen.slice(1, 4).map(keyOf)).size, 1);
  assert.deepEqual(outbox.stats().lanes.map(({ heldReason }) => heldReason).length, 1);
});

test("credentials are refused in a request, and given at each send (O14)", async (t) => {
  const outbox = inMemory(t);
  const { seen, url } = await server(t);
  const secret = { ...post(url), headers: { authorization: "Bearer 1" } };
  await assert.rejects(outbox.enqueue(secret, WISHES), { code: "invalid_argument" });
  await assert.rejects(outbox.enqueue(new Request(url, { headers: { "idempotency-key": "x" } }), WISHES), { code: "invalid_argument" });
  assert.throws(() => HttpRequest.of({ method: "GET", url: "/relative" }), { code: "invalid_argument" });
  assert.throws(() => new FetchTransport({ secret: ["x-api-key"] }).request({ ...post(url), headers: { "X-Api-Key": "1" } }), { code: "invalid_argument" });
  assert.equal(outbox.stats().unsettled, 0);
  const authorize = (scope, request) => ({ authorization: `Bearer ${scope} ${request.method}` });
  const entry = await sent(outbox, post(url), new FetchTransport({ authorize }));
  assert.equal(seen[0].headers.authorization, "Bearer user-7 POST");
  assert.doesNotMatch(new TextDecoder().decode(outbox.request(entry.id)[1]), /Bearer/);
});

test("nobody is signed in: the lane is held and nothing is sent; other credentials send it on (O8)", async (t) => {
  const outbox = inMemory(t, EAGER);
  const { seen, url } = await server(t, [{ status: 401 }]);
  let token;
  const authorize = async () => {
    if (!token) throw new SignedOut("sign in");
    return { authorization: token };
  };
  const transport = new FetchTransport({ authorize });
  assert.equal((await sent(outbox, post(url), transport, {})).state, "held");
  assert.deepEqual([seen.length, await transport.hasOtherCredentials("user-7")], [0, false]);
  token = "old";
  assert.equal(await transport.hasOtherCredentials("user-7"), true);
  await outbox.resume("user-7");
  await outbox.drain("user-7", transport);
  assert.deepEqual([seen.length, await transport.hasOtherCredentials("user-7")], [1, false]);
  token = "new";
  assert.equal(await transport.hasOtherCredentials("user-7"), true);
  await outbox.resume("user-7");
  await outbox.drain("user-7", transport);
  assert.equal(outbox.stats().counts.answered, 1);
});

test("what authorize throws, or gives that cannot be sent, sends nothing and stores no secret (O14)", async (t) => {
  const outbox = inMemory(t);
  const { seen, url } = await server(t);
  t.mock.method(console, "error", () => undefined);
  const failing = [
    [() => Promise.reject(new NotNow("the vault is shut")), /credentials cannot be had now: the vault is shut/],
    [() => Promise.reject(new TypeError("token=123")), /^authorize threw TypeError$/],
    [() => ({ "idempotency-key": "mine" }), /idempotency-key, which cannot be sent/],
  ];
  for (const [authorize, says] of failing) {
    const entry = await sent(outbox, post(url), new FetchTransport({ authorize }), {});
    assert.match(entry.errors[0].error, says);
    assert.equal(entry.mayHaveTakenEffect, false);
  }
  assert.equal(seen.length, 0);
});

test("no byte has left where there is no connection; one may have where it was cut or nothing came in time (O9, C4)", async (t) => {
  const outbox = inMemory(t);
  const { url } = await server(t, ["cut", "silence", "silence"]);
  const nobody = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => nobody.once("listening", resolve));
  const { port } = nobody.address();
  await new Promise((resolve) => nobody.close(resolve));
  const refused = await sent(outbox, post(`http://127.0.0.1:${port}/`), new FetchTransport(), {});
  const unnamed = await sent(outbox, post("http://nobody.invalid/"), new FetchTransport(), {});
  const blocked = await sent(outbox, post("http://127.0.0.1:6667/"), new FetchTransport(), {});
  for (const entry of [refused, unnamed, blocked]) assert.deepEqual([entry.state, entry.mayHaveTakenEffect], ["pending", false]);
  const cut = await sent(outbox, post(url), new FetchTransport(), {});
  const late = await sent(outbox, post(url), new FetchTransport({ timeoutMs: 40 }), {});
  assert.deepEqual([cut, late].map((entry) => [entry.state, entry.mayHaveTakenEffect]), [["pending", true], ["pending", true]]);
  assert.match(late.errors[0].error, /no answer came in time/);
  const short = inMemory(t, { leaseMs: 300 });
  const start = performance.now();
  const unanswered = await sent(short, post(url), new FetchTransport(), {});
  assert.ok(performance.now() - start < 10_000);
  assert.equal(unanswered.response, null);
});

test("redirects are followed where method and origin stay, with the same key; others are the answer (C2)", async (t) => {
  const outbox = inMemory(t);
  const { seen, url } = await server(t, [{ status: 307, headers: { location: "/there" } }, { status: 200, body: "ok" }, { status: 302, headers: { location: "/there" } }, { status: 307, headers: { location: "http://127.0.0.1:1/" } }]);
  assert.equal((await sent(outbox, post(url))).isYes, true);
  assert.deepEqual(seen.map(({ path }) => path), ["/charges", "/there"]);
  assert.equal(keyOf(seen[0]), keyOf(seen[1]));
  for (const one of ["302", "307"]) {
    const entry = await sent(outbox, post(url, one));
    assert.deepEqual([entry.state, entry.isYes, entry.httpAnswer.status], ["answered", false, Number(one)]);
  }
});

test("a body that is too long is left out, and one that was packed is told unpacked", async (t) => {
  const outbox = inMemory(t);
  const { gzipSync } = await import("node:zlib");
  const { url } = await server(t, [{ status: 200, body: "x".repeat(300_000) }, { status: 200, headers: { "content-encoding": "gzip" }, body: gzipSync("plain words") }]);
  const long = await sent(outbox, post(url, "1"), new FetchTransport({ answerBytesMax: 1000 }));
  assert.deepEqual([long.isYes, await long.httpAnswer.text()], [true, ""]);
  const packed = (await sent(outbox, post(url, "2"))).httpAnswer;
  assert.deepEqual([packed.headers.get("content-encoding"), await packed.text()], [null, "plain words"]);
});

test("the caller can say what an answer means, and what throws is a retry (O8); keys go bare under another name (C1)", async (t) => {
  const outbox = inMemory(t);
  const { seen, url } = await server(t, [{ status: 404, body: "not yet" }, { status: 200 }]);
  t.mock.method(console, "error", () => undefined);
  const classify = ({ status }, usual) => {
    if (status === 404) return DeliveryOutcome.retry("not there yet").notTaken();
    assert.equal(usual.kind, "yes");
    throw new Error("broken");
  };
  const transport = new FetchTransport({ classify, keyField: { name: "X-Request-Id", isQuoted: false } });
  const first = await sent(outbox, post(url, "1"), transport, {});
  assert.equal(first.errors[0].error, "not there yet");
  assert.equal(seen[0].headers["x-request-id"], first.key);
  outbox.cancelSync(first.id);
  const second = await sent(outbox, post(url, "2"), transport, {});
  assert.equal(second.errors[0].error, "the classifier threw Error on 200");
});

test("what no fetch can send, and what is no request over HTTP, is dead at once", async (t) => {
  const outbox = inMemory(t);
  const { url } = await server(t);
  assert.equal((await sent(outbox, { method: "GET", url, body: "a body" })).state, "dead");
  assert.equal((await sent(outbox, "only text")).state, "dead");
});

test("what comes of an entry is a Response when it is asked for, and an error as from `result`", async (t) => {
  const { url } = await server(t, [{ status: 201, headers: { "x-charge": "7" }, body: "paid" }, { status: 422 }]);
  const outbox = inMemory(t);
  for (const [body, status] of [["1", 201], ["2", null]]) {
    const { entry } = await outbox.enqueue({ method: "POST", url, body }, WISHES);
    await outbox.drain("user-7", new FetchTransport());
    const told = entry.httpResult({ timeoutMs: 1000 });
    if (status === null) await assert.rejects(told, { code: "answered_no" });
    else assert.deepEqual([(await told).status, (await told).headers.get("x-charge"), await (await told).text()], [201, "7", "paid"]);
  }
});

test("in a page an address is the page's own where it does not say otherwise, as for fetch", (t) => {
  const of = (url) => HttpRequest.of({ method: "POST", url }).url;
  assert.throws(() => of("/orders"), { code: "invalid_argument" });
  globalThis.location = { href: "https://shop.example/basket/7?x#y" };
  t.after(() => delete globalThis.location);
  assert.equal(of("/orders"), "https://shop.example/orders");
  assert.equal(of("orders"), "https://shop.example/basket/orders");
  assert.equal(of("//bank.example/a"), "https://bank.example/a");
  assert.equal(of("http://bank.example/a"), "http://bank.example/a");
  assert.throws(() => of("mailto:ada@shop.example"), { code: "invalid_argument" });
  globalThis.location = { href: "blob:https://shop.example/1" };
  assert.throws(() => of("/orders"), { code: "invalid_argument" });
});

test("however many are sent at a time, nothing is taken for a leak of listeners", async (t) => {
  const warnings = [];
  const warned = (warning) => warnings.push(String(warning));
  process.on("warning", warned);
  t.after(() => process.off("warning", warned));
  const { url } = await server(t, Array(40).fill({ status: 200 }));
  const outbox = inMemory(t, EAGER);
  await outbox.enqueueMany(Array.from({ length: 40 }, (_, at) => [post(url, `${at}`), WISHES]));
  const { signal } = new AbortController();
  const driver = outbox.driver("user-7", new FetchTransport({ signal }), { inFlight: 20 }).start();
  while (outbox.stats().unsettled > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await driver.stop();
  assert.deepEqual(warnings, []);
});
