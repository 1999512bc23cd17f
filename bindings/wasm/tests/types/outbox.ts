// How the outbox is typed: this compiles, and what is marked does not.

import { DeliveryOutcome, type Drained, FetchTransport, Ledger, type StoredResponse } from "keyledger";
import { ManualClock, ScriptedTransport } from "keyledger/testing";

const ledger = await Ledger.inMemory({ clock: new ManualClock(0) });
const outbox = ledger.outbox({ lanes: [{ name: "orders", isOrdered: true, onStuckHead: "skip" }], maxTries: 3 });
const request = new Request("https://bank.example/charges", { method: "POST", body: "{}" });
const { entry, created } = await outbox.enqueue(request, { scope: "user-7", operation: "charge", purpose: "pay cart 42", lane: "orders" });
const answer: StoredResponse = await entry.result({ signal: AbortSignal.timeout(1000) });
const isHttp: Response | null = entry.httpAnswer;
// @ts-expect-error: whose request it is has to be said
await outbox.enqueue(request, { operation: "charge" });
// @ts-expect-error: only what is ordered has a head that can be stuck
ledger.outbox({ lanes: [{ name: "mails", onStuckHead: "skip" }] });
// @ts-expect-error: a fetch Request gives its body only to who waits
outbox.enqueueSync(request, { scope: "user-7", operation: "charge" });

const transport = new FetchTransport({ authorize: async (scope) => ({ authorization: `Bearer ${scope}` }) });
const driver = outbox.driver("user-7", transport, { inFlight: 2, onError: (error: unknown) => console.error(error) });
const drained: Drained = await outbox.drain("user-7", new ScriptedTransport([DeliveryOutcome.yes("ok")]), { untilMs: 5000 });
await outbox.drain("user-7", (delivery) => DeliveryOutcome.yes(delivery.key));
// @ts-expect-error: what came of it has to be said
await outbox.drain("user-7", () => undefined);
for await (const change of outbox.changes({ after: entry.change })) if (change.state === "answered") break;
// @ts-expect-error: no state is called so
if (entry.state === "done") throw new Error();
export { answer, created, driver, drained, isHttp };
export const charged: { cents: number } = (await entry.result()).json<{ cents: number }>();
export const overHttp: Response = await entry.httpResult({ timeoutMs: 1 });
