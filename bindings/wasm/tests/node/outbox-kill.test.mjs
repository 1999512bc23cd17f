// kill -9 in mid-send: no entry is lost, and none is ever sent with two keys (O1, O2).

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { folder, kit } from "./kit.mjs";
import { STUBBORN, keyOf, server } from "./outbox-kit.mjs";

const SENDER = fileURLToPath(new URL("outbox-sender.mjs", import.meta.url));

/** What a sender said until it was killed, while requests of it were under way. */
async function killed(path, url, round, underWay) {
  const sender = spawn(process.execPath, [SENDER, path, url, String(round)], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  sender.stdout.on("data", (chunk) => (said += chunk));
  const ended = new Promise((resolve) => sender.on("close", resolve));
  const before = underWay();
  while (underWay() < before + 3) await after(1);
  await after(Math.random() * 40);
  sender.kill("SIGKILL");
  await ended;
  return said.split("\n").slice(0, -1).map((line) => line.split(" "));
}

test("ten kills in mid-send lose no entry, and no entry has two keys", async (t) => {
  const path = join(folder(), "kill.kl");
  let silence = 0.3;
  const answer = () => (Math.random() < silence ? "silence" : { status: 200 });
  const { seen, url } = await server(t, Array.from({ length: 100_000 }, () => answer));
  const enqueued = new Map();
  for (let round = 0; round < 10; round++) {
    for (const [purpose, key] of await killed(path, url, round, () => seen.length)) enqueued.set(purpose, key);
  }
  const before = seen.length;
  silence = 0;
  const ledger = await kit.Ledger.open(path);
  const outbox = ledger.outbox({ ...STUBBORN, leaseMs: 10_000 });
  await outbox.drain("tenant", new kit.FetchTransport(), { untilMs: 60_000 });
  const keys = new Map();
  for (const one of seen) keys.set(one.body, (keys.get(one.body) ?? new Set()).add(keyOf(one)));
  for (const [purpose, key] of enqueued) assert.deepEqual([...keys.get(purpose)], [`"${key}"`]);
  for (const [purpose, used] of keys) assert.equal(used.size, 1, purpose);
  const { counts, unsettled } = outbox.stats();
  assert.equal(unsettled, 0, JSON.stringify(counts));
  assert.ok(counts.answered >= enqueued.size);
  assert.ok((await ledger.check()).isWell);
  await ledger.close();
  console.log(`${enqueued.size} entries were enqueued before 10 kills; ${before} requests then, ${seen.length} in all; one key each`);
});
