import type { LedgerHandle } from "../ledger.js";
import { Fingerprint } from "../operation.js";
import { DeliveryOutcome, Report } from "../outbox/delivery.js";
import type { DrainProgress, Drained } from "../outbox/driver.js";
import type { Entry, EntryFilter } from "../outbox/entry.js";
import type { PlainFetchSettings, SentRequest } from "../outbox/fetch.js";
import type { EntryResolution, Outbox } from "../outbox/outbox.js";
import type { OutboxSettings } from "../outbox/settings.js";
import type { Wishes } from "../outbox/wishes.js";
import { Batch } from "../transaction.js";
import type { PlainChange } from "./batch.js";
import { type Given, Questions } from "./credentials.js";
import { Driving, type Wish } from "./driving.js";
import type { PlainResponse, Said } from "./messages.js";
import { plainError, responseOf } from "./plain.js";

/** A request and what is wanted of it. A fingerprint is null where nothing tells the request from another. */
export type PlainEnqueue = readonly [bytes: Uint8Array, wishes: Omit<Wishes, "fingerprint"> & { fingerprint?: string | null }];

/** What somebody found out. */
export type PlainVerdict = "dead" | "resend" | { readonly answeredYes: PlainResponse } | { readonly answeredNo: PlainResponse };

/** So many changes are told at a time. */
const CHANGES_MAX = 100;

/** The outboxes of a ledger, one for each way to open it, and who keeps them going. */
export class Outboxes {
  readonly #ledger: LedgerHandle;
  readonly #opened = new Map<string, Outbox>();
  readonly driving = new Driving((settings) => this.of(settings));
  readonly questions = new Questions();

  constructor(ledger: LedgerHandle) {
    this.#ledger = ledger;
  }

  of(settings: OutboxSettings): Outbox {
    const words = JSON.stringify(settings);
    let outbox = this.#opened.get(words);
    if (outbox) return outbox;
    outbox = this.#ledger.outbox(settings);
    if (this.#opened.size === 0) endLost(this.#ledger, outbox);
    this.#opened.set(words, outbox);
    return outbox;
  }

  /** A batch whose requests are for these outboxes. */
  batch(changes: readonly PlainChange[]): Batch {
    const changeOf = (one: PlainChange) => {
      if (one[0] !== "enqueue") return one;
      const [verb, settings, ...plain] = one;
      return [verb, this.of(settings), ...enqueueOf(plain)] as const;
    };
    return Batch.of(changes.map(changeOf));
  }
}

/** The entries whose leases are out. They changed when they were leased: it looks from the last change back, and not at all entries. */
function sending(outbox: Outbox): Entry[] {
  const { counts, lastChange } = outbox.stats();
  const found: Entry[] = [];
  for (let end = lastChange; end > 0 && found.length < counts.sending; end -= CHANGES_MAX) {
    for (const entry of outbox.changesSync({ after: Math.max(0, end - CHANGES_MAX) })) {
      if (entry.change > end) break;
      if (entry.state === "sending") found.push(entry);
    }
  }
  return found;
}

/**
 * Whoever had the ledger before is gone, and sends nothing more. What it had in flight may have taken effect; waiting for the ends of its
 * leases would tell nothing.
 */
function endLost(ledger: LedgerHandle, outbox: Outbox): void {
  const lost = DeliveryOutcome.retry("who sent it was lost in the middle");
  for (const { id, fence } of sending(outbox)) {
    outbox.settle(Report.of(id, fence, lost)).catch((error: unknown) => console.error("keyledger: a lost delivery waits for the end of its lease", error));
  }
  ledger.native.commitQueued();
}

/** What a call needs besides its words: the outboxes, what ends a wait, and who hears what it tells meanwhile. */
interface Asking {
  readonly outboxes: Outboxes;
  readonly signal: AbortSignal;
  readonly say: (said: Said) => void;
}

/** What is to be told of a driver's work, and whether whoever calls gives credentials. */
export interface Tells {
  readonly errors: boolean;
  readonly progress?: boolean;
  readonly asks: boolean;
}

const enqueueOf = ([bytes, { fingerprint, ...wishes }]: PlainEnqueue): [Uint8Array, Wishes] => [
  bytes,
  fingerprint === undefined ? wishes : { ...wishes, fingerprint: Fingerprint.ofHex(fingerprint ?? undefined) },
];

function resolutionOf(plain: PlainVerdict): EntryResolution {
  if (typeof plain === "string") return plain;
  return "answeredYes" in plain ? { answeredYes: responseOf(plain.answeredYes) } : { answeredNo: responseOf(plain.answeredNo) };
}

/** Waits for a change after that one; it, and what is there behind it. */
async function changesAfter(outbox: Outbox, after: number, signal: AbortSignal): Promise<Entry[]> {
  const changes: Entry[] = [];
  for await (const first of outbox.changes({ after, signal })) {
    changes.push(first);
    break;
  }
  for (const entry of outbox.changesSync({ after: changes.at(-1)?.change })) {
    if (changes.push(entry) >= CHANGES_MAX) break;
  }
  return changes;
}

/** How whoever calls hears of a driver's work, and is asked. */
const heard = ({ outboxes, say, signal }: Asking, { errors, asks }: Tells) => ({
  onError: errors ? (error: unknown) => say({ failed: plainError(error) }) : undefined,
  authorize: asks ? (scope: string, request: SentRequest) => outboxes.questions.ask(say, scope, request, signal) : undefined,
});

/** Answers of an outbox as it was opened. */
const of =
  <Words extends unknown[], T>(answer: (outbox: Outbox, ...words: Words) => T) =>
  ({ outboxes }: Asking, settings: OutboxSettings, ...words: Words) =>
    answer(outboxes.of(settings), ...words);

/** What can be asked of an outbox, by name. */
export const OUTBOX_ANSWERS = {
  "outbox.enqueue": of((outbox, ...plain: PlainEnqueue) => outbox.enqueue(...enqueueOf(plain))),
  "outbox.enqueueMany": of((outbox, many: readonly PlainEnqueue[]) => outbox.enqueueMany(many.map(enqueueOf))),
  "outbox.get": of((outbox, id: number) => outbox.get(id)),
  "outbox.request": of((outbox, id: number) => outbox.request(id)),
  "outbox.find": of((outbox, scope: string, purpose: string, lane?: string) => outbox.find(scope, purpose, lane)),
  "outbox.page": of((outbox, filter: EntryFilter, after?: number) => outbox.page(filter, after)),
  "outbox.stats": of((outbox) => outbox.stats()),
  "outbox.nextWakeup": of((outbox, scope: string) => outbox.nextWakeup(scope)),
  /** Waits until the entry has changed since that change, or is settled. */
  "outbox.entryAfter": ({ outboxes, signal }: Asking, settings: OutboxSettings, id: number, last: number) =>
    outboxes.of(settings).waitUntil(id, ({ change }) => change !== last, { signal }),
  "outbox.changesAfter": ({ outboxes, signal }: Asking, settings: OutboxSettings, after: number) =>
    changesAfter(outboxes.of(settings), after, signal),

  "outbox.cancel": of((outbox, id: number) => outbox.cancel(id)),
  "outbox.resume": of((outbox, scope: string) => outbox.resume(scope)),
  "outbox.resumeEntry": of((outbox, id: number) => outbox.resumeEntry(id)),
  "outbox.requeue": of((outbox, id: number) => outbox.requeue(id)),
  "outbox.dismiss": of((outbox, id: number, who: string, note: string) => outbox.dismiss(id, who, note)),
  "outbox.resolve": of((outbox, id: number, verdict: PlainVerdict, who: string, note: string) =>
    outbox.resolve(id, resolutionOf(verdict), who, note),
  ),

  /** Ends when it is cancelled, and not before. */
  "outbox.keep": async (asking: Asking, wish: Omit<Wish, "isAuthorized">, tells: Tells) => {
    const { outboxes, signal } = asking;
    await outboxes.driving.keep({ ...wish, isAuthorized: tells.asks }, signal, heard(asking, tells));
    throw signal.reason;
  },
  /** Answers a question that a driver or a drain has asked. */
  "outbox.credentials": ({ outboxes }: Asking, name: string, given: Given) => outboxes.questions.answer(name, given),
  "outbox.rested": ({ outboxes, signal }: Asking, scope: string, isGivenUp: boolean) =>
    outboxes.driving.rested(scope, isGivenUp ? AbortSignal.abort() : signal),
  "outbox.drain": (
    asking: Asking,
    settings: OutboxSettings,
    scope: string,
    transport: PlainFetchSettings,
    options: { untilMs?: number; inFlight?: number },
    tells: Tells,
  ): Promise<Drained> => {
    const { outboxes, signal, say } = asking;
    const onProgress = tells.progress ? (progress: DrainProgress) => say({ progress }) : undefined;
    const { onError, authorize } = heard(asking, tells);
    return outboxes.of(settings).drain(scope, outboxes.driving.transport(transport, authorize), { ...options, signal, onProgress, onError });
  },
};
