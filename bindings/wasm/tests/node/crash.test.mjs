// kill -9 in mid-stream loses nothing that was acknowledged (I5), and frees the lock.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { folder, kit } from "./kit.mjs";

const WRITER = fileURLToPath(new URL("crash-writer.mjs", import.meta.url));

/** What a writer acknowledged until it was killed, some time after its first word. */
async function killed(path, round) {
  const writer = spawn(process.execPath, [WRITER, path, String(round)], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  const first = new Promise((resolve) => writer.stdout.on("data", (chunk) => resolve((said += chunk))));
  const ended = new Promise((resolve) => writer.on("close", resolve));
  await first;
  await assert.rejects(kit.Ledger.open(path), { code: "already_open" });
  await after(Math.random() * 120);
  writer.kill("SIGKILL");
  await ended;
  return said.split("\n").slice(0, -1);
}

test("twenty kills at random lose nothing that was acknowledged, and the next process gets in", async () => {
  const path = join(folder(), "crash.kl");
  const charge = kit.Operation.repeatable("charge");
  let acknowledged = 0;
  for (let round = 0; round < 20; round++) {
    const keys = await killed(path, round);
    assert.ok(keys.length > 0);
    acknowledged += keys.length;
    const ledger = await kit.Ledger.open(path);
    for (const key of keys) assert.equal(ledger.lookupSync(charge, "tenant", key)?.text(), key);
    assert.ok((await ledger.check()).isWell);
    await ledger.close();
  }
  console.log(`${acknowledged} answers were acknowledged before 20 kills; all are there`);
});
