// A claim of a ledger that lives in a thread, and who asks for it: one that never came is nobody's, and it is settled by the words there are.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { across } from "./border.mjs";
import { folder, installed, kit } from "./kit.mjs";

const { Ledger: Threaded } = await installed("./worker");
const { Fingerprint, Ledger, Operation } = kit;
const unchecked = Fingerprint.unchecked();
const once = Operation.atMostOnce("once");
const again = Operation.repeatable("again");
const files = folder();

/** Keeps this thread busy: what the other one tells meanwhile waits. */
function busy(ms) {
  for (const endMs = performance.now() + ms; performance.now() < endMs; );
}

/** A begin that is aborted while its claim is on its way back. */
async function abortedLate(ledger, operation, key) {
  const asking = new AbortController();
  const told = assert.rejects(ledger.begin(operation, "s", key, unchecked, { signal: asking.signal }), { name: "AbortError" });
  await null;
  busy(300);
  asking.abort();
  return told;
}

test("a begin that is aborted while its claim is on its way releases it: its handler cannot have run (section 4)", async (t) => {
  const ledger = await Threaded.open(join(files, "aborted.kl"));
  t.after(() => ledger.close());
  for (const operation of [once, again]) {
    await abortedLate(ledger, operation, "k");
    assert.equal((await ledger.begin(operation, "s", "k", unchecked)).kind, "acquired", operation.name);
  }
});

test("so does one whose ledger is closed at once, for whoever opens it next (section 4)", async () => {
  const path = join(files, "closed.kl");
  const ledger = await Threaded.open(path);
  await abortedLate(ledger, once, "k");
  await ledger.close();
  const next = Ledger.openSync(path);
  assert.equal(next.inspectSync({ scope: "s", operation: "once", key: "k" }).state, "released");
  assert.equal(next.beginSync(once, "s", "k", unchecked).kind, "acquired");
  next.closeSync();
});

test("a claim that came is not released by a signal that is aborted later", async (t) => {
  const { remote } = across(t);
  const asking = new AbortController();
  const { claim } = await remote.begin(once, "s", "k", unchecked, { signal: asking.signal });
  asking.abort();
  assert.equal((await remote.inspect(claim.keyId)).state, "in_progress");
  await claim.complete("done");
  assert.equal((await remote.lookup(once, "s", "k")).text(), "done");
});

test("what settles is complete, fail, release or park: another word is refused before anything is done, wherever the ledger lives", async (t) => {
  const { direct, remote } = across(t);
  const words = ["drop", "isIdle", "heartbeat", "completeSync", "toString", "step", "constructor", "completed", "", undefined, null, 5, Object.create(null)];
  for (const ledger of [remote, direct]) {
    const { claim } = await ledger.begin(once, "s", ledger === direct ? "direct" : "remote", unchecked);
    for (const verb of words) {
      const refused = { name: "KeyledgerError", code: "invalid_argument", message: /^there is no settlement / };
      await assert.rejects(ledger.settle(claim.keyId, claim.fence, verb, "paid"), refused, String(typeof verb));
    }
    assert.equal((await ledger.inspect(claim.keyId)).state, "in_progress");
    await ledger.settle(claim.keyId, claim.fence, "complete", "paid");
    assert.equal((await ledger.lookup(once, "s", claim.keyId.key)).text(), "paid");
  }
});
