import type { AnyClaim } from "../any.js";
import { checkFunction } from "../door.js";
import { KeyledgerError } from "../errors.js";
import { type Effect, type KeyId, deriveKeyFor } from "../operation.js";
import { type Answer, type Bytes, type StoredResponse, doneBytes } from "../response.js";
import type { Step } from "../claim.js";
import type { Batch } from "../transaction.js";
import { codeOf } from "../thrown.js";
import { Turns } from "../turns.js";
import { plainChanges } from "./batch.js";
import type { Carrier, PlainClaim, PlainResponse } from "./messages.js";
import { plainResponse, responseOf } from "./plain.js";

/** A claim that nobody has any more ends its lease at once (S2). */
const FORGOTTEN = new FinalizationRegistry(({ carrier, fence }: { carrier: Carrier; fence: number }) => letGo(carrier, fence));

function letGo(carrier: Carrier, fence: number): void {
  carrier.call("drop", [fence]).catch(() => undefined);
}

/** The right to run an operation of a ledger that lives elsewhere: as `Claim`, save that everything waits. */
export class RemoteClaim implements AnyClaim {
  readonly keyId: KeyId;
  /** A number that strictly rises with every claim granted. */
  readonly fence: number;
  /** 1 for the first owner of this key id. */
  readonly attempt: number;
  readonly effect: Effect;
  readonly memo: Uint8Array;
  readonly firstGrantedAtMs: number;
  readonly #carrier: Carrier;
  readonly #leaseMs: number;
  readonly #remaining: () => number | null;
  readonly #steps: Step[];
  readonly #turns = new Turns();
  #isSettled = false;
  #isLost = false;

  /** @internal */
  constructor(carrier: Carrier, plain: PlainClaim, leaseMs: number) {
    ({ keyId: this.keyId, fence: this.fence, attempt: this.attempt, memo: this.memo } = plain);
    this.firstGrantedAtMs = plain.firstGrantedAtMs;
    this.effect = plain.effect as Effect;
    this.#steps = [...plain.steps];
    this.#carrier = carrier;
    this.#leaseMs = leaseMs;
    this.#remaining = countdown(plain.remainingMs);
    FORGOTTEN.register(this, { carrier, fence: plain.fence }, this);
  }

  get steps(): readonly Step[] {
    this.#mustBeHeld();
    return this.#steps;
  }
  /** Repeatable: how long the handler may still call out (E4); null for other effects. */
  get remainingMs(): number | null {
    this.#mustBeHeld();
    return this.#remaining();
  }
  /** Whether a heartbeat was told that the claim is somebody else's. */
  get isLost(): boolean {
    this.#mustBeHeld();
    return this.#isLost;
  }
  /** Whether it is used up, or on its way to be. */
  get isSettled(): boolean {
    return this.#isSettled || this.#turns.areSettling;
  }
  /** Is fulfilled when no call that was made on it is under way. @internal */
  isIdle(): Promise<void> {
    return this.#turns.areOver();
  }

  /** A key for a downstream call, equal on every attempt (E3). */
  deriveKey(name: string): string {
    this.#mustBeHeld();
    return deriveKeyFor(this.keyId, name);
  }

  /** Renews the lease from now, by the operation's own length or by `leaseMs`. */
  async heartbeat(leaseMs?: number): Promise<void> {
    try {
      await this.#turns.call(() => this.#told("heartbeat", leaseMs ?? this.#leaseMs));
    } catch (error) {
      this.#isLost ||= codeOf(error) === "claim_lost";
      throw error;
    }
  }
  /** It was done, and this is the answer: replayed from now on. */
  async complete(answer: Answer): Promise<void> {
    await this.#settle("settle", "complete", plainResponse(answer));
  }
  /** A final no, told again to every retry. */
  async fail(answer: Answer): Promise<void> {
    await this.#settle("settle", "fail", plainResponse(answer));
  }
  /** It surely did not happen: whoever comes next may run it. */
  async release(): Promise<void> {
    await this.#settle("release");
  }
  /** Nobody knows whether it happened: held for a person. */
  async park(reason: string): Promise<void> {
    await this.#settle("park", reason);
  }
  /** Stores rows and the answer in one transaction. */
  async completeBatch(batch: Batch, answer: Answer): Promise<StoredResponse> {
    const words = [plainChanges(this.#carrier, batch), plainResponse(answer)];
    return responseOf((await this.#settle("completeBatch", ...words)) as PlainResponse);
  }

  /** Runs `f` until its result is recorded under `name`; from then on returns that, on any later attempt, and does not run it. */
  async step(name: string, f: (key: string) => Promise<Bytes> | Bytes): Promise<Uint8Array> {
    checkFunction("a step", f);
    return this.#turns.step(name, async () => {
      const recorded = await this.#turns.call(async () => this.steps.find((step) => step.name === name));
      if (recorded) return recorded.value;
      const value = doneBytes(await f(this.deriveKey(name)));
      await this.recordStep(name, value);
      return value;
    });
  }
  async recordStep(name: string, value: Bytes): Promise<void> {
    const bytes = doneBytes(value);
    await this.#turns.call(() => this.#told("recordStep", name, bytes));
    this.#steps.push({ name, value: bytes });
  }

  /** Ends the lease at once, if the claim was not settled. */
  drop(): void {
    if (this.isSettled) return;
    this.#isSettled = true;
    FORGOTTEN.unregister(this);
    letGo(this.#carrier, this.fence);
  }
  [Symbol.dispose](): void {
    this.drop();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.drop();
  }

  #mustBeHeld(): void {
    const why = "this claim was settled before; begin the key again to learn its outcome";
    if (this.#isSettled) throw new KeyledgerError("claim_settled", why);
  }

  #settle(method: string, ...words: unknown[]): Promise<unknown> {
    return this.#turns.settle(async () => {
      try {
        const told = await this.#told(method, ...words);
        this.#isSettled = true;
        return told;
      } catch (error) {
        // What else was refused has settled nothing, and can be said again.
        this.#isSettled ||= codeOf(error) === "claim_settled";
        throw error;
      }
    });
  }

  async #told(method: string, ...words: unknown[]): Promise<unknown> {
    this.#mustBeHeld();
    return this.#carrier.call(method, [[this.keyId, this.fence], ...words]);
  }
}

/** Counts down from now by whichever clock is ahead: one of them may stand while a machine sleeps. */
function countdown(ms: number | null): () => number | null {
  const clocks = () => [performance.now(), Date.now()] as const;
  const start = clocks();
  return () => {
    if (ms === null) return null;
    const [steady, wall] = clocks();
    return Math.max(0, Math.floor(ms - Math.max(steady - start[0], wall - start[1])));
  };
}
