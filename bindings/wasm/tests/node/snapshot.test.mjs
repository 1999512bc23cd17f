// Snapshots of ledgers in memory: what they restore, and what is refused.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder, kit } from "./kit.mjs";

const { Fingerprint, Ledger, MemoryStore, Operation } = kit;
const charge = Operation.repeatable("charge");
const unchecked = Fingerprint.unchecked();

/** Of a ledger with so many answers. */
async function taken(count = 1) {
  const ledger = await Ledger.inMemory();
  for (let at = 0; at < count; at++) await ledger.run(charge, "t", `k${at}`, unchecked, () => `done ${at}`);
  const snapshot = ledger.snapshot();
  await ledger.close();
  return snapshot;
}

test("a snapshot restores all that was committed, with what was begun and not settled, and goes on", async () => {
  const ledger = await Ledger.inMemory();
  await ledger.run(charge, "t", "k", unchecked, () => "done");
  await ledger.begin(charge, "t", "open", unchecked);
  const { claim } = await ledger.begin(charge, "t", "queued", unchecked);
  const settled = claim.complete("queued");
  const snapshot = ledger.snapshot();
  await settled;
  await ledger.run(charge, "t", "later", unchecked, () => "done");
  await ledger.close();

  const restored = await Ledger.restore(snapshot);
  assert.equal(restored.lookupSync(charge, "t", "k").text(), "done");
  assert.equal(restored.lookupSync(charge, "t", "later"), null);
  assert.equal(restored.inspectSync({ scope: "t", operation: "charge", key: "open" }).state, "in_progress");
  assert.equal(restored.lookupSync(charge, "t", "queued").text(), "queued");
  assert.equal((await restored.run(charge, "t", "new", unchecked, () => "new")).text(), "new");
  assert.ok((await restored.check()).isWell);
  const again = await Ledger.restore(restored.snapshot());
  assert.equal(again.lookupSync(charge, "t", "new").text(), "new");
  await restored.close();
  await again.close();
});

test("fences go on above those that were given before the snapshot (I5)", async () => {
  const ledger = await Ledger.inMemory();
  const { claim } = await ledger.begin(charge, "t", "k", unchecked);
  const restored = await Ledger.restore(ledger.snapshot());
  const later = await restored.begin(charge, "t", "other", unchecked);
  assert.ok(later.claim.fence > claim.fence);
  await ledger.close();
  await restored.close();
});

test("a snapshot in which one bit fell, wherever, is refused", async () => {
  const snapshot = await taken();
  const places = [0, 20, 21, 60, 84, 85, 92, 93, 97, snapshot.length - 1];
  for (let more = 0; more < 200; more++) places.push(Math.floor(Math.random() * snapshot.length));
  for (const place of places) {
    const damaged = snapshot.slice();
    damaged[place] ^= 1 << (place % 8);
    const code = place < 21 ? "wrong_format" : "corrupt";
    await assert.rejects(Ledger.restore(damaged), { code }, `a bit of byte ${place}`);
  }
});

test("a snapshot that was cut short, or has more behind it, is refused", async () => {
  const snapshot = await taken();
  for (const length of [21, 84, 85, 93, 100, snapshot.length >> 1, snapshot.length - 1]) {
    await assert.rejects(Ledger.restore(snapshot.slice(0, length)), { code: "corrupt" }, `${length} bytes`);
  }
  const longer = new Uint8Array(snapshot.length + 1);
  longer.set(snapshot);
  await assert.rejects(Ledger.restore(longer), { code: "corrupt" });
});

test("what is no snapshot is refused: nothing, text, a ledger file, one of a later version", async () => {
  const path = join(folder(), "file.kl");
  await (await Ledger.open(path)).close();
  const later = await taken();
  later[19] = "2".charCodeAt(0);
  for (const foreign of [new Uint8Array(), new TextEncoder().encode("keyledger"), readFileSync(path), later, null, "text"]) {
    await assert.rejects(Ledger.restore(foreign), { code: "wrong_format" });
  }
});

test("a snapshot is short while its ledger is, and a ledger on a file has none", async () => {
  const [young, older] = [await taken(1), await taken(500)];
  console.log(`a snapshot has ${young.length} bytes with one answer, ${older.length} with 500`);
  assert.ok(young.length < 64 << 10);
  const onFile = await Ledger.open(join(folder(), "other.kl"));
  assert.throws(() => onFile.snapshot(), { code: "invalid_argument" });
  await onFile.close();
});

test("a store is the same by hand, and reads as what it was", async () => {
  const snapshot = await taken();
  const store = new MemoryStore(snapshot);
  assert.deepEqual(store.snapshot(), snapshot);
  assert.throws(() => new MemoryStore(snapshot.slice(0, 90)), { code: "corrupt" });
});

test("a snapshot that was lost is no new ledger (I9)", async () => {
  for (const lost of [undefined, null, "", new Uint8Array()]) {
    await assert.rejects(Ledger.restore(lost), { code: "wrong_format" });
    assert.throws(() => Ledger.restoreSync(lost), { code: "wrong_format" });
    assert.throws(() => new MemoryStore(lost), { code: "wrong_format" });
  }
});

/** A snapshot of these bytes, under the checksum that is theirs. */
const sealed = (packed) => Buffer.concat([Buffer.from("keyledger snapshot 1\n"), Buffer.from(Fingerprint.ofBytes(packed).hex), packed]);

test("a snapshot whose checksum is right and whose parts do not fit is corrupt", async () => {
  const whole = Buffer.from((await taken()).slice(85));
  assert.ok(Ledger.restoreSync(sealed(whole)));
  const lengthened = (length) => {
    const packed = Buffer.from(whole);
    packed.writeBigUInt64LE(length);
    return packed;
  };
  for (const packed of [Buffer.alloc(0), whole.subarray(0, 7), whole.subarray(0, 11), whole.subarray(0, -1), Buffer.concat([whole, Buffer.of(0)])]) {
    assert.throws(() => Ledger.restoreSync(sealed(packed)), { code: "corrupt" });
  }
  for (const length of [0n, 4096n, 2n ** 40n, 2n ** 60n, 2n ** 64n - 1n]) {
    assert.throws(() => Ledger.restoreSync(sealed(lengthened(length))), { code: "corrupt" }, `${length}`);
  }
});
