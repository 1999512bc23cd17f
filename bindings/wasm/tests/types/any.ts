// A function that takes a ledger wherever it lives: this compiles, and what is marked does not.

import {
  type AnyClaim,
  type AnyDriver,
  type AnyLedger,
  type AnyOutbox,
  Batch,
  type Entry,
  FetchTransport,
  Fingerprint,
  Ledger,
  type LedgerHandle,
  Operation,
  type StoredResponse,
} from "keyledger";
import { Ledger as Threaded, type RemoteLedger } from "keyledger/worker";

const charge = Operation.repeatable("charge");

async function pay(ledger: AnyLedger, user: string, key: string): Promise<StoredResponse> {
  const decision = await ledger.begin(charge, user, key, Fingerprint.unchecked(), { waitMs: 5 });
  if (decision.kind === "acquired") {
    const claim: AnyClaim = decision.claim;
    await claim.step("pay", (name) => `paid under ${name}`);
    await claim.completeBatch(new Batch().put("paid", key, "1").enqueue(ledger.outbox(), "mail", { scope: user, operation: "mail" }), "paid");
  }
  const asked = await ledger.ask(charge, user, key, Fingerprint.unchecked());
  if (asked.kind === "replay") return asked.response;
  for (const lost of await ledger.recover(charge, 10)) await lost.park(String(await ledger.newKey()));
  for await (const { fence, keyId } of ledger.list({ state: "parked" })) await ledger.resolve(keyId, fence, "not_done", "ann", "");
  return ledger.run(charge, user, key, Fingerprint.unchecked(), (claim) => claim.deriveKey("bank"));
}

async function send(outbox: AnyOutbox, id: number): Promise<Entry | null> {
  const driver: AnyDriver = outbox.driver("user-7", new FetchTransport()).start();
  await outbox.result(id, { timeoutMs: 1000 });
  await driver.stop({ timeoutMs: 1000 });
  return outbox.get(id);
}

const here: LedgerHandle = await Ledger.inMemory();
const elsewhere: RemoteLedger = await Threaded.open("payments.kl");
for (const ledger of [here, elsewhere]) await pay(ledger, "ann", "k");
await send(here.outbox(), 1);
await send(elsewhere.outbox(), 1);
const any: AnyLedger = elsewhere;
// @ts-expect-error: a closure goes to no other thread
await any.transaction(() => 1);
// @ts-expect-error: what lives elsewhere is waited for
any.beginSync(charge, "ann", "k", Fingerprint.unchecked());
// @ts-expect-error: it may be a promise
const key: string = any.newKey();
// @ts-expect-error: a transport of one's own goes to no other thread
any.outbox().driver("user-7", async () => null);
export { key };
