// What a tab is told by whoever is of its origin, and what becomes of it when its worker is gone: nothing waits for ever.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { launched, paged, serve } from "./stage.mjs";

const server = await serve();
after(() => server.close());

/** A page that has the ledger open. */
async function opened(context) {
  const page = await paged(server, context);
  await page.evaluate(() => tab.open());
  return page;
}

/** What a begin of a new key comes to, in time. */
const begun = (page) =>
  page.evaluate(async () => {
    const { Fingerprint } = tab.keyledger;
    const late = new Promise((resolve) => setTimeout(() => resolve("no answer"), 5_000));
    const begin = (await tab.open()).begin(tab.charge, "s", crypto.randomUUID(), Fingerprint.unchecked());
    return Promise.race([late, begin.then(({ kind }) => kind, (error) => `${error.code} ${error.message}`)]);
  });

/** Says all of that on the channel of the tabs. `LEADER` and `TAB` stand for the names of who leads and of a tab that asks. */
const say = (page, words) =>
  page.evaluate(async (all) => {
    const channel = new BroadcastChannel("keyledger shop");
    const names = { LEADER: "nobody", TAB: "nobody" };
    channel.onmessage = ({ data }) => {
      if (data?.kind === "leads") names.LEADER = data.from;
      if (data?.kind === "call") names.TAB = data.from;
    };
    channel.postMessage({ kind: "who" });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const named = (value) => (Object.hasOwn(names, value) ? names[value] : value);
    for (const one of all) {
      const isPlain = typeof one === "object" && one !== null && !Array.isArray(one);
      channel.postMessage(isPlain ? Object.fromEntries(Object.entries(one).map(([name, value]) => [name, named(value)])) : one);
    }
    channel.close();
  }, words);

/** What is none of the messages between tabs. */
const ODD = [
  ...[null, 5, "x", {}, [], { kind: null }, { kind: "constructor" }, { kind: "__proto__", from: "x", to: "LEADER", id: 1 }],
  ...[{ kind: "leads" }, { kind: "leads", from: 7 }, { kind: "leads", from: "LEADER", durability: "for ever" }, { kind: "leaves", from: {} }],
  ...["call", "cancel", "said", "outcome"].flatMap((kind) => [
    ...[{ kind }, { kind, to: "LEADER" }, { kind, to: "LEADER", from: "evil" }, { kind, to: "LEADER", from: "evil", id: "1" }],
    // A tab that cancels a call of its own says no more than this: in its name, it would be one.
    ...(kind === "cancel" ? [] : [{ kind, to: "LEADER", from: "LEADER", id: 1, call: null, said: null, outcome: null }]),
    { kind, to: "LEADER", from: "evil", id: 2, call: { method: "stats" }, said: {}, outcome: {} },
    { kind, to: "LEADER", from: "evil", id: 3, call: { method: 5, words: [] }, said: { failed: 5 }, outcome: { error: null } },
    { kind, to: "LEADER", from: "evil", id: 4, call: { method: "begin", words: [] } },
    { kind, to: "LEADER", from: "evil", id: 5, call: { method: "toString", words: [null] } },
  ]),
];

test("what is no message of the protocol is nobody's: the tabs go on", async (t) => {
  const context = await launched(t);
  const [leader, other, stranger] = [await opened(context), await opened(context), await context.newPage()];
  await stranger.goto(server.page);
  await say(stranger, ODD);
  for (const page of [leader, other]) assert.equal(await begun(page), "acquired");
});

const FORGED = {
  "another leads": { kind: "leads", from: "nobody", durability: "persisted" },
  "the leader leaves": { kind: "leaves", from: "LEADER" },
  "a call has moved": { kind: "outcome", from: "LEADER", to: "TAB", outcome: { moved: true } },
};

for (const [what, message] of Object.entries(FORGED)) {
  test(`a stranger who says that ${what} hangs no tab: the lead is what the lock says`, async (t) => {
    const context = await launched(t);
    const [leader, other, stranger] = [await opened(context), await opened(context), await context.newPage()];
    await stranger.goto(server.page);
    const waiting = other.evaluate(async () => {
      const { Fingerprint } = tab.keyledger;
      const ledger = await tab.open();
      globalThis.held = (await ledger.begin(tab.charge, "s", "held", Fingerprint.unchecked())).claim;
      // So that there are calls for the stranger to hear.
      setInterval(() => globalThis.held.heartbeat(60_000).catch(() => undefined), 50);
      return (await ledger.begin(tab.charge, "s", "held", Fingerprint.unchecked(), { waitMs: 60_000 })).kind;
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const ids = Array.from({ length: 10 }, (_, id) => ({ ...message, id }));
    await say(stranger, ids);
    for (const page of [leader, other]) assert.equal(await begun(page), "acquired");
    await other.evaluate(() => globalThis.held.complete("done"));
    assert.equal(await waiting, "replay");
    const late = await opened(context);
    assert.equal(await begun(late), "acquired");
  });
}

test("what a tab asks when its worker has ended is refused, what it waits for ends, and it can open again", async (t) => {
  const context = await launched(t);
  const page = await context.newPage();
  await page.goto(server.page);
  await page.waitForFunction(() => globalThis.tab);
  const told = await page.evaluate(async () => {
    const { Fingerprint, Ledger } = tab.keyledger;
    let started;
    const worker = () => (started = new Worker("/keyledger/dist/browser/worker.js", { type: "module" }));
    const ledger = await Ledger.open("shop", { worker });
    const begin = (options) => ledger.begin(tab.charge, "s", "k", Fingerprint.unchecked(), options);
    await begin();
    const codeOf = (call) => {
      const late = new Promise((resolve) => setTimeout(() => resolve("no answer"), 5_000));
      return Promise.race([late, call.then(() => "ok", (error) => error.code)]);
    };
    const waiting = begin({ waitMs: 60_000 });
    started.terminate();
    const codes = [await codeOf(waiting), await codeOf(begin()), await codeOf(ledger.close())];
    const again = await Ledger.open("shop");
    const { kind } = await again.begin(tab.charge, "s", "other", Fingerprint.unchecked());
    await again.close();
    return [...codes, kind];
  });
  assert.deepEqual(told, ["unavailable", "closed", "ok", "acquired"]);
});
