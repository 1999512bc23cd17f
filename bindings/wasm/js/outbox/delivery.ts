import { KeyledgerError } from "../errors.js";
import { type NativeDelivery, NativeOutcome, NativeReport } from "../native/keyledger.js";
import { type Answer, StoredResponse } from "../response.js";
import type { Outbox } from "./outbox.js";
import { type EntryView, shownEntry } from "./view.js";

const NOTHING = new Uint8Array();

/** What is said of an outcome. */
export type OutcomeKind = "yes" | "no" | "retry" | "dead" | "unknown" | "hold_lane" | "hold_entry";

/**
 * What came of one delivery: a transport returns one. Each method that says more returns another outcome.
 *
 * ```ts
 * DeliveryOutcome.retry("the server answered 503").notBefore(30_000).pausingLane();
 * ```
 */
export class DeliveryOutcome {
  /** @internal */
  readonly native: NativeOutcome;

  /** @internal */
  constructor(native: NativeOutcome) {
    this.native = native;
  }

  static #of(kind: OutcomeKind, text: string, body = NOTHING): DeliveryOutcome {
    return new DeliveryOutcome(new NativeOutcome(kind, text, body));
  }
  static #answered(kind: "yes" | "no", answer: Answer): DeliveryOutcome {
    const { mediaType, body } = StoredResponse.of(answer);
    return DeliveryOutcome.#of(kind, mediaType, (body ?? NOTHING) as Uint8Array<ArrayBuffer>);
  }

  /** It was done, and this is the answer. */
  static yes(answer: Answer): DeliveryOutcome {
    return DeliveryOutcome.#answered("yes", answer);
  }
  /** A final no. It settles the entry only if no other try's outcome is unknown (O9). */
  static no(answer: Answer): DeliveryOutcome {
    return DeliveryOutcome.#answered("no", answer);
  }
  /** Try again. This try may have taken effect, unless it is `notTaken`. */
  static retry(error: string): DeliveryOutcome {
    return DeliveryOutcome.#of("retry", error);
  }
  /** Given up: this try certainly took no effect. If another may have, the entry becomes unknown (O9). */
  static dead(reason: string): DeliveryOutcome {
    return DeliveryOutcome.#of("dead", reason);
  }
  /** Nobody knows whether it took effect, and asking again will not tell: held for whoever reconciles. */
  static unknown(reason: string): DeliveryOutcome {
    return DeliveryOutcome.#of("unknown", reason);
  }
  /** The credentials are not accepted: nothing of this scope's lane is sent until `resume` (O8). The try is given back. */
  static holdLane(reason: string): DeliveryOutcome {
    return DeliveryOutcome.#of("hold_lane", reason);
  }
  /** The principal may not do this: the entry alone is held until it is resumed (O8). The try is given back. */
  static holdEntry(reason: string): DeliveryOutcome {
    return DeliveryOutcome.#of("hold_entry", reason);
  }

  #with(what: string, ms = 0): DeliveryOutcome {
    return new DeliveryOutcome(this.native.with(what, ms));
  }
  /** An answer that was told before: it settles the entry from any delivery, whatever other tries' outcomes are. */
  replayed(): DeliveryOutcome {
    return this.#with("replayed");
  }
  /** A retry after a try that certainly took no effect: no byte left, or it was turned away. */
  notTaken(): DeliveryOutcome {
    return this.#with("notTaken");
  }
  /** A retry that does not count as a try: the server asks for the same key later. */
  notCounted(): DeliveryOutcome {
    return this.#with("notCounted");
  }
  /**
   * A retry because no answer came: the network on this side may have been at fault. A driver in a browser tries it at once when that
   * is online again. What a transport throws is such a retry, and so is a `FetchTransport`'s when there is no answer.
   */
  unanswered(): DeliveryOutcome {
    return this.#with("unanswered");
  }
  /** Not before that time has passed, up to the outbox's maximum. */
  notBefore(ms: number): DeliveryOutcome {
    return this.#with("notBefore", ms);
  }
  /** Nothing of this scope's lane is sent in that time, either. */
  pausingLane(): DeliveryOutcome {
    return this.#with("pausingLane");
  }
  /** The server has told for how long it will know the key (O7). */
  keyExpiresAfter(ms: number): DeliveryOutcome {
    return this.#with("keyExpiresAfter", ms);
  }

  get kind(): OutcomeKind {
    return this.native.kind as OutcomeKind;
  }
}

/** What came of a delivery, for `settle` and `settleAndLease` of the outbox; it can be told again after an error. */
export class Report {
  /** @internal */
  readonly native: NativeReport;

  /** @internal */
  constructor(native: NativeReport) {
    this.native = native;
  }
  static of(id: number, fence: number, outcome: DeliveryOutcome): Report {
    return new Report(new NativeReport(id, fence, outcome.native));
  }

  /** The entry's number. */
  get id(): number {
    return this.native.id;
  }
  /** The delivery's fence. */
  get fence(): number {
    return this.native.fence;
  }
  get outcome(): DeliveryOutcome {
    return new DeliveryOutcome(this.native.outcome);
  }
}

interface Look {
  readonly entry: EntryView;
  readonly request: Uint8Array<ArrayBuffer>;
  readonly mediaType: string;
  readonly isInDoubt: boolean;
}

/**
 * One leased try at sending an entry: nobody else sends it meanwhile (O4). Send `request` with `key` within `leaseLeftMs`, then
 * `settle` it.
 *
 * Left by `using`, it counts as a try whose outcome is unknown, and is due after its backoff (O6). One that a driver hands to a transport
 * is settled by what the transport returns; `settle` and `report` throw `claim_settled` there.
 */
export class Delivery {
  readonly #native: NativeDelivery;
  readonly #outbox: Outbox;
  readonly #look: Look;
  /** Is aborted when its driver gives it up: what is being sent may be cut off then. Absent where no driver has it. */
  readonly signal: AbortSignal | undefined;

  /** @internal */
  constructor(native: NativeDelivery, outbox: Outbox, signal?: AbortSignal) {
    this.signal = signal;
    this.#native = native;
    this.#outbox = outbox;
    const look = native.look() as Look;
    this.#look = { ...look, entry: shownEntry(look.entry) };
  }

  /** The entry as it is while this delivery is out. */
  get entry(): EntryView {
    return this.#look.entry;
  }
  /** The entry's number. */
  get id(): number {
    return this.entry.id;
  }
  get scope(): string {
    return this.entry.scope;
  }
  get operation(): string {
    return this.entry.operation;
  }
  /** The key to send: the same on every try (O2). */
  get key(): string {
    return this.entry.key;
  }
  /** A number that strictly rises with every delivery. */
  get fence(): number {
    return this.entry.fence;
  }
  /** The request's bytes, read from the ledger for this try (O2). */
  get request(): Uint8Array<ArrayBuffer> {
    return this.#look.request;
  }
  get mediaType(): string {
    return this.#look.mediaType;
  }
  /** Whether an earlier try may have taken effect. */
  get isInDoubt(): boolean {
    return this.#look.isInDoubt;
  }
  /** How long the lease still lasts: a transport neither sends nor waits longer (O7, C4). */
  get leaseLeftMs(): number {
    return this.#native.leaseLeftMs();
  }
  /** Whether it is used up, or a driver's. */
  get isSettled(): boolean {
    return this.#native.isSettled();
  }

  /** Settles it. On return the outcome is on disk. A delivery whose settling was refused is not used up. */
  async settle(outcome: DeliveryOutcome): Promise<void> {
    await this.#outbox.native.settleDelivery(false, this.#native, outcome.native);
  }
  settleSync(outcome: DeliveryOutcome): void {
    this.#outbox.native.settleDelivery(true, this.#native, outcome.native);
  }
  /** What came of it, as a value. The delivery is over then. */
  report(outcome: DeliveryOutcome): Report {
    return new Report(this.#native.report(outcome.native));
  }
  /** Lets it go: a try whose outcome is unknown, due after its backoff (O6). No I/O. */
  drop(): void {
    this.#native.letGo();
  }
  [Symbol.dispose](): void {
    this.drop();
  }
}

/** @internal */
export function outcomeOf(returned: unknown): DeliveryOutcome {
  if (returned instanceof DeliveryOutcome) return returned;
  throw new KeyledgerError("invalid_argument", "a transport returns a DeliveryOutcome");
}
