// Begins and completes keys until it is killed; says what was acknowledged, and only after it was.

import { writeSync } from "node:fs";
import { kit } from "./kit.mjs";

const [path, round] = process.argv.slice(2);
const ledger = await kit.Ledger.open(path);
const charge = kit.Operation.repeatable("charge");
const unchecked = kit.Fingerprint.unchecked();

async function one(key) {
  const decision = await ledger.begin(charge, "tenant", key, unchecked);
  await decision.claim.complete(key);
  // Straight to the pipe: what waits in the process dies with it.
  writeSync(1, `${key}\n`);
}

for (let at = 0; ; at += 4) await Promise.all([0, 1, 2, 3].map((beside) => one(`${round}-${at + beside}`)));
