// The wrapper for fetch handlers where the caller's own functions throw, and where handlers, clients and platforms misbehave: the claim
// ends by its effect, nothing is thrown at the platform, and nothing is waited for for ever.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { guarded, post, record } from "./fetch-kit.mjs";
import { kit } from "./kit.mjs";

const { Operation, StoredResponse, httpAnswer, httpOfStored, storedHttp } = kit;
const LIMIT = { timeout: 20_000 };

/** What is written to the console meanwhile is wanted. */
function quiet(t) {
  const lines = [];
  t.mock.method(console, "error", (...words) => void lines.push(words));
  return lines;
}

test("an onError that throws, or breaks its promise, stops nothing: the claim ends by its effect (S2, H10)", LIMIT, async (t) => {
  const lines = quiet(t);
  const broken = { throws: () => { throw new Error("no log"); }, breaks: async () => { throw new Error("no log"); } };
  for (const [name, onError] of Object.entries(broken)) {
    for (const [effect, state] of [["repeatable", "released"], ["at_most_once", "parked"]]) {
      const { wrapped, ledger } = guarded(t, () => Promise.reject(new Error("mine")), { effect, onError, leaseMs: 50 });
      assert.equal((await wrapped(post())).status, 500, name);
      await wrapped.idle();
      assert.equal(record(ledger).state, state, name);
    }
  }
  await after(1);
  assert.equal(lines.length, 4);
});

test("hooks that throw, or that would have to be waited for, decide nothing and are told of (H5, H6)", LIMIT, async (t) => {
  const throws = () => { throw new Error("hook"); };
  const breaks = async () => { throw new Error("hook"); };
  for (const hook of ["keep", "redact"]) {
    for (const own of [throws, breaks, async () => "release"]) {
      const { wrapped, ledger, told } = guarded(t, () => new Response("secret"), { [hook]: own });
      assert.equal(await (await wrapped(post())).text(), "secret");
      assert.ok(told.length > 0, hook);
      assert.equal(record(ledger).state, "completed");
      const again = await wrapped(post());
      assert.deepEqual([again.status, (await again.text()).includes("secret")], [200, hook === "keep"]);
    }
  }
  const { wrapped, told } = guarded(t, () => new Response("x"), { redact: (stored) => ({ ...stored, status: 0 }) });
  await wrapped(post());
  assert.deepEqual([told[0].code, (await wrapped(post())).status], ["invalid_argument", 200]);
});

test("a waitUntil that throws is told of, and the answer is sent", LIMIT, async (t) => {
  const { wrapped, told, ledger } = guarded(t, () => new Response("charged"));
  const context = { waitUntil() { throw new TypeError("Illegal invocation"); } };
  const proxy = new Proxy({}, { get() { throw new Error("no such binding"); } });
  const answer = await wrapped(post(), proxy, context);
  assert.deepEqual([answer.status, told.map(({ message }) => message)], [200, ["no such binding", "Illegal invocation"]]);
  assert.equal(record(ledger).state, "completed");
});

test("a scope and a ledger that throw, or are none, grant nothing (H4, H13)", LIMIT, async (t) => {
  const ran = () => assert.fail("it ran");
  for (const scope of [() => { throw new Error("scope"); }, async () => { throw new Error("scope"); }, () => 7, () => ({}), () => "\ud800"]) {
    assert.equal((await guarded(t, ran, { scope }).wrapped(post())).status, 401);
  }
  for (const ledger of [() => { throw new Error("ledger"); }, async () => undefined, () => ({})]) {
    const { wrapped, told } = guarded(t, ran, { ledger });
    assert.deepEqual([(await wrapped(post())).status, told.length], [503, 1]);
  }
});

test("a ledger that is closed under a handler does not break the answer: it is told that nothing is stored", LIMIT, async (t) => {
  for (const ends of [() => new Response("charged"), () => { throw new Error("mine"); }]) {
    const { wrapped, ledger, told } = guarded(t, () => (ledger.closeSync(), ends()));
    assert.ok((await wrapped(post())).status >= 500);
    await wrapped.idle();
    assert.ok(told.some(({ code }) => code === "closed"));
  }
});

test("a response that none can be made of again is an error of the handler's (H9)", LIMIT, async (t) => {
  const { wrapped, ledger, told } = guarded(t, () => Response.error());
  for (let tries = 1; tries <= 2; tries++) {
    assert.equal((await wrapped(post())).status, 500);
    assert.deepEqual([told.length, told[0].name, record(ledger).state], [tries, "TypeError", "released"]);
  }
  for (const status of [0, 101, 700, 65_736, 200.5, "200"]) assert.throws(() => storedHttp({ status }), { code: "invalid_argument" });
});

/** What another language may have stored: a status line that no `Response` can be made of. */
const odd = (status) => new StoredResponse("application/http", `HTTP/1.1 ${status} \r\nX-Mine: 1\r\n\r\npaid`);

test("a stored status that no Response can have is a problem that says so: the key stays, and nothing runs again (H4, H5)", LIMIT, async (t) => {
  for (const status of [101, 199, 600, 999, "099"]) {
    let runs = 0;
    const own = { operation: Operation.repeatable("POST /charges"), effect: undefined };
    const { wrapped, ledger, told } = guarded(t, (_, claim) => (void claim.complete(odd(status)), (runs += 1), new Response("other")), own);
    for (let tries = 1; tries <= 2; tries++) {
      const answer = await wrapped(post());
      const { type, status: said, key_advice } = await answer.json();
      assert.deepEqual([answer.status, said, type.split("#")[1], key_advice], [500, 500, "unsendable", "reconcile"], `${status}`);
    }
    assert.deepEqual([runs, record(ledger).state, told], [1, "completed", []]);
    assert.throws(() => httpAnswer(record(ledger).response), { code: "invalid_argument", message: new RegExp(`the status ${Number(status)} `) });
    assert.equal(httpOfStored(record(ledger).response).status, Number(status));
  }
  const mine = guarded(t, (_, claim) => (void claim.complete(odd(700)), new Response("other")), { statuses: { unsendable: 502 } });
  assert.equal((await mine.wrapped(post())).status, 502);
});

test("a stored status without a body is told without the one that was stored with it", () => {
  for (const status of [204, 205, 304]) assert.deepEqual([httpAnswer(odd(status)).status, httpAnswer(odd(status)).body], [status, null]);
});

test("a request that was aborted before runs nothing, whether or not a duplicate would wait (P4)", LIMIT, async (t) => {
  for (const own of [{}, { waitMs: 500 }]) {
    const { wrapped, ledger } = guarded(t, () => assert.fail("it ran"), own);
    assert.equal((await wrapped(post({ signal: AbortSignal.abort() }))).status, 499);
    assert.equal(record(ledger), null);
  }
});

test("an answer past the limit that nobody reads keeps nothing waiting; one whose reader leaves is read to its end (H9)", LIMIT, async (t) => {
  const made = [];
  const body = () => new ReadableStream({ pull: (controller) => (made.push(1), made.length > 20 ? controller.close() : controller.enqueue(new Uint8Array(9))) });
  const waits = [];
  const { wrapped, ledger } = guarded(t, () => new Response(body()), { maxBodyBytes: 10 });
  const answer = await wrapped(post(), { waitUntil: (promise) => waits.push(promise) });
  await wrapped.idle();
  await Promise.all(waits);
  assert.deepEqual([record(ledger).state, made.length < 20, waits.length], ["completed", true, 1]);
  await answer.body.cancel();
  await wrapped.idle();
  assert.deepEqual([made.length, waits.length], [21, 2]);
});

test("a stream that nobody reads to its end lets go: cancelled, in the middle or before, or collected (H8, H9)", LIMIT, async (t) => {
  const body = () => {
    let made = 0;
    return new ReadableStream({ pull: (controller) => ((made += 1) > 5 ? controller.close() : controller.enqueue(new Uint8Array(9))) });
  };
  const abandoned = {
    "before it is read": (answer) => answer.body.cancel(),
    "half-read": async (answer) => {
      const reader = answer.body.getReader();
      await reader.read();
      await reader.cancel();
    },
    "half-read, and forgotten": async (answer) => void (await answer.body.getReader().read()),
    "never read": async () => undefined,
  };
  for (const [name, leave] of Object.entries(abandoned)) {
    const { wrapped, ledger } = guarded(t, () => new Response(body()), { stream: true, effect: "at_most_once" });
    await leave(await wrapped(post()));
    let isIdle = false;
    void wrapped.idle().then(() => (isIdle = true));
    while (!isIdle) {
      gc();
      await after(5);
    }
    assert.deepEqual([record(ledger).state, record(ledger).response.body.length > 45], ["completed", true], name);
  }
});

test("a body whose pieces are no bytes is broken wherever that shows, and nothing waits for it (H8)", LIMIT, async (t) => {
  const pieces = (...all) => new ReadableStream({ start: (controller) => (all.forEach((one) => controller.enqueue(one)), controller.close()) });
  for (const [own, state] of [[{}, "released"], [{ maxBodyBytes: 1 }, "completed"], [{ stream: true, effect: "at_most_once" }, "parked"]]) {
    const { wrapped, ledger, told } = guarded(t, () => new Response(pieces(new Uint8Array(9), "text")), own);
    const answer = await wrapped(post());
    if (answer.status === 200) await assert.rejects(answer.arrayBuffer());
    await wrapped.idle();
    assert.deepEqual([record(ledger).state, told[0].name], [state, "TypeError"]);
  }
});

test("a request whose body's pieces are no bytes is refused, and is no other request's fingerprint (H17)", LIMIT, async (t) => {
  const { wrapped, ledger, told } = guarded(t, () => assert.fail("it ran"));
  const body = new ReadableStream({ start: (controller) => (controller.enqueue("text"), controller.close()) });
  const answer = await wrapped(post({ body, duplex: "half" }));
  assert.deepEqual([(await answer.json()).type.split("#")[1], told[0].name, record(ledger)], ["unreadable", "TypeError", null]);
});

test("a handler that settles and does not wait, or whose steps are under way when it throws, is waited for", LIMIT, async (t) => {
  const settles = guarded(t, (_, claim) => (void claim.complete(storedHttp({ status: 201 })), new Response("other")));
  assert.equal((await settles.wrapped(post())).status, 201);
  const throws = guarded(t, (_, claim) => {
    void claim.recordStep("one", "1");
    throw new Error("mine");
  }, { operation: Operation.repeatable("POST /charges"), effect: undefined });
  assert.equal((await throws.wrapped(post())).status, 500);
  const { state, steps } = record(throws.ledger);
  assert.deepEqual([state, steps.length], ["released", 1]);
});

test("a response that ends with its head is answered and settled where others flow (H8)", async (t) => {
  for (const [status, method] of [[204, "POST"], [205, "POST"], [304, "POST"], [200, "HEAD"]]) {
    let runs = 0;
    const handler = () => new Response(method === "HEAD" ? "not sent" : null, { status, headers: { "x-run": String((runs += 1)) } });
    const options = method === "HEAD" ? { otherMethods: ["HEAD"], methods: ["HEAD"] } : {};
    const { wrapped, told } = guarded(t, handler, { stream: true, ...options });
    const ask = () => wrapped(new Request("https://pay.example/charges", { method, headers: { "idempotency-key": '"key-1"' } }));
    for (const replayed of [null, "true"]) {
      const answer = await ask();
      assert.deepEqual([answer.status, answer.body, answer.headers.get("x-run"), answer.headers.get("idempotent-replayed")], [status, null, "1", replayed]);
    }
    assert.deepEqual(told, []);
  }
});

test("a request that is aborted before its body ends is over: 499, and no record (P4)", async (t) => {
  const { wrapped, ledger, told } = guarded(t, () => new Response("charged"));
  for (const isLate of [true, false]) {
    const client = new AbortController();
    let isCancelled = false;
    const body = new ReadableStream({ pull: () => new Promise(() => undefined), cancel: () => void (isCancelled = true) });
    if (!isLate) client.abort();
    const answer = wrapped(post({ body, duplex: "half", signal: client.signal }));
    setTimeout(() => client.abort(), 10);
    assert.equal((await answer).status, 499);
    assert.ok(isCancelled);
    await wrapped.idle();
  }
  assert.deepEqual([record(ledger), told], [null, []]);
});
