// How the outbox of a ledger is typed that lives elsewhere: this compiles, and what is marked does not.

import { Batch, DeliveryOutcome, type Drained, type Entry, FetchTransport, type Outbox, type ReceivedAnswer, type StoredResponse } from "keyledger";
import { ScriptedTransport } from "keyledger/testing";
import { Ledger, type RemoteClaim, type RemoteOutbox } from "keyledger/worker";

const ledger = await Ledger.open("payments.kl");
const outbox = ledger.outbox({ lanes: [{ name: "orders", isOrdered: true }], leaseMs: 5000 });

/** Whoever waits does not care where the outbox is. */
async function pay(anywhere: Outbox | RemoteOutbox, request: Request): Promise<Entry | null> {
  const { entry } = await anywhere.enqueue(request, { scope: "user-7", operation: "charge", purpose: "pay cart 42" });
  await using driver = anywhere.driver("user-7", new FetchTransport({ timeoutMs: 5000 }), { onError: console.error }).start();
  await entry.result({ signal: AbortSignal.timeout(1000) });
  for await (const { state } of anywhere.changes({ after: entry.change })) if (state === "answered") break;
  const { unsettled } = await anywhere.stats();
  return driver.isRunning && unsettled === 0 ? anywhere.get(entry.id) : null;
}

const drained: Drained = await outbox.drain("user-7", { credentials: "same-origin", keyField: { name: "X-Key" } }, { untilMs: 5000 });
/** Rows, an answer and a request to be sent, in one commit. */
const complete = (claim: RemoteClaim): Promise<StoredResponse> =>
  claim.completeBatch(new Batch().put("wallet", "ann", "5").enqueue(outbox, "paid", { scope: "user-7", operation: "mail" }), "paid");
await outbox.drain("user-7", {}, { inFlight: 1, onProgress: ({ sent, remaining }) => console.log(sent, remaining) });
outbox.driver("user-7", {}, { onError: (error: unknown) => console.error(error) });
// @ts-expect-error: a function cannot cross to the thread that has the ledger
outbox.driver("user-7", () => DeliveryOutcome.yes("ok"));
// @ts-expect-error: for the same reason
outbox.driver("user-7", new ScriptedTransport([]));
// @ts-expect-error: for the same reason
outbox.driver("user-7", { classify: (_answer: ReceivedAnswer, usual: DeliveryOutcome) => usual });
outbox.driver("user-7", { authorize: async (scope: string) => ({ authorization: `Bearer ${scope}` }) });
// @ts-expect-error: nobody here hands out deliveries
await outbox.leaseDue("user-7");
// @ts-expect-error: another thread has the file, and this one cannot wait for it
outbox.enqueueSync("x", { scope: "user-7", operation: "charge" });
export { complete, drained, pay };
