// A batch whose requests are for the outbox of a ledger that a thread of its own has.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { across } from "./border.mjs";
import { folder, installed, kit } from "./kit.mjs";
import { inMemory } from "./outbox-kit.mjs";

const { Ledger: Threaded } = await installed("./worker");
const { Batch, Fingerprint, HttpRequest, Operation } = kit;
const topUp = Operation.inLedger("top-up");
const charge = Operation.repeatable("charge");
const unchecked = Fingerprint.unchecked();
const WISHES = { scope: "user-7", operation: "charge" };
const POST = { method: "POST", url: "https://bank.example/charges", body: '{"cents":990}' };
const files = folder();
let made = 0;

async function opened(t) {
  const ledger = await Threaded.open(join(files, `${(made += 1)}.kl`));
  t.after(() => ledger.close());
  return ledger;
}

/** Everything that the outbox has. */
async function entries(outbox) {
  const all = [];
  for await (const entry of outbox.list()) all.push(entry);
  return all;
}
const text = (bytes) => Buffer.from(bytes).toString();

test("a batch completes a claim and enqueues in one commit: both are there, and the answer is told (E2, O1)", async (t) => {
  const ledger = await opened(t);
  const outbox = ledger.outbox({ lanes: [{ name: "mail", isOrdered: true }] });
  for (const operation of [topUp, charge]) {
    const { claim } = await ledger.begin(operation, "user-7", "k", unchecked);
    const batch = new Batch()
      .put("wallet", operation.name, "5")
      .enqueue(outbox, POST, { ...WISHES, purpose: operation.name })
      .enqueue(outbox, "dear Ann", { ...WISHES, operation: "mail", lane: "mail", mediaType: "text/markdown", fingerprint: Fingerprint.ofJson(operation.name) });
    const stored = await claim.completeBatch(batch, "topped up");
    assert.deepEqual([stored.text(), claim.isSettled], ["topped up", true]);
    assert.equal((await ledger.lookup(operation, "user-7", "k")).text(), "topped up");
    assert.equal(text(await ledger.get("wallet", operation.name)), "5");
    const found = await outbox.find("user-7", operation.name);
    assert.match(found.key, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    assert.deepEqual((await outbox.request(found.id))[1], HttpRequest.of(POST).bytes);
  }
  const mails = (await entries(outbox)).filter(({ lane }) => lane === "mail");
  assert.deepEqual(mails.map(({ fingerprint }) => fingerprint), [topUp, charge].map(({ name }) => Fingerprint.ofJson(name).hex));
  assert.deepEqual(text((await outbox.request(mails[0].id))[1]), "dear Ann");
});

test("of a batch that is refused nothing is stored, and the claim is not used up (E2, O3)", async (t) => {
  const ledger = await opened(t);
  const outbox = ledger.outbox({ bounds: { entries: 1, bytes: 1000 } });
  await outbox.enqueue(POST, { ...WISHES, purpose: "cart 42" });
  const { claim } = await ledger.begin(topUp, "user-7", "k", unchecked);
  const codes = {
    purpose_conflict: ["another", { ...WISHES, purpose: "cart 42" }],
    outbox_full: [POST, WISHES],
    invalid_key: [POST, { ...WISHES, key: "" }],
    invalid_argument: [{ ...POST, headers: { authorization: "Bearer x" } }, WISHES],
  };
  for (const [code, asked] of Object.entries(codes)) {
    const batch = new Batch().put("wallet", "ann", "5").enqueue(outbox, ...asked);
    await assert.rejects(claim.completeBatch(batch, "topped up"), { code });
    await assert.rejects(ledger.apply(batch), { code });
    assert.deepEqual([await ledger.get("wallet", "ann"), claim.isSettled, (await entries(outbox)).length], [null, false, 1]);
  }
  await claim.complete("topped up");
});

test("a batch that is applied enqueues too; applied twice, it enqueues twice unless a purpose says what is wanted (O3)", async (t) => {
  const ledger = await opened(t);
  const outbox = ledger.outbox();
  const batch = new Batch().enqueue(outbox, POST, WISHES).enqueue(outbox, POST, { ...WISHES, purpose: "cart 42" });
  await ledger.apply(batch);
  await ledger.apply(batch);
  const all = await entries(outbox);
  assert.deepEqual(all.map(({ purpose }) => purpose), [null, "cart 42", null]);
  assert.equal(new Set(all.map(({ key }) => key)).size, 3);
});

test("where another leads by now, a claim is completed by its fence, with what the batch enqueues, once (S2, O1)", async (t) => {
  const { direct, remote: ledger, moves } = across(t);
  const [outbox, { claim }] = [ledger.outbox(), await ledger.begin(charge, "user-7", "k", unchecked)];
  moves();
  const batch = new Batch().put("wallet", "ann", "5").insertUnique("log", "k", "1").enqueue(outbox, POST, WISHES);
  assert.equal((await claim.completeBatch(batch, "paid")).text(), "paid");
  assert.equal((await ledger.lookup(charge, "user-7", "k")).text(), "paid");
  assert.deepEqual([text(await ledger.get("wallet", "ann")), (await entries(outbox)).length], ["5", 1]);
  const { claim: other } = await ledger.begin(charge, "user-7", "k2", unchecked);
  moves();
  direct.settleSync(other.keyId, other.fence, "release");
  await assert.rejects(other.completeBatch(new Batch().enqueue(outbox, POST, WISHES), "paid"), { code: "claim_lost" });
  assert.equal((await entries(outbox)).length, 1);
});

test("the outbox of another ledger is refused, here and there: nothing is stored", async (t) => {
  const [ledger, other, here] = [await opened(t), await opened(t), inMemory(t)];
  const direct = kit.Ledger.inMemorySync();
  t.after(() => direct.closeSync());
  const refused = { code: "invalid_argument", message: "the outbox is another ledger's; use the one of this ledger" };
  for (const outbox of [other.outbox(), here]) {
    const batch = new Batch().put("wallet", "ann", "5").enqueue(outbox, POST, WISHES);
    await assert.rejects(ledger.apply(batch), refused);
    await assert.rejects(direct.apply(batch), refused);
    assert.deepEqual([await ledger.get("wallet", "ann"), direct.getSync("wallet", "ann")], [null, null]);
  }
  assert.deepEqual(await entries(other.outbox()), []);
});

test("a batch is a value: what is done to the bytes and wishes that it was given is not done to it", async (t) => {
  const { direct, remote } = across(t);
  for (const ledger of [direct, remote]) {
    const scope = ledger === direct ? "direct" : "remote";
    const outbox = ledger.outbox();
    const [key, value, sent, parts] = ["k", "5", "dear Ann", "{}"].map((text) => new TextEncoder().encode(text));
    const wishes = { scope, operation: "mail", purpose: "as it was" };
    await ledger.apply(new Batch().delete(scope, "swap").put(scope, "swap", "x"));
    const batch = new Batch()
      .put(scope, key, value)
      .insertUnique(scope, "one", value)
      .compareAndSet(scope, "swap", Uint8Array.of(120), value)
      .enqueue(outbox, sent, wishes)
      .enqueue(outbox, { ...POST, body: parts }, { ...wishes, purpose: "parts" });
    for (const bytes of [key, value, sent, parts]) bytes.fill(63);
    wishes.purpose = "changed";
    await ledger.apply(batch);
    const rows = (await ledger.scan(scope, { limit: 9 })).map((row) => row.map(text));
    assert.deepEqual(rows, [["k", "5"], ["one", "5"], ["swap", "5"]]);
    const [mail, post] = await Promise.all(["as it was", "parts"].map((purpose) => outbox.find(scope, purpose)));
    assert.equal(text((await outbox.request(mail.id))[1]), "dear Ann");
    assert.ok(text((await outbox.request(post.id))[1]).endsWith("{}"));
  }
});
