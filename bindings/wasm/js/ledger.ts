import type { AnyLedger } from "./any.js";
import { Claim } from "./claim.js";
import { type Decision, decided } from "./decision.js";
import { type Names, checkId, checkRange, checkText, listed, onlyKnown, refused } from "./door.js";
import { NativeBegin, type NativeClaim, NativeLedger, type NativeListing } from "./native/keyledger.js";
import { type Fingerprint, type KeyId, type Operation, declared, taken } from "./operation.js";
import {
  BEGIN,
  BEGIN_OPTIONS,
  type Begin,
  type BeginOptions,
  COMPACT_OPTIONS,
  type CompactOptions,
  FORGET_OPTIONS,
  type ForgetOptions,
  type RunOptions,
} from "./options.js";
import { Outbox } from "./outbox/outbox.js";
import { UnderWay } from "./outbox/sending.js";
import type { OutboxSettings } from "./outbox/settings.js";
import { FILTER, type FileCheck, type Filter, type Forgotten, type RecordView, type Stats, type Swept, shown } from "./records.js";
import { type Answer, type Bytes, type NativeResponse, StoredResponse, toBytes } from "./response.js";
import { checkRun, runDecided } from "./run.js";
import { settledWith } from "./settlement.js";
import { type Durability, GuardedStore, type Host, type Store } from "./store.js";
import { type AtOnce, type Batch, type Row, Transaction, batchOf } from "./transaction.js";
import { aborted } from "./waiting.js";

const NOTHING = new Uint8Array();

/** Open ledgers. A handle that were garbage collected before it is closed would write to a file that may be another's by then. */
const OPEN = new Set<LedgerHandle>();

/** How a ledger is opened. */
export interface LedgerOptions {
  /** Bodies are kept up to this length (S4). Absent: 1 MiB. */
  maxResponseBytes?: number;
  /** Memory for pages of the file. Absent: 64 MiB. */
  cacheBytes?: number;
}

/** Of every platform's ledger. */
const OPTIONS: Names<LedgerOptions & { clock: unknown; locking: unknown }> = { maxResponseBytes: true, cacheBytes: true, clock: true, locking: true };

/** What a person found out about a parked record. */
export type Resolution = { completed: Answer } | { failed: Answer } | "not_done";

/** What becomes of a claim. */
export type Settlement = "complete" | "fail" | "release" | "park";

/** A key ledger on a store. Each platform's `Ledger` opens it on that platform's stores. */
export class LedgerHandle implements AnyLedger {
  readonly #native: NativeLedger;
  readonly #store: GuardedStore;
  /** What was synced, as the store says. */
  readonly durability: () => Durability;
  /** @internal */
  readonly sending = new UnderWay();

  /** @internal */
  constructor(store: Store, host: Host, options: LedgerOptions = {}) {
    const guarded = new GuardedStore(store);
    try {
      onlyKnown("a ledger", options, OPTIONS);
      this.#native = new NativeLedger(guarded, host, options.maxResponseBytes, options.cacheBytes);
      guarded.named();
    } catch (error) {
      guarded.end();
      throw error;
    }
    this.#store = guarded;
    this.durability = () => guarded.durability;
    OPEN.add(this);
  }

  /** @internal */
  get native(): NativeLedger {
    return this.#native;
  }

  /** Asks for a key under a scope and an operation: exactly one caller gets the claim. */
  async begin(
    operation: Operation,
    scope: string,
    key: string,
    fingerprint: Fingerprint,
    options: BeginOptions = {},
  ): Promise<Decision> {
    onlyKnown("begin", options, BEGIN_OPTIONS);
    options.signal?.throwIfAborted();
    const until = options.signal && aborted(options.signal);
    try {
      const begin = asked({ operation, scope, key, fingerprint, ...options });
      return decided(await this.#native.begin(begin, until?.promise));
    } finally {
      until?.stop();
    }
  }

  /** The same at once. It cannot wait for another owner. */
  beginSync(
    operation: Operation,
    scope: string,
    key: string,
    fingerprint: Fingerprint,
    options: Omit<BeginOptions, "signal" | "waitMs"> = {},
  ): Decision {
    onlyKnown("beginSync", options, { memo: true });
    return decided(this.#native.beginSync(asked({ operation, scope, key, fingerprint, ...options })));
  }

  /** Decides each as if alone, in order, in one commit. None of them waits for another owner. */
  async beginMany(begins: readonly Begin[]): Promise<Decision[]> {
    return ((await this.#native.beginMany(listed("beginMany", begins).map(oneOfMany))) as unknown[]).map(decided);
  }
  /** `beginMany`, done when it returns. */
  beginManySync(begins: readonly Begin[]): Decision[] {
    return (this.#native.beginManySync(listed("beginMany", begins).map(oneOfMany)) as unknown[]).map(decided);
  }

  /** As `begin` would answer now, save that nothing is granted: where it would be, the answer is `in_progress` (S9). */
  ask(operation: Operation, scope: string, key: string, fingerprint: Fingerprint): Decision {
    return decided(this.#native.ask(asked({ operation, scope, key, fingerprint })));
  }

  /** Begins, runs `handler` if the claim is granted, settles with what it returns, and returns that; or the stored answer. */
  async run(
    operation: Operation,
    scope: string,
    key: string,
    fingerprint: Fingerprint,
    handler: (claim: Claim) => Promise<Answer> | Answer,
    options: RunOptions = {},
  ): Promise<StoredResponse> {
    checkRun(handler, options);
    const { means, ...begin } = options;
    const decision = await this.begin(operation, scope, key, fingerprint, begin);
    return runDecided(decision, handler, () => this.ask(operation, scope, key, fingerprint), means);
  }

  /** The stored answer of a key, or null. Waits for nothing. */
  lookupSync(operation: Operation, scope: string, key: string): StoredResponse | null {
    const found = this.#native.lookup(scope, declared(operation).name, key) as NativeResponse | null;
    return found === null ? null : StoredResponse.ofNative(found);
  }
  async lookup(operation: Operation, scope: string, key: string): Promise<StoredResponse | null> {
    return this.lookupSync(operation, scope, key);
  }
  /** The record of a key id, or null. */
  inspectSync(id: KeyId): RecordView | null {
    checkId(id);
    checkText(id);
    const found = this.#native.inspect(id.scope, id.operation, id.key) as unknown;
    return found === null ? null : shown(found);
  }
  async inspect(id: KeyId): Promise<RecordView | null> {
    return this.inspectSync(id);
  }
  /** Records by filter, page by page. */
  *listSync(filter: Filter = {}): Generator<RecordView, void, void> {
    const listing = this.#listing(filter);
    for (let page; (page = this.#native.page(listing) as unknown[] | null); ) yield* page.map(shown);
  }
  async *list(filter: Filter = {}): AsyncGenerator<RecordView, void, void> {
    yield* this.listSync(filter);
  }
  #listing(filter: Filter): NativeListing {
    onlyKnown("a filter", filter, FILTER);
    const { state, scope, operation, key, newerThanMs, olderThanMs, pageSize } = filter;
    return this.#native.listing(state, scope, operation, key, newerThanMs, olderThanMs, pageSize);
  }

  /** Settles by key id and fence: for whoever holds no claim object. */
  settleSync(id: KeyId, fence: number, verb: Settlement, with_?: Answer): void {
    checkId(id);
    const [text, body] = settledWith(verb, with_);
    this.#native.settleSync(id.scope, id.operation, id.key, fence, verb, text, body);
  }
  async settle(id: KeyId, fence: number, verb: Settlement, with_?: Answer): Promise<void> {
    this.settleSync(id, fence, verb, with_);
  }
  /** `heartbeat`, done when it returns. */
  heartbeatSync(id: KeyId, fence: number, leaseMs: number): void {
    checkId(id);
    this.#native.heartbeatSync(id.scope, id.operation, id.key, fence, leaseMs);
  }
  async heartbeat(id: KeyId, fence: number, leaseMs: number): Promise<void> {
    this.heartbeatSync(id, fence, leaseMs);
  }
  /** `recordStep`, done when it returns. */
  recordStepSync(id: KeyId, fence: number, name: string, value: Bytes): void {
    checkId(id);
    this.#native.recordStepSync(id.scope, id.operation, id.key, fence, name, toBytes(value));
  }
  async recordStep(id: KeyId, fence: number, name: string, value: Bytes): Promise<void> {
    this.recordStepSync(id, fence, name, value);
  }

  /** Claims on at most `limit` records whose owners were lost. */
  recoverSync(operation: Operation, limit: number): Claim[] {
    return (this.#native.recoverSync(declared(operation).native, limit) as NativeClaim[]).map((claim) => new Claim(claim));
  }
  async recover(operation: Operation, limit: number): Promise<Claim[]> {
    return ((await this.#native.recover(declared(operation).native, limit)) as NativeClaim[]).map((claim) => new Claim(claim));
  }

  /** Settles a parked record for a person. `fence` is the one that `inspect` showed. */
  resolveSync(id: KeyId, fence: number, resolution: Resolution, who: string, note: string): void {
    checkId(id);
    const [verdict, mediaType, body] = verdictOf(resolution);
    this.#native.resolveSync(id.scope, id.operation, id.key, fence, verdict, mediaType, body, who, note);
  }
  async resolve(id: KeyId, fence: number, resolution: Resolution, who: string, note: string): Promise<void> {
    this.resolveSync(id, fence, resolution, who, note);
  }
  /** Resolves every parked record that the filter lets through; says how many. */
  resolveManySync(filter: Filter, resolution: Resolution, who: string, note: string): number {
    return this.#native.resolveManySync(this.#listing(filter), ...verdictOf(resolution), who, note) as number;
  }
  async resolveMany(filter: Filter, resolution: Resolution, who: string, note: string): Promise<number> {
    return this.resolveManySync(filter, resolution, who, note);
  }

  /** `forget`, done when it returns. */
  forgetSync(id: KeyId, options: ForgetOptions = {}): Forgotten {
    checkId(id);
    onlyKnown("forget", options, FORGET_OPTIONS);
    return this.#native.forgetSync(id.scope, id.operation, id.key, options.evenIfUnknown ?? false) as Forgotten;
  }
  async forget(id: KeyId, options?: ForgetOptions): Promise<Forgotten> {
    return this.forgetSync(id, options);
  }
  /** `forgetScope`, done when it returns. */
  forgetScopeSync(scope: string, options: ForgetOptions = {}): Forgotten {
    onlyKnown("forgetScope", options, FORGET_OPTIONS);
    return this.#native.forgetScopeSync(scope, options.evenIfUnknown ?? false) as Forgotten;
  }
  async forgetScope(scope: string, options?: ForgetOptions): Promise<Forgotten> {
    return this.forgetScopeSync(scope, options);
  }
  /** `sweep`, done when it returns. */
  sweepSync(limit: number): Swept {
    return this.#native.sweepSync(limit) as Swept;
  }
  async sweep(limit: number): Promise<Swept> {
    return (await this.#native.sweep(limit)) as Swept;
  }
  /** `stats`, done when it returns. */
  statsSync(): Stats {
    return this.#native.stats() as Stats;
  }
  async stats(): Promise<Stats> {
    return this.statsSync();
  }
  /** `check`, done when it returns. */
  checkSync(): FileCheck {
    return this.#native.check() as FileCheck;
  }
  async check(): Promise<FileCheck> {
    return this.checkSync();
  }
  /** Gives free pages back. */
  compactSync(options: CompactOptions = {}): { beforeBytes: number; afterBytes: number } {
    onlyKnown("compact", options, COMPACT_OPTIONS);
    return this.#native.compact(options.evenWithClaims ?? false) as { beforeBytes: number; afterBytes: number };
  }
  async compact(options?: CompactOptions): Promise<{ beforeBytes: number; afterBytes: number }> {
    return this.compactSync(options);
  }

  /** Runs `f` on the caller's own tables: all it changes is stored, or nothing. `f` may not wait. */
  async transaction<T>(f: (tx: Transaction) => AtOnce<T>): Promise<T> {
    return (await this.#native.transaction(Transaction.plain(f))) as T;
  }
  /** `transaction`, done when it returns. */
  transactionSync<T>(f: (tx: Transaction) => AtOnce<T>): T {
    return this.#native.transactionSync(Transaction.plain(f)) as T;
  }
  async apply(batch: Batch): Promise<void> {
    await this.#native.apply(batchOf(batch).native);
  }
  /** `apply`, done when it returns. */
  applySync(batch: Batch): void {
    this.#native.applySync(batchOf(batch).native);
  }
  /** `get`, done when it returns. */
  getSync(table: string, key: Bytes): Uint8Array | null {
    return this.#native.get(table, toBytes(key)) as Uint8Array | null;
  }
  async get(table: string, key: Bytes): Promise<Uint8Array | null> {
    return this.getSync(table, key);
  }
  /** `scan`, done when it returns. */
  scanSync(table: string, range: { from?: Bytes; to?: Bytes | null; limit: number }): Row[] {
    checkRange(range);
    const to = range.to == null ? undefined : toBytes(range.to);
    return this.#native.scan(table, toBytes(range.from ?? ""), to, range.limit) as Row[];
  }
  async scan(table: string, range: { from?: Bytes; to?: Bytes | null; limit: number }): Promise<Row[]> {
    return this.scanSync(table, range);
  }

  /** Opens the outbox of this ledger. On return its lanes are stored. */
  outbox(settings?: OutboxSettings): Outbox {
    return new Outbox(this, settings);
  }

  /** A new key for a new operation: UUIDv7. */
  newKey(): string {
    return this.#native.newKey();
  }
  /** Throws now what `begin` would throw for this operation. */
  declare(operation: Operation): void {
    this.#native.declare(declared(operation).native);
  }

  /** All that is committed, under a checksum, of a ledger in memory: `Ledger.restore` makes a ledger of it again, anywhere. */
  snapshot(): Uint8Array {
    this.#native.commitQueued();
    return this.#store.snapshot();
  }

  /** Lets go of the file and its lock until `resume`; calls throw `suspended`. Claims that are on disk stay, and their leases run on (P6). */
  suspend(): void {
    this.#native.suspend();
  }
  /** Takes file and lock again after `suspend`. */
  async resume(): Promise<void> {
    await this.#store.openLater();
    this.#native.resume();
  }
  /** `resume`, done when it returns. */
  resumeSync(): void {
    this.#store.open();
    this.#native.resume();
  }
  /** After `poisoned` or `ambiguous`: reads the store anew. */
  reopen(): void {
    this.#store.over(() => this.#native.reopen());
  }
  /**
   * Lets go of the store, after what was queued is committed. What waits throws `closed`. What a driver or a drain has in flight is given
   * up, and there is no time to settle it: it is sent again when its lease is over. `close` settles it first.
   */
  closeSync(): void {
    if (!OPEN.has(this)) return;
    this.sending.cutOff();
    this.#native.commitQueued();
    this.#native.close();
    this.#store.end();
    OPEN.delete(this);
  }
  /**
   * Lets go of the store. What waits throws `closed`. Drivers and drains are stopped first: what they have in flight is given up and settled
   * as a try that may have taken effect, and whoever opens the ledger next sends it again with its key.
   */
  async close(): Promise<void> {
    // Suspended, it could settle nothing before the leases are over.
    if (!this.#store.isHeld) this.closeSync();
    if (!this.sending.isNone) await this.sending.finish();
    this.closeSync();
  }
  [Symbol.dispose](): void {
    this.closeSync();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function asked({ operation, scope, key, fingerprint, memo, waitMs }: Begin & Pick<BeginOptions, "waitMs">): NativeBegin {
  checkText({ scope, key });
  const bytes = memo === undefined ? undefined : toBytes(memo);
  return new NativeBegin(declared(operation).native, scope, key, taken(fingerprint).native, bytes, waitMs);
}

function oneOfMany(begin: Begin): NativeBegin {
  onlyKnown("one of beginMany", begin, BEGIN);
  return asked(begin);
}

function verdictOf(resolution: Resolution): [string, string, Uint8Array] {
  if (resolution === "not_done") return ["not_done", "", NOTHING];
  const [verdict, answer] = foundOut(resolution);
  return [verdict, answer.mediaType, answer.body ?? NOTHING];
}

/** A resolution that has an answer. @internal */
export function foundOut(resolution: Exclude<Resolution, "not_done">): [verdict: "completed" | "failed", answer: StoredResponse] {
  if (typeof resolution === "object" && resolution !== null) {
    if ("completed" in resolution) return ["completed", StoredResponse.of(resolution.completed)];
    if ("failed" in resolution) return ["failed", StoredResponse.of(resolution.failed)];
  }
  throw refused('a resolution is { completed: answer }, { failed: answer } or "not_done"');
}
