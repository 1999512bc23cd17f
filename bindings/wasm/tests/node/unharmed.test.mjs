// What one call, one clock or one store does wrong ends with its own call: not with the ledger, and not with others of the instance.

import assert from "node:assert/strict";
import { test } from "node:test";
import { kit } from "./kit.mjs";

const { Fingerprint, Ledger, MemoryStore, Operation } = kit;

const ANY = Fingerprint.unchecked();
const CHARGE = Operation.repeatable("charge");

const granted = (ledger, key) => {
  const decision = ledger.beginSync(CHARGE, "ann", key, ANY);
  assert.equal(decision.kind, "acquired");
  return decision.claim;
};

/** Another ledger, and a look at whether it goes on. */
function bystander() {
  const ledger = Ledger.inMemorySync();
  return () => {
    granted(ledger, crypto.randomUUID()).completeSync("done");
    Ledger.inMemorySync().closeSync();
  };
}

test("a BigInt for a number is refused, and everything goes on", async () => {
  const goesOn = bystander();
  const ledger = Ledger.inMemorySync();
  const claim = granted(ledger, "1");
  const outbox = ledger.outbox();
  const wrong = {
    heartbeat: () => claim.heartbeatSync(10n),
    sweep: () => ledger.sweepSync(10n),
    entry: () => outbox.get(10n),
    cache: () => Ledger.inMemorySync({ cacheBytes: 10n }),
    lease: () => ledger.beginSync(Operation.repeatable("charge", { leaseMs: 10n }), "ann", "2", ANY),
    closure: () => claim.completeWithSync(() => -1),
  };
  for (const [name, call] of Object.entries(wrong)) {
    assert.throws(call, name);
    goesOn();
  }
  claim.completeSync("done");
  assert.equal(ledger.lookupSync(CHARGE, "ann", "1").text(), "done");
});

test("a clock that tells no number, or throws, ends its call and no other ledger", () => {
  for (const wrong of [() => 10n, () => undefined, () => assert.fail("no time")]) {
    const goesOn = bystander();
    let tells = Date.now;
    const clock = { wallMs: () => tells(), monotonicMs: () => performance.now() };
    const ledger = Ledger.inMemorySync({ clock });
    tells = wrong;
    assert.throws(() => ledger.beginSync(CHARGE, "ann", "1", ANY));
    goesOn();
    tells = Date.now;
    granted(ledger, "2").completeSync("done");
  }
});

test("a store whose length is no number is refused", () => {
  const goesOn = bystander();
  class Wrong extends MemoryStore {
    length() {
      return BigInt(super.length());
    }
  }
  assert.throws(() => Ledger.on(new Wrong()), { name: "KeyledgerError" });
  goesOn();
});

test("a begin that is given up harms no call of the same turn (S7, P4)", async () => {
  const calls = {
    begin: (ledger) => granted(ledger, "2"),
    complete: (ledger, claim) => claim.completeSync("done"),
    step: (_, claim) => claim.stepSync("card", () => "paid"),
    apply: (ledger) => ledger.applySync(new kit.Batch().put("t", "k", "v")),
    sweep: (ledger) => ledger.sweepSync(10),
    suspend: (ledger) => ledger.suspend(),
    completeBatch: (_, claim) => claim.completeBatch(new kit.Batch().put("t", "k", "v"), "done"),
  };
  for (const [name, call] of Object.entries(calls)) {
    const ledger = Ledger.inMemorySync();
    const claim = granted(ledger, "mine");
    const gives = new AbortController();
    const given = ledger.begin(CHARGE, "ann", "1", ANY, { signal: gives.signal });
    gives.abort();
    await assert.rejects(given, { name: "AbortError" });
    await call(ledger, claim);
    if (name !== "suspend") granted(ledger, "3");
  }
});

test("more promises than one commit takes are all kept beside a blocking call", async () => {
  const ledger = Ledger.inMemorySync();
  const begun = Array.from({ length: 3000 }, (_, number) => ledger.begin(CHARGE, "ann", `${number}`, ANY));
  granted(ledger, "at once");
  assert.ok((await Promise.all(begun)).every((decision) => decision.kind === "acquired"));
});

test("a store that calls back into its ledger is told Reentrant, and the call goes on (G2)", () => {
  const inner = {
    begin: (ledger) => ledger.beginSync(CHARGE, "ann", "inner", ANY),
    lookup: (ledger) => ledger.lookupSync(CHARGE, "ann", "inner"),
    apply: (ledger) => ledger.applySync(new kit.Batch().put("t", "k", "v")),
    reopen: (ledger) => ledger.reopen(),
    close: (ledger) => ledger.closeSync(),
  };
  for (const where of ["write", "sync"]) {
    for (const [name, call] of Object.entries(inner)) {
      const goesOn = bystander();
      let told;
      let isOn = false;
      class CallsBack extends MemoryStore {
        write(offset, bytes) {
          this.#callBack("write");
          super.write(offset, bytes);
        }
        sync() {
          this.#callBack("sync");
          super.sync();
        }
        #callBack(from) {
          if (!isOn || from !== where) return;
          isOn = false;
          try {
            call(ledger);
          } catch (error) {
            told = error;
          }
        }
      }
      const ledger = Ledger.on(new CallsBack());
      isOn = true;
      granted(ledger, "outer").completeSync("done");
      assert.equal(told?.code, "reentrant", `${name} in ${where}: ${told}`);
      granted(ledger, "after");
      goesOn();
      ledger.closeSync();
    }
  }
});
