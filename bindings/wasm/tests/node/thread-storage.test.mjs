// The thread form after its disk was full: what was told, what is there again, and that reopen is the way back.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { folder, scratch } from "./kit.mjs";

const path = join(folder(), "full.kl");

/** A file of this process may not grow for a while: to the system that is a full disk. */
const PROGRAM = `
  import { execFileSync } from "node:child_process";
  import { statSync } from "node:fs";
  import { Fingerprint, Ledger, Operation } from "keyledger/worker";
  const path = ${JSON.stringify(path)};
  const charge = Operation.repeatable("charge", { leaseMs: 600_000 });
  const unchecked = Fingerprint.unchecked();
  const codeOf = (call) => call.then((value) => value?.kind ?? "ok", (error) => error.code ?? error.name);
  const limit = (bytes) => execFileSync("prlimit", ["--pid", String(process.pid), "--fsize=" + bytes + ":unlimited"]);
  process.on("SIGXFSZ", () => {});
  const ledger = await Ledger.open(path);
  const { claim } = await ledger.begin(charge, "s", "held", unchecked);
  await claim.recordStep("card", "charged");
  limit(statSync(path).size);
  const codes = [];
  for (let at = 0; codes.length === 0 && at < 400; at++) {
    const code = await codeOf(ledger.run(charge, "s", "k" + at, unchecked, () => new Uint8Array(100_000)));
    if (code !== "ok") codes.push(code);
  }
  codes.push(await codeOf(claim.complete("PAID")), await codeOf(ledger.begin(charge, "s", "new", unchecked)), await codeOf(ledger.get("t", "k")));
  limit("unlimited");
  codes.push(await codeOf(ledger.begin(charge, "s", "new", unchecked)), await codeOf(ledger.reopen()));
  codes.push(await codeOf(claim.complete("PAID")), await codeOf(ledger.begin(charge, "s", "held", unchecked)), await codeOf(ledger.begin(charge, "s", "new", unchecked)));
  codes.push((await ledger.check()).isWell, await codeOf(ledger.close()));
  console.log(JSON.stringify(codes));`;

test("a disk that was full poisons the thread's ledger; reopen is the way back, and a claim that was held is completed once", async () => {
  const options = { cwd: scratch, encoding: "utf8", timeout: 60_000 };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", PROGRAM], options);
  const refused = ["storage", "poisoned", "poisoned", "poisoned", "poisoned"];
  assert.deepEqual(JSON.parse(stdout), [...refused, "ok", "ok", "replay", "acquired", true, "ok"]);
});
