// Enqueues and sends until it is killed. Says what was enqueued, and only after it was.

import { writeSync } from "node:fs";
import { kit } from "./kit.mjs";
import { STUBBORN } from "./outbox-kit.mjs";

const [path, url, round] = process.argv.slice(2);
const ledger = await kit.Ledger.open(path);
const outbox = ledger.outbox(STUBBORN);
outbox.driver("tenant", new kit.FetchTransport()).start();
for (let at = 0; ; at++) {
  const purpose = `${round}-${at}`;
  const { entry } = await outbox.enqueue({ method: "POST", url, body: purpose }, { scope: "tenant", operation: "charge", purpose });
  // Straight to the pipe: what waits in the process dies with it.
  writeSync(1, `${purpose} ${entry.key}\n`);
  await new Promise((resolve) => setTimeout(resolve, 3));
}
