// How the platforms' own entries are typed: this compiles, and what is marked does not.

import { Fingerprint, Ledger, Operation } from "keyledger";
import { Ledger as InObject } from "keyledger/durable-object";
import { Ledger as InMemory } from "keyledger/memory";
import { Ledger as Threaded, type RemoteClaim } from "keyledger/worker";

const [charge, unchecked] = [Operation.repeatable("charge"), Fingerprint.unchecked()];

const threaded = await Threaded.open("payments.kl");
const decision = await threaded.begin(charge, "user-7", "k", unchecked, { waitMs: 100 });
if (decision.kind === "acquired") {
  const claim: RemoteClaim = decision.claim;
  await claim.complete("done");
  // @ts-expect-error: another thread has the file, and this one cannot wait for it
  claim.completeSync("done");
}
// @ts-expect-error: for the same reason
threaded.beginSync(charge, "user-7", "k", unchecked);

const ledger = await InMemory.inMemory();
const kept: Uint8Array = ledger.snapshot();
const again: InMemory = await InMemory.restore(kept);

/** As Cloudflare's types have it, without asking for them. */
declare const storage: Parameters<typeof InObject.openSync>[0];
const inObject = InObject.openSync(storage, { cacheBytes: 1 << 20 });
// @ts-expect-error: an object has a storage, and no path
InObject.openSync("payments.kl");
const kind: "persisted" | "best_effort" | "ephemeral" = Ledger.openSync("a.kl").durability();
export { again, inObject, kind };
