// The wrapper for fetch handlers, where the scenarios do not look: layers, arguments, signals, settings, what is told to whom.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { across } from "./border.mjs";
import { guarded, post, record } from "./fetch-kit.mjs";
import { kit } from "./kit.mjs";

const { Ledger, ManualClock, Operation, httpOfStored, idempotent } = kit;

test("ten requests at once run the handler once, and each is told its answer or that it runs (I1)", async (t) => {
  let runs = 0;
  const { wrapped } = guarded(t, async () => {
    runs += 1;
    await after(20);
    return new Response("charged", { status: 201 });
  });
  const answers = await Promise.all(Array.from({ length: 10 }, () => wrapped(post())));
  assert.equal(runs, 1);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(9).fill(409)]);
  const again = await wrapped(post());
  assert.deepEqual([again.status, again.headers.get("idempotent-replayed"), await again.text()], [201, "true", "charged"]);
});

test("a request that is aborted loses no outcome, and its handler hears nothing of it (H9, S3)", async (t) => {
  const client = new AbortController();
  let wasAborted;
  const { wrapped, ledger } = guarded(t, async (request) => {
    client.abort();
    await after(10);
    wasAborted = request.signal.aborted;
    return new Response("charged");
  });
  const answer = wrapped(post({ signal: client.signal }));
  await wrapped.idle();
  assert.equal(wasAborted, false);
  assert.equal(record(ledger).state, "completed");
  assert.equal(await (await answer).text(), "charged");
});

test("a handler is renewed while it runs, also when it has recorded a step (H10)", async (t) => {
  const clock = new ManualClock(1_000_000_000_000);
  let go, begun;
  const goes = new Promise((resolve) => (go = resolve));
  const begins = new Promise((resolve) => (begun = resolve));
  const { wrapped, ledger } = guarded(t, async (_, claim) => {
    await claim.step("one", async () => "1");
    begun();
    await goes;
    return new Response("charged", { status: 503 });
  }, { clock, leaseMs: 30 });
  const answer = wrapped(post());
  await begins;
  const firstEnd = record(ledger).leaseEndAtMs;
  clock.advance(20);
  for (let tries = 0; record(ledger).leaseEndAtMs === firstEnd; tries++) {
    assert.ok(tries < 500, "the lease is not renewed");
    await after(5);
  }
  clock.advance(20);
  assert.equal(record(ledger).isLapsed, false);
  go();
  assert.equal((await answer).status, 503);
});

test("a step that the handler did not wait for is waited for before its outcome is stored", async (t) => {
  const { wrapped, ledger } = guarded(t, (_, claim) => {
    void claim.recordStep("one", "1");
    return new Response("charged");
  });
  assert.equal((await wrapped(post())).status, 200);
  assert.equal(record(ledger).state, "completed");
});

test("what the handler throws goes by the effect, and is told to onError, not to the client (S8)", async (t) => {
  const own = new Error("db password is hunter2");
  for (const [effect, state] of [["repeatable", "released"], ["in_ledger", undefined], ["at_most_once", "parked"]]) {
    const { wrapped, ledger, told } = guarded(t, () => Promise.reject(own), { effect });
    const answer = await wrapped(post());
    assert.equal(answer.status, 500);
    assert.ok(!(await answer.text()).includes("hunter2"));
    assert.deepEqual(told, [own]);
    assert.equal(record(ledger)?.state, state);
  }
});

test("what is no response, or one that was read, is an error of the handler's", async (t) => {
  const read = new Response("x");
  await read.text();
  for (const returned of [undefined, "text", read]) {
    const { wrapped, told } = guarded(t, () => returned);
    assert.equal((await wrapped(post())).status, 500);
    assert.ok(told[0] instanceof TypeError);
  }
});

test("further arguments come after the claim, and waitUntil is told what to wait for", async (t) => {
  const waits = [];
  const context = { waitUntil: (promise) => waits.push(promise) };
  const { wrapped } = guarded(t, async (request, claim, env, ctx) => {
    assert.deepEqual([env.name, ctx], ["env", context]);
    return Response.json({ key: claim.keyId.key, said: await request.json() });
  });
  const answer = await wrapped(post(), { name: "env" }, context);
  assert.deepEqual(await answer.json(), { key: "key-1", said: 5 });
  assert.equal(waits.length, 1);
  await waits[0];
});

test("a layer inside another that holds the claim lets the request pass, under the same claim (H13)", async (t) => {
  const { wrapped: inner, ledger, settings } = guarded(t, (_, claim) => new Response(String(claim.attempt)));
  const outer = idempotent((request) => inner(request), { ...settings, ledger });
  assert.equal(await (await outer(post())).text(), "1");
  assert.equal((await outer(post())).headers.get("idempotent-replayed"), "true");
});

test("without a key that protects it the request goes on as it is, without a claim (H2)", async (t) => {
  const seen = [];
  const { wrapped } = guarded(t, (request, claim) => {
    seen.push([request, claim]);
    return new Response("ok");
  });
  const asked = new Request("https://pay.example/charges");
  await wrapped(asked);
  assert.deepEqual(seen, [[asked, undefined]]);
});

test("a body that was read before is an error, never a fingerprint of something else (H17)", async (t) => {
  const { wrapped } = guarded(t, () => new Response("ok"));
  const asked = post();
  await asked.text();
  const answer = await wrapped(asked);
  assert.deepEqual([answer.status, (await answer.json()).type.split("#")[1]], [500, "body-consumed"]);
});

test("a ledger that cannot be opened lets nothing through, and why is told to onError (H4)", async (t) => {
  const { told, settings } = guarded(t, () => new Response("ok"));
  const why = new Error("no disk");
  const wrapped = idempotent(() => assert.fail("it ran"), { ...settings, ledger: () => Promise.reject(why) });
  assert.equal((await wrapped(post())).status, 503);
  assert.deepEqual(told, [why]);
});

test("a slip in the settings is told when the handler is wrapped", async (t) => {
  const { settings } = guarded(t, () => new Response("ok"));
  const wrap = (own) => () => idempotent(() => new Response("ok"), { ...settings, ...own });
  for (const own of [{ methods: [] }, { methods: ["PSOT"] }, { methods: "POST" }, { statuses: { mismatch: 42 } }, { statuses: { no: 400 } }]) {
    assert.throws(wrap(own), { code: "invalid_argument" });
  }
  for (const own of [{ effect: "sometimes" }, { effect: undefined }, { leaseMs: -1 }, { notKept: ["a b"] }, { lease: 5 }, { keep: "release" }]) {
    assert.throws(wrap(own), { code: "invalid_argument" }, JSON.stringify(own));
  }
  assert.throws(wrap({ key: undefined }), { code: "invalid_argument" });
});

test("a declared operation is the record's, and what is stored reads as HTTP (H3, H11)", async (t) => {
  const operation = Operation.repeatable("charge", { retentionMs: 1000 });
  const { wrapped, ledger } = guarded(t, () => new Response("charged", { headers: { "X-Mine": "1", "Set-Cookie": "a=1" } }), { operation, effect: undefined });
  const first = await wrapped(post());
  assert.deepEqual([first.headers.getSetCookie(), first.headers.get("content-length")], [["a=1"], "7"]);
  const stored = httpOfStored(ledger.inspectSync({ scope: "ada", operation: "charge", key: "key-1" }).response);
  assert.equal(stored.status, 200);
  assert.deepEqual(stored.headers.filter(([name]) => name.startsWith("x-")), [["x-mine", "1"]]);
});

test("a client that leaves in the middle of a long response, or of a stream, stops neither it nor the storing (H8, H9)", async (t) => {
  for (const own of [{ maxBodyBytes: 10 }, { stream: true }]) {
    const pieces = Array.from({ length: 20 }, () => new Uint8Array(5));
    const body = new ReadableStream({
      async pull(controller) {
        await after(1);
        const piece = pieces.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    const { wrapped, ledger } = guarded(t, () => new Response(body), own);
    const answer = await wrapped(post());
    await answer.body.cancel();
    await wrapped.idle();
    assert.equal(pieces.length, 0);
    assert.equal(record(ledger).state, "completed");
  }
});

test("what is no ledger of this thread, no scope function and no handler is refused when the handler is made", async (t) => {
  const { settings } = guarded(t, () => new Response("x"));
  const { remote } = across(t);
  const handler = () => new Response("x");
  const refused = (words) => ({ code: "invalid_argument", message: words });
  for (const [ledger, words] of [
    [remote, /this one lives in another thread/],
    [Ledger.inMemory(), /this is a promise: await it/],
    [undefined, /this is undefined/],
    ["payments.kl", /this is a string/],
  ]) {
    assert.throws(() => idempotent(handler, { ...settings, ledger }), refused(words));
    const { wrapped, told } = guarded(t, handler, { ledger: () => (ledger instanceof Promise ? {} : ledger) });
    assert.equal((await wrapped(post())).status, 503);
    assert.equal(told[0].code, "invalid_argument");
  }
  for (const scope of [undefined, "ada"]) assert.throws(() => idempotent(handler, { ...settings, scope }), refused(/^scope is a function/));
  assert.throws(() => idempotent(undefined, settings), refused(/^what answers a request is a function/));
  assert.throws(() => idempotent(handler), refused(/^scope is a function/));
});

test("a scope that is no text is a 401, and onError is told why; nobody is only a 401 (H13)", async (t) => {
  const ask = async (scope) => {
    const { wrapped, told } = guarded(t, () => new Response("x"), { scope: () => scope });
    return [(await wrapped(post())).status, told.map(({ code }) => code)];
  };
  for (const scope of [7, true, { id: 7 }]) assert.deepEqual(await ask(scope), [401, ["invalid_argument"]]);
  for (const scope of [undefined, null]) assert.deepEqual(await ask(scope), [401, []]);
});
