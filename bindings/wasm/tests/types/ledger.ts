// How the ledger is typed: this compiles, and what is marked does not.

import {
  Batch, type Claim, type Decision, Fingerprint, KeyledgerError, Ledger, Operation, type RecordView, StoredResponse, Transaction,
} from "keyledger";

const charge = Operation.repeatable("charge", { leaseMs: 30_000 });
await using ledger = await Ledger.open("payments.kl", { cacheBytes: 1 << 20 });
const asked = Fingerprint.ofJson({ cents: 990 });

/** Every kind has what it needs, and no other; a kind that is forgotten does not compile. */
function told(decision: Decision): string {
  switch (decision.kind) {
    case "acquired":
      return decision.claim.deriveKey("card");
    case "replay":
      return decision.response.text() + new Date(decision.expiresAtMs).toISOString() + decision.outcome;
    case "in_progress":
      return String(decision.retryAfterMs + decision.runningForMs);
    case "parked":
      return decision.reason;
    case "mismatch":
    case "gone":
      return decision.kind;
    default: {
      const nothing: never = decision;
      return nothing;
    }
  }
}
const signal = AbortSignal.timeout(1000);
told(await ledger.begin(charge, "user-7", "order-1034", asked, { memo: "m", waitMs: 500, signal }));
const decision = ledger.beginSync(charge, "user-7", "order-1034", asked);
// @ts-expect-error: there is a claim only where it was acquired
decision.claim;
// @ts-expect-error: nor does the synchronous form wait
ledger.beginSync(charge, "user-7", "order-1034", asked, { waitMs: 1 });
// @ts-expect-error: nor do many at once
ledger.beginMany([{ operation: charge, scope: "user-7", key: "order-1034", fingerprint: asked, waitMs: 1 }]);
// @ts-expect-error: so nothing ends the wait
ledger.beginMany([{ operation: charge, scope: "user-7", key: "order-1034", fingerprint: asked, signal: new AbortController().signal }]);
// @ts-expect-error: a request without a fingerprint is said to be so, by `Fingerprint.unchecked()`
await ledger.begin(charge, "user-7", "order-1034");
// @ts-expect-error: an operation has an effect; its name alone is none
await ledger.begin("charge", "user-7", "order-1034", asked);
// @ts-expect-error: nothing else is an effect
new Operation("charge", "sometimes");

const answer: StoredResponse = await ledger.run(charge, "user-7", "k", asked, async (claim: Claim) => {
  const receipt: Uint8Array = await claim.step("receipt", (key) => key);
  return StoredResponse.json({ receipt: receipt.length });
}, { means: (error) => (error instanceof TypeError ? "not_done" : { unknown: String(error) }) });
const read: unknown = answer.json();
// @ts-expect-error: an answer is text, bytes or a response; other values are made one by `StoredResponse.json`
await ledger.run(charge, "user-7", "k", asked, () => ({ paid: true }));

if (decision.kind === "acquired") {
  using claim = decision.claim;
  const left: number | null = claim.remainingMs;
  const balance = await claim.completeWith((tx: Transaction) => {
    const old: Uint8Array | null = tx.get("wallet", "ann");
    tx.put("wallet", "ann", "5");
    return old ? "more" : String(left);
  });
  await claim.completeBatch(new Batch().put("wallet", "ann", "5").delete("wallet", "bob"), balance);
}
const found: RecordView | null = await ledger.inspect({ scope: "user-7", operation: "charge", key: "k" });
if (found?.state === "parked") await ledger.resolve(found.keyId, found.fence, { completed: "paid" }, "ann", "the bank says so");
for await (const record of ledger.list({ state: "parked" })) told({ kind: "parked", reason: record.keyId.key, sinceMs: 0 });
const paid: number = await ledger.transaction((tx) => tx.scan("wallet", { limit: 10 }).length);
// @ts-expect-error: it runs inside the commit, and cannot wait
await ledger.transaction(async (tx) => tx.get("wallet", "ann"));

try {
  ledger.declare(charge);
} catch (error) {
  if (error instanceof KeyledgerError && error.code === "already_open") throw error;
  // @ts-expect-error: no code is called so
  if (error instanceof KeyledgerError && error.code === "alredy_open") throw error;
}
export { paid, read };
