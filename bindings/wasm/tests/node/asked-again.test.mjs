// What a tab asks of the next who leads, when the one before was lost after it had done it: each call is made twice.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { kit, scratch } from "./kit.mjs";

const part = (name) => import(pathToFileURL(join(scratch, "node_modules/keyledger/dist", name)).href);
const [{ Desk }, { RemoteLedger }, { Calls }] = [await part("remote/desk.js"), await part("remote/ledger.js"), await part("browser/calls.js")];
const WISHES = { scope: "user-7", operation: "charge" };

/** The outbox of a ledger in memory that is asked for everything twice. */
function askedTwice(t) {
  const ledger = kit.Ledger.inMemorySync();
  t.after(() => ledger.close());
  const desk = new Desk(ledger);
  let calls = 0;
  const ask = async (method, words) => {
    const outcome = await desk.answer("tab", (calls += 1), structuredClone({ method, words }));
    return outcome.error ? assert.fail(outcome.error.message) : structuredClone(outcome.value);
  };
  const call = (method, words) => ask(method, words).then(() => ask(method, words));
  return { outbox: new RemoteLedger({ call }, "ephemeral").outbox(), inner: ledger.outbox() };
}

test("a request that is enqueued twice by the same call is one entry, with one key, and new (O1, O3)", async (t) => {
  const { outbox, inner } = askedTwice(t);
  const wishes = [WISHES, { ...WISHES, purpose: "cart 42" }, { ...WISHES, purpose: "cart 42", evenIfAnswered: true }];
  const made = [];
  for (const one of wishes) {
    const { entry, created } = await outbox.enqueue("990", one);
    made.push(created);
    await inner.drain("user-7", () => kit.DeliveryOutcome.yes("paid"));
    assert.equal(inner.get(entry.id).state, "answered");
  }
  assert.deepEqual([made, [...inner.listSync()].length], [[true, true, true], 3]);
  const many = await outbox.enqueueMany([["1", WISHES], ["2", WISHES]]);
  assert.deepEqual([many.map(({ created }) => created), [...inner.listSync()].length], [[true, true], 5]);
  assert.equal((await outbox.enqueue("990", { ...WISHES, purpose: "cart 42" })).created, false);
  assert.equal((await outbox.cancel(many[0].entry.id)).isCancelled, true);
});

const asked = (method) => ({ method: `outbox.${method}`, words: [] });

/** What three calls come to when who leads is lost: one, the same one given up, and one that waits for somebody to lead. */
function lost(method) {
  const [sent, told] = [[], []];
  const calls = new Calls((to, id) => sent.push(`${to} ${id}`), (id, outcome) => told.push([id, outcome.error?.code]));
  calls.follow("one");
  calls.ask(1, asked(method));
  calls.ask(2, asked(method));
  calls.cancel(2);
  calls.follow("two");
  return { sent, told, calls };
}

test("who leads next is asked again for what does nothing new a second time, and for nothing that was given up", () => {
  for (const method of ["enqueue", "enqueueMany", "keep", "cancel", "resume", "changesAfter", "entryAfter", "drain", "rested"]) {
    assert.deepEqual(lost(method).sent, ["one 1", "one 2", "two 1"], method);
  }
  for (const method of ["requeue", "dismiss", "resolve", "resumeEntry"]) {
    const { sent, told } = lost(method);
    assert.deepEqual([sent, told[0]], [["one 1", "one 2"], [1, "ambiguous"]], method);
  }
});

test("a page that is left waits no longer for others: it can give the lead away, and is asked for again when it is back", () => {
  const { calls, sent } = lost("keep");
  assert.ok(calls.isIdle);
  calls.leave("two");
  calls.follow("three");
  assert.deepEqual(sent.slice(3), ["three 1"]);
  calls.ask(3, asked("enqueue"));
  assert.ok(!calls.isIdle);
  calls.leave("three");
  calls.cancel(3);
  calls.follow("four");
  assert.deepEqual(sent.slice(4), ["three 3", "four 1"]);
});
