// What becomes of what is under way when the ledger is closed: drivers, drains, and whoever waits.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { folder, kit } from "./kit.mjs";
import { EAGER } from "./outbox-kit.mjs";

const { DeliveryOutcome, Fingerprint, Ledger, Operation, ScriptedTransport } = kit;
const WISHES = { scope: "user-7", operation: "charge" };
const { yes } = DeliveryOutcome;
const files = folder();

test("a ledger that is closed cuts off what is in flight, of a driver and of a drain: the next one sends it at once, with its key (O6, P7)", async (t) => {
  for (const work of ["driver", "drain"]) {
    const path = join(files, `${work}.kl`);
    const ledger = await Ledger.open(path);
    const outbox = ledger.outbox(EAGER);
    const { entry } = await outbox.enqueue("x", WISHES);
    let sent;
    const transport = (delivery) => new Promise(() => (sent = delivery));
    const driver = outbox.driver("user-7", transport);
    const ended = work === "driver" ? null : driver.drain({ untilMs: 60_000 }).catch(({ code }) => code);
    if (work === "driver") driver.start();
    while (!sent) await after(1);
    const startMs = performance.now();
    await ledger.close();
    assert.ok(performance.now() - startMs < 5_000);
    assert.deepEqual([sent.signal.aborted, driver.isRunning], [true, false]);
    if (work === "driver") await assert.rejects(driver.stop(), { code: "closed" });
    else assert.equal(await ended, "closed");
    const again = await Ledger.open(path);
    t.after(() => again.close());
    const left = again.outbox(EAGER).get(entry.id);
    assert.deepEqual([left.state, left.tries, left.mayHaveTakenEffect], ["pending", 1, true]);
    const next = new ScriptedTransport([yes("sent again")]);
    await again.outbox(EAGER).drain("user-7", next);
    assert.deepEqual(next.sent.map(({ key }) => key), [entry.key]);
  }
});

test("a ledger that is closed at once ends what is in flight, too; that waits for the end of its lease then", async () => {
  const path = join(files, "at-once.kl");
  const ledger = await Ledger.open(path);
  const { entry } = await ledger.outbox().enqueue("x", WISHES);
  let sent;
  const driver = ledger.outbox().driver("user-7", (delivery) => new Promise(() => (sent = delivery))).start();
  while (!sent) await after(1);
  ledger.closeSync();
  assert.equal(sent.signal.aborted, true);
  await assert.rejects(driver.stop(), { code: "closed" });
  const again = await Ledger.open(path);
  assert.equal(again.outbox().get(entry.id).state, "sending");
  await again.close();
});

test("a suspended ledger can be closed while a driver has something in flight", async () => {
  const ledger = Ledger.inMemorySync();
  await ledger.outbox().enqueue("x", WISHES);
  let sent;
  const driver = ledger.outbox().driver("user-7", (delivery) => new Promise(() => (sent = delivery)), { onError: () => undefined }).start();
  while (!sent) await after(1);
  ledger.suspend();
  await ledger.close();
  assert.equal(driver.isRunning, false);
  await assert.rejects(driver.stop(), ({ code }) => code === "suspended" || code === "closed");
});

test("whatever waits when the ledger is closed is told so, and grants nothing (P4, P7)", async () => {
  for (const close of ["close", "closeSync"]) {
    const ledger = Ledger.inMemorySync();
    const [outbox, charge] = [ledger.outbox(), Operation.repeatable("charge")];
    await ledger.begin(charge, "s", "k", Fingerprint.unchecked());
    const { entry } = await outbox.enqueue("x", WISHES);
    const waiting = [
      ledger.begin(charge, "s", "k", Fingerprint.unchecked(), { waitMs: 60_000 }),
      ledger.run(charge, "s", "k", Fingerprint.unchecked(), () => assert.fail("it ran"), { waitMs: 60_000 }),
      outbox.wait(entry.id),
      entry.result(),
      outbox.changes({ after: outbox.stats().lastChange }).next(),
    ].map((call) => call.then(() => "told", ({ code }) => code));
    await after(5);
    await ledger[close]();
    assert.deepEqual(await Promise.all(waiting), Array(5).fill("closed"));
  }
});
