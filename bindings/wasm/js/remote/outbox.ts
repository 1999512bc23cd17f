import type { AnyOutbox } from "../any.js";
import { checkNumber, listed, onlyKnown } from "../door.js";
import { type DrainOptions, type Drained, type DriverOptions, workOf } from "../outbox/driver.js";
import { CHANGES_OF_OPTIONS, CHANGES_OPTIONS, Entry, type EntryFilter, type OutboxStats, WAIT_OPTIONS, type WaitOptions } from "../outbox/entry.js";
import { type Outgoing, read, stored } from "../outbox/http.js";
import { KeyledgerError } from "../errors.js";
import { type Cancel, type Enqueued, type EntryResolution, type Resumed, answerOf } from "../outbox/outbox.js";
import { hasEnded, resultOf } from "../outbox/result.js";
import type { OutboxSettings } from "../outbox/settings.js";
import type { EntryView } from "../outbox/view.js";
import { type Wishes, checkWishes } from "../outbox/wishes.js";
import type { StoredResponse } from "../response.js";
import { anothers } from "../transaction.js";
import { within } from "../waiting.js";
import { RemoteDriver, type RemoteTransport } from "./driver.js";
import type { Carrier } from "./messages.js";
import { newKey } from "./new-key.js";
import type { PlainEnqueue, PlainVerdict } from "./outbox-desk.js";
import { entryOf, plainResponse } from "./plain.js";

/**
 * The outbox of a ledger that lives elsewhere: as `Outbox`, save that everything waits, that it hands out no deliveries, and that what
 * sends is told by data. Made by `outbox()` of that ledger.
 *
 * What the settings are refused for, each call throws.
 */
export class RemoteOutbox implements AnyOutbox {
  readonly #carrier: Carrier;
  readonly #settings: OutboxSettings;

  /** @internal */
  constructor(carrier: Carrier, settings: OutboxSettings) {
    this.#carrier = carrier;
    this.#settings = settings;
  }

  #call<T>(method: string, words: unknown[], signal?: AbortSignal): Promise<T> {
    return this.#carrier.call(`outbox.${method}`, [this.#settings, ...words], { signal }) as Promise<T>;
  }
  #shown(plain: EntryView): Entry {
    return new Entry(entryOf(plain), this);
  }
  async #entry(method: string, ...words: unknown[]): Promise<Entry> {
    return this.#shown(await this.#call<EntryView>(method, words));
  }
  async #maybe(method: string, ...words: unknown[]): Promise<Entry | null> {
    const plain = await this.#call<EntryView | null>(method, words);
    return plain && this.#shown(plain);
  }

  /**
   * Stores a request with its key, to be sent; or finds the entry that is there already for its purpose or key (O1, O3). On return it is
   * on disk. If who leads is lost meanwhile, the next one is asked for the same entry.
   *
   * @throws as `Outbox.enqueue`.
   */
  async enqueue(request: Request | Outgoing, wishes: Wishes): Promise<Enqueued> {
    const asked = plainEnqueue(await read(request), wishes);
    return this.#enqueued(wishes, asked, await this.#call("enqueue", [...asked]));
  }
  /** Many, in order, in one commit: all of them, or none. The first error ends the call. */
  async enqueueMany(many: readonly [request: Request | Outgoing, wishes: Wishes][]): Promise<Enqueued[]> {
    const requests = await Promise.all(listed("enqueueMany", many).map(([request]) => read(request)));
    const asked = many.map(([, wishes], at) => plainEnqueue(requests[at] as Outgoing, wishes));
    const told = await this.#call<Enqueued[]>("enqueueMany", [asked]);
    return told.map((one, at) => this.#enqueued(many[at]?.[1], asked[at], one));
  }
  /** By a key that this call has made the entry is new, also where it had to be asked for twice. */
  #enqueued(wishes: Wishes | undefined, asked: PlainEnqueue | undefined, { entry, created }: Enqueued): Enqueued {
    const isOwn = wishes?.key === undefined && entry.key === asked?.[1].key;
    return { entry: this.#shown(entry), created: created || isOwn };
  }

  /** For a batch of the ledger that `carrier` leads to: the settings of this outbox, and what it is asked for. @internal */
  plain(carrier: Carrier, request: Outgoing, wishes: Wishes): [OutboxSettings, ...PlainEnqueue] {
    if (carrier !== this.#carrier) throw anothers();
    return [this.#settings, ...plainEnqueue(request, wishes)];
  }

  /** The earliest instant at which there is something to do (O11), in milliseconds since 1970-01-01 UTC; null: time alone brings nothing. */
  nextWakeup(scope: string): Promise<number | null> {
    return this.#call("nextWakeup", [scope]);
  }
  /** An entry, or null. */
  get(id: number): Promise<Entry | null> {
    return this.#maybe("get", id);
  }
  /** An entry's request: media type and bytes, as they were enqueued (O2); null: there is no such entry. */
  request(id: number): Promise<[mediaType: string, bytes: Uint8Array] | null> {
    return this.#call("request", [id]);
  }
  /** The entry of a purpose: the unsettled one, else the newest; null: there is none. It only looks (O3). */
  find(scope: string, purpose: string, lane?: string): Promise<Entry | null> {
    return this.#maybe("find", scope, purpose, lane);
  }
  /** Entries by filter, oldest first, page by page. */
  async *list(filter: EntryFilter = {}): AsyncGenerator<Entry, void, void> {
    for (let after: number | null | undefined; after !== null; ) {
      const page: { entries: EntryView[]; next: number | null } = await this.#call("page", [filter, after]);
      for (const plain of page.entries) yield this.#shown(plain);
      after = page.next;
    }
  }
  /** How it stands, at a cost that does not depend on how many entries there are. */
  stats(): Promise<OutboxStats> {
    return this.#call("stats", []);
  }

  /** Waits until the entry is settled, or the time is up; the entry as it is then. Throws `not_found`, also when it was swept meanwhile. */
  async wait(id: number, options?: WaitOptions): Promise<Entry> {
    return this.waitUntil(id, () => false, options);
  }
  /** Waits until `isEnough(entry)` is true of the entry as it is, it is settled, or the time is up. */
  async waitUntil(id: number, isEnough: (entry: EntryView) => boolean, options: WaitOptions = {}): Promise<Entry> {
    onlyKnown("a wait", options, WAIT_OPTIONS);
    const { timeoutMs = Infinity, signal } = options;
    signal?.throwIfAborted();
    checkNumber(timeoutMs);
    if (!(timeoutMs >= 0)) throw new KeyledgerError("invalid_argument", `a span of ${timeoutMs} ms; it must be zero or more`);
    const end = within(timeoutMs, signal);
    try {
      for (let last = -1; ; ) {
        const entry = await this.#after(id, last, end.signal);
        if (entry.isSettled || isEnough(entry)) return entry;
        last = entry.change;
      }
    } catch (error) {
      if (error !== end.timeIsUp) throw error;
      return await this.#after(id, -1, signal);
    } finally {
      end.stop();
    }
  }
  async #after(id: number, last: number, signal?: AbortSignal): Promise<Entry> {
    return this.#shown(await this.#call<EntryView>("entryAfter", [id, last], signal));
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
    for (let last = after; ; ) {
      signal?.throwIfAborted();
      for (const plain of await this.#call<EntryView[]>("changesAfter", [last], signal)) {
        last = plain.change;
        yield this.#shown(plain);
      }
    }
  }
  /** The entry as it is, and again with each change that is seen, until it is settled. */
  async *changesOf(id: number, options: { signal?: AbortSignal } = {}): AsyncGenerator<Entry, void, void> {
    onlyKnown("changesOf", options, CHANGES_OF_OPTIONS);
    const { signal } = options;
    for (let last = -1; ; ) {
      signal?.throwIfAborted();
      const now = await this.#after(id, last, signal);
      yield now;
      if (now.isSettled) return;
      last = now.change;
    }
  }

  /** Takes an entry back, if no lease is out and no try can have taken effect (O10). Cancelling again is ok. */
  async cancel(id: number): Promise<Cancel> {
    const { isCancelled, entry } = await this.#call<Cancel>("cancel", [id]);
    return { isCancelled, entry: this.#shown(entry) };
  }
  /** There are other credentials: everything of the scope that is held with its lane is due again (O8). */
  resume(scope: string): Promise<Resumed> {
    return this.#call("resume", [scope]);
  }
  /** One held entry is due again (O8). Throws `wrong_state` for an entry that is not held. */
  resumeEntry(id: number): Promise<Entry> {
    return this.#entry("resumeEntry", id);
  }
  /** A dead entry is sent again with its own key, its tries counted anew (O3). Throws `wrong_state`, `purpose_conflict`. */
  requeue(id: number): Promise<Entry> {
    return this.#entry("requeue", id);
  }
  /** A person gives a dead or unknown entry up: it is dead, and blocks its lane no more (O4). */
  dismiss(id: number, who: string, note: string): Promise<Entry> {
    return this.#entry("dismiss", id, who, note);
  }
  /** Somebody has found out what became of an unknown entry (O7). For `resend` the answer is the entry with a new key that takes its place. */
  async resolve(id: number, resolution: EntryResolution, who: string, note: string): Promise<Entry> {
    return this.#entry("resolve", id, plainVerdict(resolution), who, note);
  }

  /**
   * Has a scope kept going where the ledger is: what is due is leased, sent over `fetch`, and settled.
   *
   * ```ts
   * await using driver = outbox.driver("user-7", { credentials: "same-origin" }).start();
   * ```
   *
   * @throws `invalid_argument` for a transport that is a function, or has one: see `RemoteTransport`.
   */
  driver(scope: string, transport: RemoteTransport = {}, options?: DriverOptions): RemoteDriver {
    return new RemoteDriver(this.#carrier, this.#settings, scope, transport, options);
  }
  /** Sends until nothing is due within `untilMs` from now; what was left, by state. */
  async drain(scope: string, transport?: RemoteTransport, options: DrainOptions & DriverOptions = {}): Promise<Drained> {
    const [work, drain] = workOf(options);
    return this.driver(scope, transport, work).drain(drain);
  }
}

/** With a key, so that the same entry is found when it has to be asked for again. */
function plainEnqueue(request: Outgoing, given: Wishes): PlainEnqueue {
  checkWishes(given);
  const { fingerprint, ...wishes } = given;
  const [mediaType, bytes] = stored(request, wishes.mediaType);
  const asked = { ...wishes, mediaType, key: wishes.key ?? newKey() };
  return [bytes, fingerprint ? { ...asked, fingerprint: fingerprint.hex ?? null } : asked];
}

function plainVerdict(resolution: EntryResolution): PlainVerdict {
  if (typeof resolution === "string") return resolution;
  const [isYes, answer] = answerOf(resolution);
  return isYes ? { answeredYes: plainResponse(answer) } : { answeredNo: plainResponse(answer) };
}
