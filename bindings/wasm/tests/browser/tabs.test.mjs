// The tabs of an origin share one ledger, whatever becomes of them.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { shake, waited } from "./shake.mjs";
import { kill, launch, launched, paged, profile, serve } from "./stage.mjs";

const server = await serve();
after(() => server.close());

const opened = (context) => paged(server, context);

const told = (name) => server.told.flatMap((what) => what[name] ?? []);

test("a tab keeps an answer over its reload, and a second tab has it too", async (t) => {
  const context = await launched(t);
  const page = await opened(context);
  await page.evaluate(() => tab.pay("first", []));
  await page.reload();
  await page.waitForFunction(() => globalThis.tab);
  assert.deepEqual(await page.evaluate(() => tab.stored()), ["first"]);
  const second = await opened(context);
  await second.evaluate(() => tab.pay("second", []));
  assert.deepEqual((await page.evaluate(() => tab.stored())).sort(), ["first", "second"]);
});

test("a claim of a tab keeps others out until its tab has gone, which ends its lease", async (t) => {
  const context = await launched(t);
  const [leader, other] = [await opened(context), await opened(context)];
  await leader.evaluate(() => tab.open());
  const kind = (page) =>
    page.evaluate(async () => {
      const long = tab.keyledger.Operation.repeatable("long", { leaseMs: 60_000 });
      const decision = await (await tab.open()).begin(long, "s", "k", tab.keyledger.Fingerprint.unchecked());
      globalThis.kept = decision;
      return decision.kind;
    });
  assert.equal(await kind(other), "acquired");
  assert.equal(await kind(leader), "in_progress");
  await other.close();
  const startMs = performance.now();
  while ((await kind(leader)) !== "acquired") assert.ok(performance.now() - startMs < 5_000, "the lease goes on");
});

test("a wait for another tab's claim is answered when that is settled, or ended by a signal", async (t) => {
  const context = await launched(t);
  const [one, two] = [await opened(context), await opened(context)];
  const found = await one.evaluate(async () => {
    const { Fingerprint } = tab.keyledger;
    globalThis.claim = (await (await tab.open()).begin(tab.charge, "s", "k", Fingerprint.unchecked())).claim;
    return globalThis.claim.attempt;
  });
  assert.equal(found, 1);
  const ended = await two.evaluate(async () => {
    const ledger = await tab.open();
    const asking = new AbortController();
    setTimeout(() => asking.abort(), 50);
    const options = { waitMs: 60_000, signal: asking.signal };
    return ledger.begin(tab.charge, "s", "k", tab.keyledger.Fingerprint.unchecked(), options).catch((error) => error.name);
  });
  assert.equal(ended, "AbortError");
  const waiting = two.evaluate(async () => {
    const ledger = await tab.open();
    const decision = await ledger.begin(tab.charge, "s", "k", tab.keyledger.Fingerprint.unchecked(), { waitMs: 900 });
    return [decision.kind, decision.response?.text()];
  });
  await one.evaluate(() => globalThis.claim.heartbeat(60_000).then(() => globalThis.claim.complete("settled")));
  assert.deepEqual(await waiting, ["replay", "settled"]);
});

test("a tab that crashes takes nothing with it, and another one leads", async (t) => {
  const context = await launched(t);
  const [leader, other] = [await opened(context), await opened(context)];
  await leader.evaluate(() => tab.pay("before", []));
  await other.evaluate(() => tab.open());
  await leader.goto("chrome://crash").catch(() => undefined);
  await other.evaluate(() => tab.pay("after", []));
  assert.deepEqual((await other.evaluate(() => tab.stored())).sort(), ["after", "before"]);
});

test("a browser that is killed in mid-stream has lost nothing that was acknowledged", async (t) => {
  const folder = profile();
  for (let round = 0; round < 3; round += 1) {
    const context = await launch(folder);
    const pages = [await opened(context), await opened(context)];
    for (const [at, page] of pages.entries()) await page.evaluate((name) => tab.payOn(name), `kill ${round} ${at}`);
    const before = server.told.length;
    while (server.told.length < before + 60) await new Promise((resolve) => setTimeout(resolve, 5));
    await kill(folder);
    await context.close().catch(() => undefined);
  }
  const context = await launched(t, folder);
  const stored = new Set(await (await opened(context)).evaluate(() => tab.stored()));
  const keys = told("key").filter((key) => key.startsWith("kill"));
  assert.deepEqual(keys.filter((key) => !stored.has(key)), []);
  assert.ok(keys.length > 60, `${keys.length}`);
});

test("five tabs that are opened, reloaded and closed sixty times: none waits five seconds, and nothing is lost", async (t) => {
  const context = await launched(t);
  const seed = await shake(() => opened(context), (page, name) => page.evaluate((name) => tab.payOn(name), name));
  assert.deepEqual(told("error"), [], `seed ${seed}`);
  const keys = told("key").filter((key) => key.startsWith("tab"));
  const stored = await (await opened(context)).evaluate(() => tab.stored());
  assert.deepEqual(keys.filter((key) => !stored.includes(key)), [], `seed ${seed}`);
  const { longest, words } = waited(told("waits"));
  console.log(`${keys.length} keys, ${words}; seed ${seed}`);
  assert.ok(keys.length > 100 && longest < 5_000, `longest ${longest} ms, seed ${seed}`);
});
