import type { AnyLedger } from "../any.js";
import type { Decision } from "../decision.js";
import { checkId, checkRange, listed, onlyKnown } from "../door.js";
import { type Resolution, type Settlement, foundOut } from "../ledger.js";
import { type Fingerprint, type KeyId, type Operation, declared, taken } from "../operation.js";
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
} from "../options.js";
import type { OutboxSettings } from "../outbox/settings.js";
import type { FileCheck, Filter, Forgotten, RecordView, Stats, Swept } from "../records.js";
import { type Answer, type Bytes, StoredResponse, toBytes } from "../response.js";
import { checkRun, runDecided } from "../run.js";
import { settledWith } from "../settlement.js";
import type { Durability } from "../store.js";
import type { Batch, Row } from "../transaction.js";
import { plainChanges } from "./batch.js";
import { RemoteClaim } from "./claim.js";
import type { PlainBegin, PlainResolution } from "./desk.js";
import type { Carrier, PlainClaim, PlainResponse } from "./messages.js";
import { RemoteOutbox } from "./outbox.js";
import { plainOperation, plainResponse, responseOf } from "./plain.js";

/** How many records come at a time. */
const PAGE_LENGTH = 100;

/** What `begin` answers where the ledger lives elsewhere. */
export type RemoteDecision = Decision<RemoteClaim>;

/** A key ledger that lives in another thread: as `LedgerHandle`, save that everything waits, and that no closure runs in a commit. */
export class RemoteLedger implements AnyLedger {
  readonly #carrier: Carrier;
  #listings = 0;
  /** What was synced, as the store says. */
  readonly durability: () => Durability;

  /** @internal */
  constructor(carrier: Carrier, durability: Durability) {
    this.#carrier = carrier;
    this.durability = () => durability;
  }

  #call<T>(method: string, ...words: unknown[]): Promise<T> {
    return this.#carrier.call(method, words) as Promise<T>;
  }

  /** Asks for a key under a scope and an operation: exactly one caller gets the claim. */
  async begin(
    operation: Operation,
    scope: string,
    key: string,
    fingerprint: Fingerprint,
    options: BeginOptions = {},
  ): Promise<RemoteDecision> {
    onlyKnown("begin", options, BEGIN_OPTIONS);
    const { memo, waitMs, signal } = options;
    signal?.throwIfAborted();
    const begin = asked(operation, scope, key, fingerprint);
    const words = [begin, { memo: memo === undefined ? undefined : toBytes(memo), waitMs }];
    return this.#decided(await this.#carrier.call("begin", words, { signal }), operation);
  }

  /** Decides each as if alone, in order, in one commit. */
  async beginMany(begins: readonly Begin[]): Promise<RemoteDecision[]> {
    const all = listed("beginMany", begins).map((begin) => {
      onlyKnown("one of beginMany", begin, BEGIN);
      const { operation, scope, key, fingerprint, memo } = begin;
      return [asked(operation, scope, key, fingerprint), { memo: memo === undefined ? undefined : toBytes(memo) }];
    });
    const decisions = await this.#call<unknown[]>("beginMany", all);
    return decisions.map((decision, at) => this.#decided(decision, (begins[at] as Begin).operation));
  }

  /** As `begin` would answer now, save that nothing is granted. */
  async ask(operation: Operation, scope: string, key: string, fingerprint: Fingerprint): Promise<RemoteDecision> {
    return this.#decided(await this.#call("ask", asked(operation, scope, key, fingerprint)), operation);
  }

  #decided(told: unknown, operation: Operation): RemoteDecision {
    const decision = told as Decision<PlainClaim>;
    if (decision.kind === "acquired") {
      return { kind: "acquired", claim: new RemoteClaim(this.#carrier, decision.claim, operation.leaseMs) };
    }
    if (decision.kind !== "replay") return decision;
    return { ...decision, response: responseOf(decision.response) };
  }

  /** Begins, runs `handler` if the claim is granted, settles with what it returns, and returns that; or the stored answer. */
  async run(
    operation: Operation,
    scope: string,
    key: string,
    fingerprint: Fingerprint,
    handler: (claim: RemoteClaim) => Promise<Answer> | Answer,
    options: RunOptions = {},
  ): Promise<StoredResponse> {
    checkRun(handler, options);
    const { means, ...begin } = options;
    const decision = await this.begin(operation, scope, key, fingerprint, begin);
    return runDecided(decision, handler, () => this.ask(operation, scope, key, fingerprint), means);
  }

  /** The stored answer of a key, or null. */
  async lookup(operation: Operation, scope: string, key: string): Promise<StoredResponse | null> {
    const found = await this.#call<PlainResponse | null>("lookup", plainOperation(declared(operation)), scope, key);
    return found && responseOf(found);
  }
  /** The record of a key id, or null. */
  async inspect(id: KeyId): Promise<RecordView | null> {
    checkId(id);
    const found = await this.#call<RecordView | null>("inspect", id);
    return found && shown(found);
  }
  /** Records by filter, page by page. */
  async *list(filter: Filter = {}): AsyncGenerator<RecordView, void, void> {
    const number = (this.#listings += 1);
    const { pageSize = PAGE_LENGTH } = filter;
    // What is no number of records is refused over there, when the first is asked for.
    const length = pageSize >= 1 ? pageSize : 1;
    await this.#call("list", number, filter);
    try {
      for (;;) {
        const page = await this.#call<RecordView[]>("page", number, length);
        yield* page.map(shown);
        if (page.length < length) return;
      }
    } finally {
      await this.#call("unlist", number);
    }
  }

  /** Settles by key id and fence: for whoever holds no claim object. */
  async settle(id: KeyId, fence: number, verb: Settlement, with_?: Answer): Promise<void> {
    checkId(id);
    const [text, body] = settledWith(verb, with_);
    if (verb === "park") await this.#call("park", [id, fence], text);
    else if (verb === "release") await this.#call("release", [id, fence]);
    else await this.#call("settle", [id, fence], verb, { mediaType: text, body, omitted: null });
  }
  async heartbeat(id: KeyId, fence: number, leaseMs: number): Promise<void> {
    checkId(id);
    return this.#call("heartbeat", [id, fence], leaseMs);
  }
  async recordStep(id: KeyId, fence: number, name: string, value: Bytes): Promise<void> {
    checkId(id);
    await this.#call("recordStep", [id, fence], name, toBytes(value));
  }

  /** Claims on at most `limit` records whose owners were lost. */
  async recover(operation: Operation, limit: number): Promise<RemoteClaim[]> {
    const claims = await this.#call<PlainClaim[]>("recover", plainOperation(declared(operation)), limit);
    return claims.map((claim) => new RemoteClaim(this.#carrier, claim, operation.leaseMs));
  }
  /** Settles a parked record for a person. `fence` is the one that `inspect` showed. */
  async resolve(id: KeyId, fence: number, resolution: Resolution, who: string, note: string): Promise<void> {
    checkId(id);
    await this.#call("resolve", id, fence, plainResolution(resolution), who, note);
  }
  /** Resolves every parked record that the filter lets through; says how many. */
  async resolveMany(filter: Filter, resolution: Resolution, who: string, note: string): Promise<number> {
    return this.#call("resolveMany", filter, plainResolution(resolution), who, note);
  }
  async forget(id: KeyId, options: ForgetOptions = {}): Promise<Forgotten> {
    checkId(id);
    onlyKnown("forget", options, FORGET_OPTIONS);
    return this.#call("forget", id, options);
  }
  async forgetScope(scope: string, options: ForgetOptions = {}): Promise<Forgotten> {
    onlyKnown("forgetScope", options, FORGET_OPTIONS);
    return this.#call("forgetScope", scope, options);
  }
  sweep(limit: number): Promise<Swept> {
    return this.#call("sweep", limit);
  }
  stats(): Promise<Stats> {
    return this.#call("stats");
  }
  check(): Promise<FileCheck> {
    return this.#call("check");
  }
  /** Gives free pages back. */
  async compact(options: CompactOptions = {}): Promise<{ beforeBytes: number; afterBytes: number }> {
    onlyKnown("compact", options, COMPACT_OPTIONS);
    return this.#call("compact", options);
  }
  /** Makes all changes of the batch, or none. */
  async apply(batch: Batch): Promise<void> {
    await this.#call("apply", plainChanges(this.#carrier, batch));
  }
  async get(table: string, key: Bytes): Promise<Uint8Array | null> {
    return this.#call("get", table, toBytes(key));
  }
  async scan(table: string, range: { from?: Bytes; to?: Bytes | null; limit: number }): Promise<Row[]> {
    checkRange(range);
    const to = range.to == null ? null : toBytes(range.to);
    return this.#call("scan", table, { from: toBytes(range.from ?? ""), to, limit: range.limit });
  }
  /** The outbox of this ledger. Its lanes are stored by its first call. */
  outbox(settings: OutboxSettings = {}): RemoteOutbox {
    return new RemoteOutbox(this.#carrier, settings);
  }

  /** A new key for a new operation: UUIDv7. */
  newKey(): Promise<string> {
    return this.#call("newKey");
  }
  /** Throws now what `begin` would throw for this operation. */
  async declare(operation: Operation): Promise<void> {
    await this.#call("declare", plainOperation(declared(operation)));
  }

  /** After `poisoned` or `ambiguous`: has the store read anew, for all that have the ledger. */
  reopen(): Promise<void> {
    return this.#call("reopen");
  }
  /** Lets go of the ledger; others keep it. */
  async close(): Promise<void> {
    await this.#carrier.close();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

const asked = (operation: Operation, scope: string, key: string, fingerprint: Fingerprint): PlainBegin => [
  plainOperation(declared(operation)),
  scope,
  key,
  taken(fingerprint).hex,
];

function plainResolution(resolution: Resolution): PlainResolution {
  if (resolution === "not_done") return resolution;
  const [verdict, answer] = foundOut(resolution);
  return verdict === "completed" ? { completed: plainResponse(answer) } : { failed: plainResponse(answer) };
}

/** A record whose response has its methods again. */
function shown(record: RecordView): RecordView {
  return { ...record, response: record.response && responseOf(record.response) };
}
