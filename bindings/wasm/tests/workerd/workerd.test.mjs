// The package in workerd, on the storage of a Durable Object: every scenario, rows written, kills in the middle of a commit.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isSayable } from "../conformance/sayable.mjs";
import { kit, scratch } from "../node/kit.mjs";
import { programOf } from "../node/texts.mjs";
import { changesOf } from "./changes.mjs";
import { Workerd, modulesOf, packageModules } from "./server.mjs";

const TESTS = fileURLToPath(new URL("..", import.meta.url));
const FILES = new URL("../../../conformance/", import.meta.url);

const read = (name) => JSON.parse(readFileSync(new URL(name, FILES), "utf8"));
const namesOf = (folder) => readdirSync(new URL(folder, FILES)).filter((name) => name.endsWith(".json"));

const workerd = new Workerd({
  "worker.mjs": join(TESTS, "workerd/worker.mjs"),
  ...packageModules(scratch),
  ...modulesOf(join(TESTS, "conformance"), "conformance"),
  ...modulesOf(join(TESTS, "http"), "http"),
});

before(() => workerd.start());
after(() => workerd.kill());

for (const name of namesOf(".")) {
  const loaded = read(name);
  for (const scenario of loaded.scenarios ?? []) {
    // What JavaScript cannot even say: the suite of Node names it.
    if (!isSayable(scenario)) continue;
    const told = { loaded: { ...loaded, scenarios: [] }, scenario };
    test(`${name}: ${scenario.name} (${scenario.rules})`, () => workerd.ask("scenario", told));
  }
}

for (const name of namesOf("http/")) {
  test(`http/${name}`, async () => {
    assert.deepEqual(await workerd.ask("http", { name, loaded: read(`http/${name}`) }), []);
  });
}

test("fingerprints and derived keys are those of every other language (F1 to F6, E3)", async () => {
  assert.ok((await workerd.ask("vectors", read("vectors.json"))) > 150);
});

test("a begin and a complete write at most 2.6 rows, and fewer than a store of rows would", async () => {
  const count = 2000;
  const pages = await workerd.ask("pairs", { count });
  const commits = await changesOf(kit, 200);
  const rows = await workerd.ask("changes", commits);
  const [ofPages, ofRows] = [pages.rows / count, rows.rows / 200];
  console.log(`rows written per begin and complete: ${ofPages.toFixed(2)} as pages, ${ofRows.toFixed(2)} as rows`);
  assert.ok(ofPages < 2.6 && ofPages < ofRows);
});

test("kills at random lose nothing that was acknowledged, and leave the ledger well (I5)", async () => {
  const acknowledged = [];
  for (let round = 0; round < 6; round++) {
    let isOver = false;
    const writers = [0, 1, 2, 3].map(async (writer) => {
      for (let at = 0; !isOver; at++) {
        const key = await workerd.ask("acknowledge", { key: `kill-${round}-${writer}-${at}` }).catch(() => null);
        if (key === null) return;
        acknowledged.push(key);
      }
    });
    const before = acknowledged.length;
    while (acknowledged.length < before + 4) await pause(5);
    await pause(Math.random() * 100);
    await workerd.kill();
    isOver = true;
    await Promise.all(writers);
    await workerd.start();
    const { missing, isWell, faults } = await workerd.ask("look", { keys: acknowledged });
    assert.deepEqual([missing, isWell, faults], [[], true, []]);
  }
  console.log(`${acknowledged.length} answers were acknowledged before 6 kills; all are there`);
  assert.ok(acknowledged.length >= 24);
});

test("a commit that is killed in its middle, or before the turn has ended, has stored nothing (S6)", async () => {
  for (const at of [0, 1, 20, "end"]) {
    const key = `stall-${at}`;
    const stalled = workerd.ask("stall", { key, at }).then(
      (told) => told,
      () => "killed",
    );
    await pause(600);
    await workerd.kill();
    assert.equal(await stalled, "killed");
    await workerd.start();
    assert.equal(await workerd.ask("rowsOf", { key }), 0);
    assert.equal((await workerd.ask("look", { keys: [] })).isWell, true);
    assert.equal(await workerd.ask("acknowledge", { key }), key);
  }
});

/** A server that answers 503 to the first try under each key, and tells which keys came with each body. */
async function sink(t) {
  const came = new Map();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const keys = came.get(body) ?? [];
    came.set(body, [...keys, request.headers["idempotency-key"]]);
    response.writeHead(keys.length === 0 ? 503 : 201).end("done");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return { came, url: `http://127.0.0.1:${server.address().port}` };
}

test("an object that is thrown out and woken by its alarm finds its claims, and goes on sending (R3, O4, O11)", async (t) => {
  const { came, url } = await sink(t);
  const [key, count] = ["left-open", 5];
  // Thrown out twice: before anything is sent, and between the first tries and the second.
  for (const enqueues of [count, 0]) await workerd.ask("leave", { key, url, count: enqueues }).catch(() => undefined);
  for (let tries = 0; ; tries++) {
    const { settled, instances } = await workerd.ask("sent");
    if (settled === count && instances >= 2) break;
    assert.ok(tries < 150, `${settled} are settled, by ${instances} instances`);
    await pause(100);
    if (tries === 3) await workerd.ask("leave", { key, url, count: 0 }).catch(() => undefined);
  }
  assert.deepEqual((await workerd.ask("look", { keys: [key] })).missing, []);
  assert.equal(came.size, count);
  for (const keys of came.values()) {
    assert.ok(keys.length >= 2);
    assert.equal(new Set(keys).size, 1);
  }
  assert.equal(new Set([...came.values()].flat()).size, count);
});

/** A worker of these lines, on the storage of its objects. */
async function serving(t, code, binding) {
  const folder = mkdtempSync(join(tmpdir(), "keyledger-readme-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "readme.js"), code);
  const server = await new Workerd({ "readme.js": join(folder, "readme.js"), ...packageModules(scratch) }, binding).start();
  t.after(() => server.kill());
  return server;
}

test("the lines of the README for Durable Objects work", async (t) => {
  const readme = readFileSync(join(TESTS, "../README.md"), "utf8");
  const [, code] = /## Durable Objects\n\n```js\n([^]*?)```/.exec(readme);
  const server = await serving(t, code, { name: "PAYMENTS", className: "Payments" });
  const ask = async () => {
    const headers = { "idempotency-key": '"key-1"' };
    const told = await fetch(`${server.url}/charges`, { method: "POST", body: '{"amount":5}', headers });
    return [told.status, await told.json(), told.headers.get("idempotent-replayed")];
  };
  assert.deepEqual(await ask(), [201, { charged: 5 }, null]);
  assert.deepEqual(await ask(), [201, { charged: 5 }, "true"]);
  await server.kill();
  await server.start();
  assert.deepEqual(await ask(), [201, { charged: 5 }, "true"]);
});

test("the lines of the guide for an outbox in a Durable Object work: what was killed before it was answered is sent by the alarm, under its key", async (t) => {
  let isBusy = true;
  const keys = [];
  const shop = createServer((request, response) => {
    keys.push(request.headers["idempotency-key"]);
    response.writeHead(isBusy ? 503 : 201).end();
  });
  await new Promise((resolve) => shop.listen(0, "127.0.0.1", resolve));
  t.after(() => shop.close());
  const server = await serving(t, programOf("durable-object"), { name: "ORDERS", className: "Orders" });
  const order = async () => {
    const body = JSON.stringify({ url: `http://127.0.0.1:${shop.address().port}/orders`, basket: 7 });
    return (await fetch(server.url, { method: "POST", body })).text();
  };
  assert.equal(await order(), "pending");
  // Killed while it is sent, it would be sent again when its lease is over.
  while (keys.length === 0 || (await order()) !== "pending") await pause(20);
  await server.kill();
  isBusy = false;
  await server.start();
  for (let tries = 0; (await order()) !== "answered"; tries++) {
    assert.ok(tries < 100, `it was sent ${keys.length} times`);
    await pause(100);
  }
  assert.ok(keys.length >= 2);
  assert.equal(new Set(keys).size, 1);
});
