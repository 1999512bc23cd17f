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
 * A ledger, wherever it lives: in this thread, in another one, or with another tab. For functions that are to take any. Each call is
 * described where it is: at `LedgerHandle`.
 */
export interface AnyLedger {
  readonly durability: () => Durability;
  begin(operation: Operation, scope: string, key: string, fingerprint: Fingerprint, options?: BeginOptions): Promise<Decision<AnyClaim>>;
  beginMany(begins: readonly Begin[]): Promise<Decision<AnyClaim>[]>;
  ask(operation: Operation, scope: string, key: string, fingerprint: Fingerprint): Awaitable<Decision<AnyClaim>>;
  run(
    operation: Operation,
    scope: string,
    key: string,
    fingerprint: Fingerprint,
    handler: (claim: AnyClaim) => Promise<Answer> | Answer,
    options?: RunOptions,
  ): Promise<StoredResponse>;

  lookup(operation: Operation, scope: string, key: string): Promise<StoredResponse | null>;
  inspect(id: KeyId): Promise<RecordView | null>;
  list(filter?: Filter): AsyncGenerator<RecordView, void, void>;

  settle(id: KeyId, fence: number, verb: Settlement, with_?: Answer): Promise<void>;
  heartbeat(id: KeyId, fence: number, leaseMs: number): Promise<void>;
  recordStep(id: KeyId, fence: number, name: string, value: Bytes): Promise<void>;
  recover(operation: Operation, limit: number): Promise<AnyClaim[]>;
  resolve(id: KeyId, fence: number, resolution: Resolution, who: string, note: string): Promise<void>;
  resolveMany(filter: Filter, resolution: Resolution, who: string, note: string): Promise<number>;

  forget(id: KeyId, options?: ForgetOptions): Promise<Forgotten>;
  forgetScope(scope: string, options?: ForgetOptions): Promise<Forgotten>;
  sweep(limit: number): Promise<Swept>;
  stats(): Promise<Stats>;
  check(): Promise<FileCheck>;
  compact(options?: CompactOptions): Promise<{ beforeBytes: number; afterBytes: number }>;

  apply(batch: Batch): Promise<void>;
  get(table: string, key: Bytes): Promise<Uint8Array | null>;
  scan(table: string, range: { from?: Bytes; to?: Bytes | null; limit: number }): Promise<Row[]>;

  outbox(settings?: OutboxSettings): AnyOutbox;
  newKey(): Awaitable<string>;
  declare(operation: Operation): Awaitable<void>;
  reopen(): Awaitable<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A claim of any ledger's. Each call is described at `Claim`. */
export interface AnyClaim {
  readonly keyId: KeyId;
  readonly fence: number;
  readonly attempt: number;
  readonly effect: Effect;
  readonly memo: Uint8Array;
  readonly firstGrantedAtMs: number;
  readonly steps: readonly Step[];
  readonly remainingMs: number | null;
  readonly isLost: boolean;
  readonly isSettled: boolean;
  deriveKey(name: string): string;
  heartbeat(leaseMs?: number): Promise<void>;
  complete(answer: Answer): Promise<void>;
  fail(answer: Answer): Promise<void>;
  release(): Promise<void>;
  park(reason: string): Promise<void>;
  completeBatch(batch: Batch, answer: Answer): Promise<StoredResponse>;
  step(name: string, f: (key: string) => Promise<Bytes> | Bytes): Promise<Uint8Array>;
  recordStep(name: string, value: Bytes): Promise<void>;
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
