import type { AnyOutbox } from "../any.js";
import { listed, onlyKnown, refused } from "../door.js";
import type { KeyledgerError } from "../errors.js";
import type { LedgerHandle } from "../ledger.js";
import { type NativeDelivery, NativeEnqueue, NativeOutbox } from "../native/keyledger.js";
import { type Answer, StoredResponse } from "../response.js";
import { aborted } from "../waiting.js";
import { Delivery, Report } from "./delivery.js";
import { type AnyTransport, type DrainOptions, type Drained, Driver, type DriverOptions, workOf } from "./driver.js";
import { CHANGES_OF_OPTIONS, CHANGES_OPTIONS, ENTRY_FILTER, Entry, type EntryFilter, type OutboxStats, WAIT_OPTIONS, type WaitOptions } from "./entry.js";
import { type FetchSettings, transportOf } from "./fetch.js";
import { type Outgoing, read, stored } from "./http.js";
import { hasEnded, resultOf } from "./result.js";
import type { UnderWay } from "./sending.js";
import { type OutboxSettings, wordsOf } from "./settings.js";
import { type EntryView, shownEntry } from "./view.js";
import { type Wishes, checkWishes } from "./wishes.js";

const NOTHING = new Uint8Array();

/** What `enqueue` answers. */
export interface Enqueued {
  /** The entry: a new one, or the one that was there. */
  readonly entry: Entry;
  /** Whether it is new. */
  readonly created: boolean;
}

/** What `cancel` answers: truthfully, after it is on disk (O10). */
export interface Cancel {
  /** True: no lease is out, and no try can have taken effect. False: too late; nothing was changed. */
  readonly isCancelled: boolean;
  readonly entry: Entry;
}

/** What `resume` did for a scope. */
export interface Resumed {
  /** Lanes that were held. */
  readonly lanes: number;
  /** Entries that were held with them, and are due now. */
  readonly entries: number;
}

/** What a call that settles and leases did. */
export interface Turn {
  /** For each report null if it counted, else the error `claim_lost` (O5). */
  readonly settled: readonly (KeyledgerError | null)[];
  readonly deliveries: readonly Delivery[];
}

/** What somebody found out about an unknown entry (O7). `resend` is only for when no earlier send can still arrive. */
export type EntryResolution = { answeredYes: Answer } | { answeredNo: Answer } | "dead" | "resend";

type Native<T> = Promise<T> | T;

/**
 * The outbox of a ledger: requests are stored with their keys before they are sent, and sent until they are answered. Made by
 * `ledger.outbox()`.
 *
 * A call that ends in `Sync` is made at once; the others share their sync with all that is called in the same turn of the event loop.
 */
export class Outbox implements AnyOutbox {
  /** @internal */
  readonly native: NativeOutbox;
  /** Of all outboxes of the ledger. @internal */
  readonly sending: UnderWay;

  /** @internal */
  constructor(ledger: LedgerHandle, settings: OutboxSettings = {}) {
    this.sending = ledger.sending;
    this.native = new NativeOutbox(ledger.native, wordsOf(settings));
  }

  /**
   * Stores a request with its key, to be sent; or finds the entry that is there already for its purpose or key (O1, O3). On return it is
   * on disk.
   *
   * ```ts
   * const { entry } = await outbox.enqueue(new Request(url, { method: "POST", body }), { scope: user, operation: "charge", purpose: "pay cart 42" });
   * ```
   *
   * @throws `purpose_conflict`, `key_conflict` (the purpose, or the key, has another request: `error.entry`), `outbox_full`,
   * `invalid_key`, `invalid_argument` for credentials among the headers and for a lane that was not declared, `too_large`; nothing is
   * stored then.
   */
  async enqueue(request: Request | Outgoing, wishes: Wishes): Promise<Enqueued> {
    return this.#enqueued(await this.native.enqueue(false, this.asked(await read(request), wishes)));
  }
  /** The same at once. A fetch `Request` gives its body only to who waits: `await HttpRequest.from(request)`. */
  enqueueSync(request: Outgoing, wishes: Wishes): Enqueued {
    return this.#enqueued(this.native.enqueue(true, this.asked(request, wishes)));
  }
  /** Many, in order, in one commit: all of them, or none. The first error ends the call. */
  async enqueueMany(many: readonly [request: Request | Outgoing, wishes: Wishes][]): Promise<Enqueued[]> {
    const requests = await Promise.all(listed("enqueueMany", many).map(([request]) => read(request)));
    const asked = many.map(([, wishes], at) => this.asked(requests[at] as Outgoing, wishes));
    return ((await this.native.enqueueMany(false, asked)) as unknown[]).map((one) => this.#enqueued(one));
  }
  /** `enqueueMany`, done when it returns. */
  enqueueManySync(many: readonly [request: Outgoing, wishes: Wishes][]): Enqueued[] {
    const asked = listed("enqueueMany", many).map(([request, wishes]) => this.asked(request, wishes));
    return (this.native.enqueueMany(true, asked) as unknown[]).map((one) => this.#enqueued(one));
  }

  /** @internal */
  asked(request: Outgoing, wishes: Wishes): NativeEnqueue {
    checkWishes(wishes);
    const { scope, operation, purpose, lane, key, fingerprint, sendByAtMs, evenIfAnswered = false } = wishes;
    const [mediaType, bytes] = stored(request, wishes.mediaType);
    const asked = new NativeEnqueue(
      this.native,
      scope,
      operation,
      mediaType,
      bytes,
      purpose,
      lane,
      key,
      sendByAtMs,
      evenIfAnswered,
    );
    if (fingerprint) asked.fingerprint(fingerprint.native);
    return asked;
  }
  #enqueued(native: unknown): Enqueued {
    const { entry, created } = native as Enqueued;
    return { entry: this.#shown(entry), created };
  }
  /** @internal */
  enqueued(native: unknown): Enqueued {
    return this.#enqueued(native);
  }

  /** Hands out at most `limit` deliveries of a scope that are due, in due order. On return their leases are on disk (O4). */
  async leaseDue(scope: string, limit = 10): Promise<Delivery[]> {
    return this.#deliveries(await this.native.leaseDue(false, scope, limit));
  }
  /** `leaseDue`, done when it returns. */
  leaseDueSync(scope: string, limit = 10): Delivery[] {
    return this.#deliveries(this.native.leaseDue(true, scope, limit));
  }
  /** Settles a delivery by its report. On return the outcome is on disk. Throws `claim_lost` where that does not count (O5). */
  async settle(report: Report): Promise<void> {
    await this.native.settle(false, report.native);
  }
  /** `settle`, done when it returns. */
  settleSync(report: Report): void {
    this.native.settle(true, report.native);
  }
  /** Settles deliveries and hands out what is due, in one commit. */
  async settleAndLease(reports: readonly Report[], scope: string, limit = 10): Promise<Turn> {
    return this.#turned(await this.native.settleAndLease(false, copies(reports), scope, limit));
  }
  /** `settleAndLease`, done when it returns. */
  settleAndLeaseSync(reports: readonly Report[], scope: string, limit = 10): Turn {
    return this.#turned(this.native.settleAndLease(true, copies(reports), scope, limit));
  }
  #deliveries(native: unknown): Delivery[] {
    return (native as NativeDelivery[]).map((one) => new Delivery(one, this));
  }
  #turned(native: unknown): Turn {
    const { settled, deliveries } = native as { settled: (KeyledgerError | undefined)[]; deliveries: unknown };
    return { settled: settled.map((error) => error ?? null), deliveries: this.#deliveries(deliveries) };
  }

  /**
   * The earliest instant at which `leaseDue` with that scope could hand something out or change an entry's state, in milliseconds since
   * 1970-01-01 UTC; null: time alone brings nothing (O11).
   */
  nextWakeup(scope: string): number | null {
    return this.native.nextWakeup(scope) as number | null;
  }
  /** An entry, or null. */
  get(id: number): Entry | null {
    return this.#maybe(this.native.get(id));
  }
  /** An entry's request: media type and bytes, as they were enqueued (O2); null: there is no such entry. */
  request(id: number): [mediaType: string, bytes: Uint8Array] | null {
    return this.native.request(id) as [string, Uint8Array] | null;
  }
  /** The entry of a purpose: the unsettled one, else the newest; null: there is none. It only looks (O3). */
  find(scope: string, purpose: string, lane = "default"): Entry | null {
    return this.#maybe(this.native.find(scope, lane, purpose));
  }
  /** Entries by filter, oldest first, page by page. */
  *listSync(filter: EntryFilter = {}): Generator<Entry, void, void> {
    for (let after: number | null | undefined; after !== null; ) {
      const page = this.page(filter, after);
      yield* page.entries;
      after = page.next;
    }
  }
  /** Entries by filter, oldest first, page by page. */
  async *list(filter?: EntryFilter): AsyncGenerator<Entry, void, void> {
    yield* this.listSync(filter);
  }
  /** Those after that one, and where the next page begins; null: nowhere. @internal */
  page(filter: EntryFilter, after?: number): { entries: Entry[]; next: number | null } {
    onlyKnown("a filter", filter, ENTRY_FILTER);
    const { scope, lane, operation, state, olderThanMs, pageSize } = filter;
    const native: unknown = this.native.list(scope, lane, operation, state, olderThanMs, pageSize, after);
    const { entries, next } = native as { entries: unknown[]; next: number | null };
    return { entries: entries.map((one) => this.#shown(one)), next };
  }
  /** How it stands, at a cost that does not depend on how many entries there are. */
  stats(): OutboxStats {
    return this.native.stats() as OutboxStats;
  }
  #shown(native: unknown): Entry {
    return new Entry(shownEntry(native), this);
  }
  #maybe(native: unknown): Entry | null {
    return native === null ? null : this.#shown(native);
  }

  /** Waits until the entry is settled, or the time is up; the entry as it is then. Throws `not_found`, also when it was swept meanwhile. */
  async wait(id: number, options?: WaitOptions): Promise<Entry> {
    return this.waitUntil(id, () => false, options);
  }
  /** Waits until `isEnough(entry)` is true of the entry as it is, it is settled, or the time is up. */
  async waitUntil(id: number, isEnough: (entry: EntryView) => boolean, options: WaitOptions = {}): Promise<Entry> {
    onlyKnown("a wait", options, WAIT_OPTIONS);
    const { timeoutMs = Infinity, signal } = options;
    let raised: { error: unknown } | undefined;
    const asks = (native: unknown) => {
      try {
        return isEnough(shownEntry(native));
      } catch (error) {
        raised = { error };
        return true;
      }
    };
    const waited = await until(signal, (end) => this.native.waitUntil(id, timeoutMs, asks, end));
    if (raised) throw raised.error;
    return this.#shown(waited);
  }
  /** See `Entry.result`. */
  async result(id: number, options?: WaitOptions): Promise<StoredResponse> {
    return resultOf(await this.waitUntil(id, hasEnded, options));
  }
  /**
   * Every entry that changes after that change, in the order of their last changes; after change 0, which is the default, every entry. It
   * does not end by itself. An entry that changes twice before it is read is told once, as it is then.
   */
  async *changes(options: { after?: number; signal?: AbortSignal } = {}): AsyncGenerator<Entry, void, void> {
    onlyKnown("changes", options, CHANGES_OPTIONS);
    const { after = 0, signal } = options;
    const changes = this.native.changes(after);
    try {
      for (;;) yield this.#shown(await until(signal, (end) => changes.next(end)));
    } finally {
      changes.free();
    }
  }
  /** Those changes that are there already. */
  *changesSync(options: { after?: number } = {}): Generator<Entry, void, void> {
    onlyKnown("changesSync", options, { after: true });
    const { after = 0 } = options;
    const changes = this.native.changes(after);
    try {
      for (let native: unknown; (native = changes.nextSync()) !== null; ) yield this.#shown(native);
    } finally {
      changes.free();
    }
  }
  /** The entry as it is, and again with each change that is seen, until it is settled. */
  async *changesOf(id: number, options: { signal?: AbortSignal } = {}): AsyncGenerator<Entry, void, void> {
    onlyKnown("changesOf", options, CHANGES_OF_OPTIONS);
    const { signal } = options;
    for (let last = -1; ; ) {
      const now = await this.waitUntil(id, (entry) => entry.change !== last, { signal });
      yield now;
      if (now.isSettled) return;
      last = now.change;
    }
  }

  /** Takes an entry back, if no lease is out and no try can have taken effect (O10). Cancelling again is ok. */
  async cancel(id: number): Promise<Cancel> {
    return this.#cancelled(await this.native.cancel(false, id));
  }
  /** `cancel`, done when it returns. */
  cancelSync(id: number): Cancel {
    return this.#cancelled(this.native.cancel(true, id));
  }
  #cancelled(native: unknown): Cancel {
    const { isCancelled, entry } = native as Cancel;
    return { isCancelled, entry: this.#shown(entry) };
  }
  /** There are other credentials: everything of the scope that is held with its lane is due again (O8). */
  async resume(scope: string): Promise<Resumed> {
    return (await this.native.resume(false, scope)) as Resumed;
  }
  /** `resume`, done when it returns. */
  resumeSync(scope: string): Resumed {
    return this.native.resume(true, scope) as Resumed;
  }
  /** One held entry is due again (O8). Throws `wrong_state` for an entry that is not held. */
  async resumeEntry(id: number): Promise<Entry> {
    return this.#entry(this.native.resumeEntry(false, id));
  }
  /** `resumeEntry`, done when it returns. */
  resumeEntrySync(id: number): Entry {
    return this.#shown(this.native.resumeEntry(true, id));
  }
  /** A dead entry is sent again with its own key, its tries counted anew (O3). Throws `wrong_state`, `purpose_conflict`. */
  async requeue(id: number): Promise<Entry> {
    return this.#entry(this.native.requeue(false, id));
  }
  /** `requeue`, done when it returns. */
  requeueSync(id: number): Entry {
    return this.#shown(this.native.requeue(true, id));
  }
  /** A person gives a dead or unknown entry up: it is dead, and blocks its lane no more (O4). */
  async dismiss(id: number, who: string, note: string): Promise<Entry> {
    return this.#entry(this.native.dismiss(false, id, who, note));
  }
  /** `dismiss`, done when it returns. */
  dismissSync(id: number, who: string, note: string): Entry {
    return this.#shown(this.native.dismiss(true, id, who, note));
  }
  /** Somebody has found out what became of an unknown entry (O7). For `resend` the answer is the entry with a new key that takes its place. */
  async resolve(id: number, resolution: EntryResolution, who: string, note: string): Promise<Entry> {
    return this.#entry(this.native.resolve(false, id, ...verdictOf(resolution), who, note));
  }
  /** `resolve`, done when it returns. */
  resolveSync(id: number, resolution: EntryResolution, who: string, note: string): Entry {
    return this.#shown(this.native.resolve(true, id, ...verdictOf(resolution), who, note));
  }
  async #entry(native: Native<unknown>): Promise<Entry> {
    return this.#shown(await native);
  }

  /**
   * Keeps a scope going: leases what is due, sends it over `transport`, settles it.
   *
   * ```ts
   * await using driver = outbox.driver("user-7", new FetchTransport()).start();
   * ```
   */
  driver(scope: string, transport: AnyTransport | FetchSettings = {}, options?: DriverOptions): Driver {
    return new Driver(this, scope, transportOf(transport), options);
  }
  /** Sends until nothing is due within `untilMs` from now; what was left, by state. */
  async drain(scope: string, transport: AnyTransport | FetchSettings = {}, options: DrainOptions & DriverOptions = {}): Promise<Drained> {
    const [work, drain] = workOf(options);
    return this.driver(scope, transport, work).drain(drain);
  }
}

/** A call that is given up when the signal is. */
async function until(signal: AbortSignal | undefined, call: (end?: Promise<never>) => Promise<unknown>): Promise<unknown> {
  signal?.throwIfAborted();
  const end = signal && aborted(signal);
  try {
    return await call(end?.promise);
  } finally {
    end?.stop();
  }
}

/** A call uses up the native reports that it is given in a list. */
const copies = (reports: readonly Report[]) => reports.map((report) => report.native.copy());

function verdictOf(resolution: EntryResolution): [verdict: string, mediaType: string, body: Uint8Array] {
  if (typeof resolution === "string") return [resolution, "", NOTHING];
  const [isYes, { mediaType, body }] = answerOf(resolution);
  return [isYes ? "answered_yes" : "answered_no", mediaType, body ?? NOTHING];
}

/** A resolution that has an answer: whether it is a yes, and the answer. @internal */
export function answerOf(resolution: Exclude<EntryResolution, string>): [isYes: boolean, answer: StoredResponse] {
  if (typeof resolution === "object" && resolution !== null) {
    if ("answeredYes" in resolution) return [true, StoredResponse.of(resolution.answeredYes)];
    if ("answeredNo" in resolution) return [false, StoredResponse.of(resolution.answeredNo)];
  }
  throw refused('a resolution is { answeredYes: answer }, { answeredNo: answer }, "dead" or "resend"');
}
