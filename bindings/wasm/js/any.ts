import type { Step } from "./claim.js";
import type { Decision } from "./decision.js";
import type { Resolution, Settlement } from "./ledger.js";
import type { Effect, Fingerprint, KeyId, Operation } from "./operation.js";
import type { Begin, BeginOptions, CompactOptions, ForgetOptions, RunOptions } from "./options.js";
import type { DrainOptions, Drained, DriverOptions, StopOptions } from "./outbox/driver.js";
import type { Entry, EntryFilter, OutboxStats, WaitOptions } from "./outbox/entry.js";
import type { FetchTransport } from "./outbox/fetch.js";
import type { Outgoing } from "./outbox/http.js";
import type { Cancel, Enqueued, EntryResolution, Resumed } from "./outbox/outbox.js";
import type { OutboxSettings } from "./outbox/settings.js";
import type { EntryView } from "./outbox/view.js";
import type { Wishes } from "./outbox/wishes.js";
import type { FileCheck, Filter, Forgotten, RecordView, Stats, Swept } from "./records.js";
import type { Answer, Bytes, StoredResponse } from "./response.js";
import type { Durability } from "./store.js";
import type { Batch, Row } from "./transaction.js";

/** What is told at once where the ledger is, and waited for where it lives elsewhere. `await` does for both. */
export type Awaitable<T> = T | Promise<T>;

/**
 * A ledger, wherever it lives: in this thread, in another one, or with another tab. For functions that are to take any.
 */
export interface AnyLedger {
  /** What becomes of what was stored: `persisted`, `best_effort` or `ephemeral`. */
  readonly durability: () => Durability;
  /** Asks for a key under a scope and an operation: exactly one caller gets the claim. */
  begin(operation: Operation, scope: string, key: string, fingerprint: Fingerprint, options?: BeginOptions): Promise<Decision<AnyClaim>>;
  /** Decides each as if alone, in order, in one commit. */
  beginMany(begins: readonly Begin[]): Promise<Decision<AnyClaim>[]>;
  /** As `begin` would answer now, save that nothing is granted: where it would be, the answer is `in_progress` (S9). */
  ask(operation: Operation, scope: string, key: string, fingerprint: Fingerprint): Awaitable<Decision<AnyClaim>>;
  /** Begins, runs `handler` if the claim is granted, settles with what it returns, and returns that; or the stored answer. */
  run(
    operation: Operation,
    scope: string,
    key: string,
    fingerprint: Fingerprint,
    handler: (claim: AnyClaim) => Promise<Answer> | Answer,
    options?: RunOptions,
  ): Promise<StoredResponse>;

  /** The stored answer of a key, or null. Waits for nothing. */
  lookup(operation: Operation, scope: string, key: string): Promise<StoredResponse | null>;
  /** The record of a key id, or null. */
  inspect(id: KeyId): Promise<RecordView | null>;
  /** Records by filter, page by page. */
  list(filter?: Filter): AsyncGenerator<RecordView, void, void>;

  /** Settles by key id and fence: for whoever holds no claim object. */
  settle(id: KeyId, fence: number, verb: Settlement, with_?: Answer): Promise<void>;
  /** Renews the lease from now, by key id and fence. Throws `claim_lost` where somebody else has the claim. */
  heartbeat(id: KeyId, fence: number, leaseMs: number): Promise<void>;
  /** Records the result of a step, by key id and fence. */
  recordStep(id: KeyId, fence: number, name: string, value: Bytes): Promise<void>;
  /** Claims on at most `limit` records whose owners were lost, oldest first. */
  recover(operation: Operation, limit: number): Promise<AnyClaim[]>;
  /** Settles a parked record for a person. `fence` is the one that `inspect` showed. */
  resolve(id: KeyId, fence: number, resolution: Resolution, who: string, note: string): Promise<void>;
  /** Resolves every parked record that the filter lets through; says how many. */
  resolveMany(filter: Filter, resolution: Resolution, who: string, note: string): Promise<number>;

  /** Removes a record that is settled or released, or a tombstone. One that is in progress or parked is kept, unless `evenIfUnknown` is true: after that it may run again. */
  forget(id: KeyId, options?: ForgetOptions): Promise<Forgotten>;
  /** The same of every record of a scope, and of the entries of its outbox, in one commit. */
  forgetScope(scope: string, options?: ForgetOptions): Promise<Forgotten>;
  /** Turns at most `limit` records that are past their time into their next state, in one commit; `more` says whether more are due. What is parked stays. */
  sweep(limit: number): Promise<Swept>;
  /** Records by state, and the length of the file, at a cost that does not depend on how many there are. */
  stats(): Promise<Stats>;
  /** Walks the whole file: checksums, records, rows and counts against each other. Changes nothing; what is wrong is told in the answer. */
  check(): Promise<FileCheck>;
  /** Gives free pages back. Refused while there are claims whose leases go on, unless `evenWithClaims` is true (T5). */
  compact(options?: CompactOptions): Promise<{ beforeBytes: number; afterBytes: number }>;

  /** Stores all of a batch, or nothing. */
  apply(batch: Batch): Promise<void>;
  /** A row of the caller's own; null: there is none. */
  get(table: string, key: Bytes): Promise<Uint8Array | null>;
  /** At most `limit` rows of the caller's own, from `from` on and before `to`, in the order of their keys. */
  scan(table: string, range: { from?: Bytes; to?: Bytes | null; limit: number }): Promise<Row[]>;

  /** The outbox of this ledger. */
  outbox(settings?: OutboxSettings): AnyOutbox;
  /** A new key for a new operation: UUIDv7. */
  newKey(): Awaitable<string>;
  /** Throws now what `begin` would throw for this operation. */
  declare(operation: Operation): Awaitable<void>;
  /** After `poisoned` or `ambiguous`: reads the store anew. */
  reopen(): Awaitable<void>;
  /** Lets go of the store. What waits throws `closed`. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A claim of any ledger's. */
export interface AnyClaim {
  /** Whose record it is. */
  readonly keyId: KeyId;
  /** A number that strictly rises with every claim granted. */
  readonly fence: number;
  /** 1 for the first owner of this key id. */
  readonly attempt: number;
  /** That of the record: the strictest that was named (E1). */
  readonly effect: Effect;
  /** What `begin` was given for whoever recovers it. */
  readonly memo: Uint8Array;
  /** When the key was granted first: milliseconds since 1970-01-01 UTC. */
  readonly firstGrantedAtMs: number;
  /** The steps that were recorded, by this owner and those before. */
  readonly steps: readonly Step[];
  /** Repeatable: how long the handler may still call out (E4); null for other effects. */
  readonly remainingMs: number | null;
  /** Whether a heartbeat was told that the claim is somebody else's. */
  readonly isLost: boolean;
  /** Whether it is used up, or on its way to be. */
  readonly isSettled: boolean;
  /** A key for a downstream call, equal on every attempt (E3). */
  deriveKey(name: string): string;
  /** Renews the lease from now, by the operation's own length or by `leaseMs`. */
  heartbeat(leaseMs?: number): Promise<void>;
  /** It was done, and this is the answer: replayed from now on. */
  complete(answer: Answer): Promise<void>;
  /** A final no, told again to every retry. */
  fail(answer: Answer): Promise<void>;
  /** It surely did not happen: whoever comes next may run it. */
  release(): Promise<void>;
  /** Nobody knows whether it happened: held for a person. */
  park(reason: string): Promise<void>;
  /** Stores rows, requests for the outbox and the answer in one commit. */
  completeBatch(batch: Batch, answer: Answer): Promise<StoredResponse>;
  /** Runs `f` until its result is recorded under `name`; from then on returns that, on any later attempt, and does not run it. */
  step(name: string, f: (key: string) => Promise<Bytes> | Bytes): Promise<Uint8Array>;
  /** Records the result of a step that was taken by hand. */
  recordStep(name: string, value: Bytes): Promise<void>;
  /** Ends the lease at once, if the claim was not settled. No I/O. */
  drop(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** An outbox of any ledger's. Each call is described at `Outbox`. */
export interface AnyOutbox {
  enqueue(request: Request | Outgoing, wishes: Wishes): Promise<Enqueued>;
  enqueueMany(many: readonly [request: Request | Outgoing, wishes: Wishes][]): Promise<Enqueued[]>;
  nextWakeup(scope: string): Awaitable<number | null>;
  get(id: number): Awaitable<Entry | null>;
  request(id: number): Awaitable<[mediaType: string, bytes: Uint8Array] | null>;
  find(scope: string, purpose: string, lane?: string): Awaitable<Entry | null>;
  list(filter?: EntryFilter): AsyncGenerator<Entry, void, void>;
  stats(): Awaitable<OutboxStats>;

  wait(id: number, options?: WaitOptions): Promise<Entry>;
  waitUntil(id: number, isEnough: (entry: EntryView) => boolean, options?: WaitOptions): Promise<Entry>;
  result(id: number, options?: WaitOptions): Promise<StoredResponse>;
  changes(options?: { after?: number; signal?: AbortSignal }): AsyncGenerator<Entry, void, void>;
  changesOf(id: number, options?: { signal?: AbortSignal }): AsyncGenerator<Entry, void, void>;

  cancel(id: number): Promise<Cancel>;
  resume(scope: string): Promise<Resumed>;
  resumeEntry(id: number): Promise<Entry>;
  requeue(id: number): Promise<Entry>;
  dismiss(id: number, who: string, note: string): Promise<Entry>;
  resolve(id: number, resolution: EntryResolution, who: string, note: string): Promise<Entry>;

  /** Over `fetch`: a transport of one's own goes to no other thread. */
  driver(scope: string, transport: FetchTransport, options?: DriverOptions): AnyDriver;
  drain(scope: string, transport: FetchTransport, options?: DrainOptions & DriverOptions): Promise<Drained>;
}

/** A driver of any outbox's. Each call is described at `Driver`. */
export interface AnyDriver {
  readonly isRunning: boolean;
  start(): this;
  stop(options?: StopOptions): Promise<void>;
  drain(options?: DrainOptions): Promise<Drained>;
  tick(options?: Omit<DrainOptions, "untilMs">): Promise<number | null>;
  nextWakeup(): Awaitable<number | null>;
  [Symbol.asyncDispose](): Promise<void>;
}
