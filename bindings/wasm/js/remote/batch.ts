import type { OutboxSettings } from "../outbox/settings.js";
import { type Batch, type Change, anothers, batchOf } from "../transaction.js";
import type { Carrier } from "./messages.js";
import type { PlainEnqueue } from "./outbox-desk.js";

/** A change of a batch as data. An outbox is named by its settings. */
export type PlainChange = Change | readonly [verb: "enqueue", settings: OutboxSettings, ...asked: PlainEnqueue];

/** The changes of a batch for the ledger that `carrier` leads to. Throws what the requests in it are refused for. */
export function plainChanges(carrier: Carrier, batch: Batch): PlainChange[] {
  return batchOf(batch).changes.map((one) => {
    if (one[0] !== "enqueue") return one;
    const [verb, outbox, request, wishes] = one;
    if (!("plain" in outbox)) throw anothers();
    return [verb, ...outbox.plain(carrier, request, wishes)];
  });
}
