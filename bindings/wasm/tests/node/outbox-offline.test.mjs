// A driver where there is a browser's word about the network: the globals that tell it are put in place for each test.

import assert from "node:assert/strict";
import { test } from "node:test";
import { kit } from "./kit.mjs";
import { browser, inMemory, turns } from "./outbox-kit.mjs";

const { DeliveryOutcome } = kit;
const HOUR_MS = 3_600_000;

/** Takes away what a test has put in place, when its driver has ended. */
let leave = () => {};

/** A browser that says it is offline; `says` has it say something else. `answers`: whether where its pages come from does. */
function offline(answers = false) {
  const asked = [];
  const fetch = async (url, { method }) => {
    asked.push(`${method} ${url}`);
    if (!answers) throw new TypeError("Failed to fetch");
    return new Response();
  };
  const { says, leave: goes } = browser(false, { location: { origin: "https://shop.example" }, fetch });
  leave = goes;
  return { says, asked };
}

/** One entry, and a driver that counts what it sends. */
async function started(t, outcome) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const outbox = inMemory(t, { backoff: { baseMs: 0, capMs: 0, multiplier: 1 } });
  const { entry } = await outbox.enqueue("a", { scope: "user", operation: "charge" });
  const sent = [];
  const driver = outbox.driver("user", ({ id }) => (sent.push(id), outcome()), { inFlight: 1 });
  t.after(() => driver.stop().catch(() => undefined).then(leave));
  driver.start();
  await turns();
  return { outbox, entry, sent, driver, look: () => outbox.get(entry.id) };
}

test("nothing is leased while the browser says that it is offline, and what is due is sent at once when it is online", async (t) => {
  const { says } = offline();
  const { sent, look, outbox, entry } = await started(t, () => DeliveryOutcome.yes("done"));
  assert.deepEqual([sent.length, look().state, look().tries], [0, "pending", 0]);
  says(true);
  await turns();
  assert.deepEqual([sent.length, look().state], [1, "answered"]);
  says(false);
  const { entry: second } = await outbox.enqueue("b", { scope: "user", operation: "charge" });
  await turns();
  assert.deepEqual([sent, (await outbox.cancel(second.id)).isCancelled], [[entry.id], true]);
});

test("what was leased before it was known to be offline is not sent, and costs no try (O9)", async (t) => {
  const { says } = offline();
  says(true);
  const { sent, outbox } = await started(t, () => DeliveryOutcome.yes("done"));
  globalThis.navigator.onLine = false;
  const { entry } = await outbox.enqueue("b", { scope: "user", operation: "charge" });
  await turns();
  const { tries, mayHaveTakenEffect } = outbox.get(entry.id);
  assert.deepEqual([sent.length, tries, mayHaveTakenEffect], [1, 0, false]);
});

test("a driver that waits to be online is stopped at once", async (t) => {
  offline();
  const { driver, sent } = await started(t, () => DeliveryOutcome.yes("done"));
  await driver.stop();
  assert.deepEqual([driver.isRunning, sent.length], [false, 0]);
});

test("a browser that says it is offline and is not stops nothing for ever: where its pages come from is asked", async (t) => {
  const { asked } = offline(true);
  const { sent, outbox } = await started(t, () => DeliveryOutcome.yes("done"));
  t.mock.timers.tick(60_000);
  await turns();
  assert.deepEqual([sent.length, asked], [1, ["HEAD https://shop.example"]]);
  await outbox.enqueue("b", { scope: "user", operation: "charge" });
  await turns();
  assert.equal(sent.length, 2);
});

test("where that does not answer either, one try an hour is what it costs", async (t) => {
  const { asked } = offline();
  const { sent, look } = await started(t, () => DeliveryOutcome.retry("Failed to fetch"));
  for (let at = 0; at < 24; at += 1) {
    t.mock.timers.tick(HOUR_MS);
    await turns();
  }
  assert.ok(asked.length > 3 && sent.length > 10 && sent.length <= 24, `${asked.length} ${sent.length}`);
  assert.equal(look().tries, sent.length);
});

test("a platform that has no word about the network is not asked for one", async (t) => {
  const { sent } = await started(t, () => DeliveryOutcome.yes("done"));
  assert.equal(sent.length, 1);
});
