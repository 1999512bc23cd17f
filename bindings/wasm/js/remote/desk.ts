import type { Claim } from "../claim.js";
import type { Decision } from "../decision.js";
import { KeyledgerError } from "../errors.js";
import type { LedgerHandle, Resolution } from "../ledger.js";
import { Fingerprint, type KeyId } from "../operation.js";
import type { Filter, RecordView } from "../records.js";
import type { StoredResponse } from "../response.js";
import { checkSettlement } from "../settlement.js";
import type { PlainChange } from "./batch.js";
import type { Call, Outcome, PlainClaim, PlainOperation, PlainResponse, Said } from "./messages.js";
import { OUTBOX_ANSWERS, Outboxes } from "./outbox-desk.js";
import { operationOf, plainError, responseOf } from "./plain.js";

/** How an asked-for key comes. */
export type PlainBegin = readonly [operation: PlainOperation, scope: string, key: string, fingerprint: string | undefined];

/** A person's verdict. */
export type PlainResolution = "not_done" | { readonly completed: PlainResponse } | { readonly failed: PlainResponse };

/** Which claim. */
type Settled = readonly [id: KeyId, fence: number];

/** Why a call is ended that would wait on: the ledger goes elsewhere. */
const MOVED = Symbol("moved");

/** What a call needs besides its words: who asks, what ends a wait, and who hears what it tells meanwhile. */
interface Asking {
  readonly ledger: LedgerHandle;
  readonly outboxes: Outboxes;
  readonly keeping: Keeping;
  /** The number of the call, as who asks has numbered it. */
  readonly call: number;
  readonly signal: AbortSignal;
  readonly say: (said: Said) => void;
}

/** What the desk keeps for one of those that call: their claims by fence, which call was granted them, and their listings by number. */
class Keeping {
  readonly claims = new Map<number, Claim>();
  readonly #grantedTo = new WeakMap<Claim, number>();
  readonly listings = new Map<number, Generator<RecordView, void, void>>();

  /** The claim that was granted here, if it is one. */
  of([{ scope, operation, key }, fence]: Settled): Claim | undefined {
    const claim = this.claims.get(fence);
    const id = claim?.keyId;
    return id?.scope === scope && id.operation === operation && id.key === key ? claim : undefined;
  }

  /** The claim stays here; its fence names it. */
  grant(claim: Claim, call?: number): PlainClaim {
    this.claims.set(claim.fence, claim);
    if (call !== undefined) this.#grantedTo.set(claim, call);
    const { keyId, fence, attempt, effect, memo, firstGrantedAtMs, remainingMs, steps } = claim;
    return { keyId, fence, attempt, effect, memo, firstGrantedAtMs, remainingMs, steps };
  }

  decided(decision: Decision, call: number): Decision<PlainClaim> {
    return decision.kind === "acquired" ? { kind: "acquired", claim: this.grant(decision.claim, call) } : decision;
  }

  /** What that call was granted never came to who asked. */
  takeBack(call: number): void {
    for (const [fence, claim] of this.claims) {
      if (this.#grantedTo.get(claim) !== call) continue;
      this.claims.delete(fence);
      released(claim);
    }
  }

  /** Ends the leases of what was not settled. */
  letGo(): void {
    for (const claim of this.claims.values()) claim.drop();
    this.claims.clear();
    this.listings.clear();
  }
}

/** A claim whose handler cannot have run (section 4). What cannot be stored now ends with its lease. */
function released(claim: Claim): void {
  try {
    claim.releaseSync();
  } catch {
    claim.drop();
  }
}

/** What was granted; released where who asked has gone away meanwhile. */
function stillAsked(claims: readonly Claim[], signal: AbortSignal): void {
  if (!signal.aborted || signal.reason === MOVED) return;
  claims.forEach(released);
  throw signal.reason;
}

const granted = (decisions: readonly Decision[]) => decisions.flatMap((one) => (one.kind === "acquired" ? [one.claim] : []));

const asked = ([operation, scope, key, fingerprint]: PlainBegin) =>
  [operationOf(operation), scope, key, Fingerprint.ofHex(fingerprint)] as const;

const resolutionOf = (plain: PlainResolution): Resolution => {
  if (plain === "not_done") return plain;
  return "completed" in plain ? { completed: responseOf(plain.completed) } : { failed: responseOf(plain.failed) };
};

/** A claim that this ledger has granted is settled as itself, any other by its fence. */
async function settle<T>(
  { ledger, keeping }: Asking,
  settled: Settled,
  byClaim: (claim: Claim) => Promise<T>,
  byFence: (ledger: LedgerHandle) => T,
): Promise<T> {
  const claim = keeping.of(settled);
  if (!claim) return byFence(ledger);
  try {
    return await byClaim(claim);
  } finally {
    if (claim.isSettled) keeping.claims.delete(settled[1]);
  }
}

/** What can be asked for, by name. */
const ANSWERS = {
  begin: async ({ ledger, keeping, call, signal }: Asking, begin: PlainBegin, options: { memo?: Uint8Array; waitMs?: number }) => {
    const decision = await ledger.begin(...asked(begin), { ...options, signal });
    stillAsked(granted([decision]), signal);
    return keeping.decided(decision, call);
  },
  beginMany: async ({ ledger, keeping, call, signal }: Asking, begins: readonly (readonly [PlainBegin, { memo?: Uint8Array }])[]) => {
    const all = begins.map(([begin, options]) => {
      const [operation, scope, key, fingerprint] = asked(begin);
      return { operation, scope, key, fingerprint, ...options };
    });
    const decisions = await ledger.beginMany(all);
    stillAsked(granted(decisions), signal);
    return decisions.map((decision) => keeping.decided(decision, call));
  },
  ask: ({ ledger }: Asking, begin: PlainBegin) => ledger.ask(...asked(begin)),
  lookup: ({ ledger }: Asking, operation: PlainOperation, scope: string, key: string) =>
    ledger.lookupSync(operationOf(operation), scope, key),
  inspect: ({ ledger }: Asking, id: KeyId) => ledger.inspectSync(id),
  list: ({ ledger, keeping }: Asking, number: number, filter: Filter) => {
    keeping.listings.set(number, ledger.listSync(filter));
  },
  /** A page, or null at the end. */
  page: ({ keeping }: Asking, number: number, length: number) => {
    const listing = keeping.listings.get(number);
    if (!listing) throw new KeyledgerError("unavailable", "the listing was begun elsewhere, by who led before; begin it again");
    const page: RecordView[] = [];
    while (page.length < length) {
      const { value, done } = listing.next();
      if (done) break;
      page.push(value);
    }
    if (page.length < length) keeping.listings.delete(number);
    return page;
  },
  unlist: ({ keeping }: Asking, number: number) => void keeping.listings.delete(number),

  settle: (asking: Asking, [id, fence]: Settled, verb: "complete" | "fail", response: PlainResponse) => {
    checkSettlement(verb);
    return settle(
      asking,
      [id, fence],
      (claim) => (verb === "fail" ? claim.fail(responseOf(response)) : claim.complete(responseOf(response))),
      (ledger) => ledger.settleSync(id, fence, verb, responseOf(response)),
    );
  },
  release: (asking: Asking, [id, fence]: Settled) =>
    settle(
      asking,
      [id, fence],
      (claim) => claim.release(),
      (ledger) => ledger.settleSync(id, fence, "release"),
    ),
  park: (asking: Asking, [id, fence]: Settled, reason: string) =>
    settle(
      asking,
      [id, fence],
      (claim) => claim.park(reason),
      (ledger) => ledger.settleSync(id, fence, "park", reason),
    ),
  heartbeat: ({ ledger, keeping }: Asking, [id, fence]: Settled, leaseMs: number) => {
    const claim = keeping.of([id, fence]);
    if (claim) claim.heartbeatSync(leaseMs);
    else ledger.heartbeatSync(id, fence, leaseMs);
  },
  recordStep: async ({ ledger, keeping }: Asking, [id, fence]: Settled, name: string, value: Uint8Array) => {
    const claim = keeping.of([id, fence]);
    if (claim) await claim.recordStep(name, value);
    else ledger.recordStepSync(id, fence, name, value);
  },
  completeBatch: (asking: Asking, [id, fence]: Settled, changes: readonly PlainChange[], answer: PlainResponse) =>
    settle<StoredResponse>(
      asking,
      [id, fence],
      (claim) => claim.completeBatch(asking.outboxes.batch(changes), responseOf(answer)),
      (ledger) => {
        const batch = asking.outboxes.batch(changes);
        ledger.transactionSync((tx) => {
          batch.applyTo(tx);
          tx.complete({ keyId: id, fence }, responseOf(answer));
        });
        return ledger.inspectSync(id)?.response ?? responseOf(answer);
      },
    ),
  drop: ({ keeping }: Asking, fence: number) => {
    keeping.claims.get(fence)?.drop();
    keeping.claims.delete(fence);
  },

  // One that never came to who asked stays open to recovery: what it is about may have been done.
  recover: async ({ ledger, keeping }: Asking, operation: PlainOperation, limit: number) =>
    (await ledger.recover(operationOf(operation), limit)).map((claim) => keeping.grant(claim)),
  resolve: ({ ledger }: Asking, id: KeyId, fence: number, resolution: PlainResolution, who: string, note: string) =>
    ledger.resolveSync(id, fence, resolutionOf(resolution), who, note),
  resolveMany: ({ ledger }: Asking, filter: Filter, resolution: PlainResolution, who: string, note: string) =>
    ledger.resolveManySync(filter, resolutionOf(resolution), who, note),
  forget: ({ ledger }: Asking, id: KeyId, options: object) => ledger.forgetSync(id, options),
  forgetScope: ({ ledger }: Asking, scope: string, options: object) => ledger.forgetScopeSync(scope, options),
  sweep: ({ ledger }: Asking, limit: number) => ledger.sweep(limit),
  stats: ({ ledger }: Asking) => ledger.statsSync(),
  check: ({ ledger }: Asking) => ledger.checkSync(),
  compact: ({ ledger }: Asking, options: object) => ledger.compactSync(options),
  apply: ({ ledger, outboxes }: Asking, changes: readonly PlainChange[]) => ledger.apply(outboxes.batch(changes)),
  get: ({ ledger }: Asking, table: string, key: Uint8Array) => ledger.getSync(table, key),
  scan: ({ ledger }: Asking, table: string, range: { from?: Uint8Array; to?: Uint8Array | null; limit: number }) =>
    ledger.scanSync(table, range),
  newKey: ({ ledger }: Asking) => ledger.newKey(),
  reopen: ({ ledger }: Asking) => ledger.reopen(),
  declare: ({ ledger }: Asking, operation: PlainOperation) => ledger.declare(operationOf(operation)),

  ...OUTBOX_ANSWERS,
};

/** Where a ledger is asked from elsewhere. */
export class Desk {
  readonly #ledger: LedgerHandle;
  readonly #outboxes: Outboxes;
  readonly #keepings = new Map<string, Keeping>();
  readonly #running = new Map<string, AbortController>();
  #isOpen = true;

  constructor(ledger: LedgerHandle) {
    this.#ledger = ledger;
    this.#outboxes = new Outboxes(ledger);
  }

  /** Whether it still takes calls. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Answers the call that `from` has numbered `id`; `say` is given what it tells before. Never throws. */
  async answer(from: string, id: number, { method, words }: Call, say: (said: Said) => void): Promise<Outcome> {
    if (!this.#isOpen) return { moved: true };
    const running = new AbortController();
    const name = `${from} ${id}`;
    this.#running.set(name, running);
    try {
      const answer = Object.hasOwn(ANSWERS, method) && (ANSWERS[method as keyof typeof ANSWERS] as (...words: unknown[]) => unknown);
      if (!answer) throw new KeyledgerError("invalid_argument", `there is no call ${method}; all sides need the same version of keyledger`);
      const [ledger, outboxes, keeping] = [this.#ledger, this.#outboxes, this.#keepingOf(from)];
      return { value: await answer({ ledger, outboxes, keeping, call: id, signal: running.signal, say }, ...words) };
    } catch (error) {
      return error === MOVED ? { moved: true } : { error: plainError(error) };
    } finally {
      this.#running.delete(name);
    }
  }

  #keepingOf(from: string): Keeping {
    let keeping = this.#keepings.get(from);
    if (!keeping) this.#keepings.set(from, (keeping = new Keeping()));
    return keeping;
  }

  /** Whether `from` is somebody new. */
  meets(from: string): boolean {
    if (this.#keepings.has(from)) return false;
    this.#keepingOf(from);
    return true;
  }

  /** Ends the wait of a call. Nobody hears of its answer any more: what it was granted is released. */
  cancel(from: string, id: number): void {
    this.#running.get(`${from} ${id}`)?.abort();
    this.#keepings.get(from)?.takeBack(id);
  }

  /** Ends what somebody has begun who is gone. */
  gone(from: string): void {
    for (const [name, running] of this.#running) if (name.startsWith(`${from} `)) running.abort();
    this.#keepings.get(from)?.letGo();
    this.#keepings.delete(from);
  }

  /** Takes no more calls, ends those that wait, and returns when those that write are done. */
  async finish(): Promise<void> {
    this.#isOpen = false;
    for (const running of this.#running.values()) running.abort(MOVED);
    await this.#outboxes.driving.finish();
    while (this.#running.size > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
