// Credentials are given by a function of this side, at each send, wherever the ledger lives (O8, O14).

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { across } from "./border.mjs";
import { folder, installed } from "./kit.mjs";
import { EAGER, server } from "./outbox-kit.mjs";

const { FetchTransport, Ledger: Threaded, NotNow, SignedOut } = await installed("./worker");
const LIMIT = { timeout: 60_000 };
const WISHES = { scope: "user-7", operation: "charge" };
const files = folder();
let made = 0;

async function opened(t, settings = EAGER) {
  const ledger = await Threaded.open(join(files, `${(made += 1)}.kl`));
  t.after(() => ledger.close());
  return ledger.outbox(settings);
}

const post = (outbox, url) => outbox.enqueue({ method: "POST", url, headers: { "x-basket": "7" }, body: "a" }, WISHES);
const bearer = (token) => ({ authorization: `Bearer ${token}` });
const tokens = (seen) => seen.map(({ headers }) => headers.authorization);

test("a thread asks for credentials at each send, with the request that they are for, and stores none of them", LIMIT, async (t) => {
  const { seen, url } = await server(t, [{ status: 503 }, { status: 201 }, { status: 201 }]);
  const outbox = await opened(t);
  const asked = [];
  const authorize = async (scope, { method, url: to, headers, body }) => {
    asked.push([scope, method, to, headers.get("x-basket"), new TextDecoder().decode(body)]);
    return bearer(`token ${asked.length}`);
  };
  const { entry } = await post(outbox, url);
  const driver = outbox.driver("user-7", { authorize }).start();
  assert.equal((await entry.result()).mediaType, "application/http");
  await driver.stop();
  assert.deepEqual(asked, Array(2).fill(["user-7", "POST", url, "7", "a"]));
  const again = await post(outbox, url);
  await outbox.drain("user-7", new FetchTransport({ authorize: () => new Headers(bearer("of the drain")) }));
  assert.equal((await outbox.get(again.entry.id)).state, "answered");
  assert.deepEqual(tokens(seen), ["Bearer token 1", "Bearer token 2", "Bearer of the drain"]);
  for (const name of readdirSync(files)) assert.ok(!readFileSync(join(files, name), "latin1").includes("Bearer"), name);
});

test("nobody signed in holds the lane, other credentials let it go on, and what cannot be had now is tried later", LIMIT, async (t) => {
  const { seen, url } = await server(t, [{ status: 401 }, { status: 201 }]);
  const outbox = await opened(t);
  const errors = t.mock.method(console, "error", () => undefined);
  let given = () => { throw new NotNow("the session is being renewed"); };
  const driver = outbox.driver("user-7", { authorize: () => given() }).start();
  const { entry } = await post(outbox, url);
  const until = async (holds) => {
    while (!holds(await outbox.get(entry.id))) await after(5);
  };
  await until(({ errors }) => errors.at(-1)?.error.includes("the session is being renewed"));
  given = () => { throw new SignedOut("nobody"); };
  await until(({ state }) => state === "held");
  assert.equal(seen.length, 0, "nothing has left");
  given = () => bearer("old");
  while (seen.length === 0) await after(20);
  await until(({ state }) => state === "held");
  given = () => bearer("new");
  assert.equal((await outbox.wait(entry.id)).state, "answered");
  assert.deepEqual(tokens(seen), ["Bearer old", "Bearer new"]);
  await driver.stop();
  assert.equal(errors.mock.callCount(), 0);
});

test("of those that want a scope the last one is asked; the one before, where it is gone or says nothing", LIMIT, async (t) => {
  const { seen, url } = await server(t);
  const { remote } = across(t);
  const outbox = remote.outbox(EAGER);
  const sent = async () => (await (await post(outbox, url)).entry.result()).mediaType;
  const one = outbox.driver("user-7", { authorize: () => bearer("one") }).start();
  const two = outbox.driver("user-7", { authorize: () => bearer("two") }).start();
  await sent();
  await two.stop();
  await sent();
  const silent = outbox.driver("user-7", { authorize: () => new Promise(() => undefined) }).start();
  await sent();
  assert.deepEqual(tokens(seen), ["Bearer two", "Bearer one", "Bearer one"]);
  await Promise.all([one.stop(), silent.stop()]);
});

test("who is asked and stops wanting it, or is gone, is waited for no more", LIMIT, async (t) => {
  const { seen, url } = await server(t);
  const outbox = await opened(t);
  let isAsked = false;
  const driver = outbox.driver("user-7", { authorize: () => ((isAsked = true), new Promise(() => undefined)) }).start();
  const { entry } = await post(outbox, url);
  while (!isAsked) await after(1);
  const startMs = performance.now();
  await driver.stop();
  assert.ok(performance.now() - startMs < 4_000);
  const { state, mayHaveTakenEffect } = await outbox.get(entry.id);
  assert.deepEqual([state, mayHaveTakenEffect, seen.length], ["pending", false, 0]);
});

test("what authorize throws, and what is none, is told as in a ledger of this thread", LIMIT, async (t) => {
  const { seen, url } = await server(t);
  const { direct, remote } = across(t);
  t.mock.method(console, "error", () => undefined);
  const told = [];
  for (const outbox of [remote.outbox(), direct.outbox()]) {
    for (const authorize of [() => { throw new RangeError("mine"); }, () => ({ "idempotency-key": "x" }), () => ({ "no name": "x" })]) {
      const { entry } = await post(outbox, url);
      await outbox.drain("user-7", new FetchTransport({ authorize }), { untilMs: 0 });
      const { state, tries, errors, mayHaveTakenEffect } = await outbox.get(entry.id);
      told.push({ state, tries, error: errors.at(-1).error, mayHaveTakenEffect });
      await outbox.cancel(entry.id);
    }
  }
  assert.deepEqual(told.slice(0, 3), told.slice(3));
  assert.equal(seen.length, 0);
  assert.throws(() => remote.outbox().driver("user-7", { authorize: "Bearer x" }), { code: "invalid_argument", message: /authorize is a function; this is a string/ });
});

test("whatever authorize throws is a try that has not left, and ends no program", LIMIT, async (t) => {
  const { seen, url } = await server(t);
  const outbox = await opened(t);
  t.mock.method(console, "error", () => undefined);
  const opaque = new Proxy({}, { get: () => { throw new Error("not this"); }, getPrototypeOf: () => { throw new Error("nor this"); } });
  const unlike = Object.assign(new Error(), { name: 5, message: () => 1 });
  for (const thrown of [Object.create(null), opaque, unlike, Symbol("x"), undefined, null, { toString: () => { throw new Error("no"); } }]) {
    const { entry } = await post(outbox, url);
    const authorize = () => { throw thrown; };
    await outbox.drain("user-7", new FetchTransport({ authorize }), { untilMs: 0 });
    const { errors, mayHaveTakenEffect } = await outbox.get(entry.id);
    assert.match(errors.at(-1).error, /^authorize threw /);
    assert.equal(mayHaveTakenEffect, false);
    await outbox.cancel(entry.id);
  }
  assert.equal(seen.length, 0);
});
