// What waits because no answer came, where a browser says that it is online again (O6). The globals that tell it are put in place for the test.

import assert from "node:assert/strict";
import { test } from "node:test";
import { kit } from "./kit.mjs";
import { browser, turns } from "./outbox-kit.mjs";

const { DeliveryOutcome, Ledger, ManualClock } = kit;
const HOUR_MS = 3_600_000;

/** A browser that is online; `isBack` has it lose the network, and have it again. */
function online() {
  const { says, leave } = browser(true);
  const isBack = async () => {
    says(false);
    await turns();
    says(true);
    await turns();
  };
  return { isBack, leave };
}

/** One entry whose only try came to that, and for how long it then waits. */
async function waiting(t, send) {
  const { isBack, leave } = online();
  const clock = new ManualClock(1_000_000_000);
  const ledger = await Ledger.inMemory({ clock });
  const outbox = ledger.outbox({ backoff: { baseMs: 1000, capMs: HOUR_MS, multiplier: 3_600 } });
  const { entry } = await outbox.enqueue("a", { scope: "user", operation: "charge" });
  const driver = outbox.driver("user", send).start();
  t.after(async () => {
    await driver.stop();
    await ledger.close();
    leave();
  });
  const look = () => outbox.get(entry.id);
  const waitMs = () => look().dueAtMs - clock.wallMs();
  // The wait after the second try is up to an hour; of so many tries one is given a long one.
  for (let tries = 0; tries < 15 && !(waitMs() > 10_000); tries += 1) {
    clock.advance(Math.max(0, waitMs()));
    await driver.stop();
    driver.start();
    await turns();
  }
  return { isBack, waitMs };
}

const silence = {
  "a transport that throws": () => Promise.reject(new TypeError("Failed to fetch")),
  "a transport that says so": () => DeliveryOutcome.retry("no answer").unanswered(),
};

for (const [name, send] of Object.entries(silence)) {
  test(`no answer, from ${name}: it is due within the first backoff when the network is back`, async (t) => {
    t.mock.method(console, "error", () => {});
    const { isBack, waitMs } = await waiting(t, send);
    assert.ok(waitMs() > 10_000, `it waits ${waitMs()} ms`);
    await isBack();
    assert.ok(waitMs() <= 1000, `it waits ${waitMs()} ms`);
  });
}

test("what a server has answered waits as before", async (t) => {
  const { isBack, waitMs } = await waiting(t, () => DeliveryOutcome.retry("the server answered 503"));
  const before = waitMs();
  await isBack();
  assert.ok(before > 10_000);
  assert.equal(waitMs(), before);
});
