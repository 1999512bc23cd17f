import type { AnyClaim } from "./any.js";
import { checkFunction } from "./door.js";
import type { NativeClaim } from "./native/keyledger.js";
import type { Effect, KeyId } from "./operation.js";
import { type Answer, type Bytes, type NativeResponse, StoredResponse, doneBytes } from "./response.js";
import { type Batch, Transaction, batchOf } from "./transaction.js";
import { Turns } from "./turns.js";

const NOTHING = new Uint8Array();
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** The result of a step, as it was recorded. */
export interface Step {
  readonly name: string;
  readonly value: Uint8Array;
}

interface Look extends KeyId {
  readonly fence: number;
  readonly attempt: number;
  readonly effect: Effect;
  readonly memo: Uint8Array;
  readonly firstGrantedAtMs: number;
}

/**
 * The right to run an operation. It is settled once; a second time throws `claim_settled`. Its calls follow one another: several may be
 * under way at once, and one that waits for a settlement before it is told `claim_settled` only where that was stored. Left by `using` without being settled, it
 * ends its lease at once; what happens to the key next, its effect decides (S2).
 */
export class Claim implements AnyClaim {
  readonly #native: NativeClaim;
  readonly #look: Look;
  readonly #turns = new Turns();

  /** @internal */
  constructor(native: NativeClaim) {
    this.#native = native;
    this.#look = native.look() as Look;
  }

  /** @internal */
  get native(): NativeClaim {
    return this.#native;
  }

  /** Is fulfilled when no call that was made on it is under way. @internal */
  isIdle(): Promise<void> {
    return this.#turns.areOver();
  }

  get keyId(): KeyId {
    const { scope, operation, key } = this.#look;
    return { scope, operation, key };
  }
  /** A number that strictly rises with every claim granted. */
  get fence(): number {
    return this.#look.fence;
  }
  /** 1 for the first owner of this key id. */
  get attempt(): number {
    return this.#look.attempt;
  }
  get effect(): Effect {
    return this.#look.effect;
  }
  get memo(): Uint8Array {
    return this.#look.memo;
  }
  get firstGrantedAtMs(): number {
    return this.#look.firstGrantedAtMs;
  }
  get steps(): readonly Step[] {
    return this.#native.steps() as Step[];
  }
  /** Repeatable: how long the handler may still call out (E4); null for other effects. */
  get remainingMs(): number | null {
    return this.#native.remainingMs() as number | null;
  }
  /** Whether a heartbeat was told that the claim is somebody else's. */
  get isLost(): boolean {
    return this.#native.isLost();
  }
  /** Whether it is used up, or on its way to be. */
  get isSettled(): boolean {
    return this.#native.isSettled();
  }

  /** A key for a downstream call, equal on every attempt (E3). */
  deriveKey(name: string): string {
    return this.#native.deriveKey(name);
  }

  /** Renews the lease from now, by the operation's own length or by `leaseMs`. */
  heartbeatSync(leaseMs?: number): void {
    this.#native.heartbeatSync(leaseMs);
  }
  async heartbeat(leaseMs?: number): Promise<void> {
    await this.#turns.call(async () => this.heartbeatSync(leaseMs));
  }

  /** It was done, and this is the answer: replayed from now on. */
  completeSync(answer: Answer): void {
    this.#settleSync("complete", answer);
  }
  async complete(answer: Answer): Promise<void> {
    await this.#settle("complete", answer);
  }
  /** A final no, told again to every retry. */
  failSync(answer: Answer): void {
    this.#settleSync("fail", answer);
  }
  async fail(answer: Answer): Promise<void> {
    await this.#settle("fail", answer);
  }
  /** It surely did not happen: whoever comes next may run it. */
  releaseSync(): void {
    this.#native.settleSync("release", "", NOTHING);
  }
  async release(): Promise<void> {
    await this.#turns.settle(() => this.#native.settle("release", "", NOTHING));
  }
  /** Nobody knows whether it happened: held for a person. */
  parkSync(reason: string): void {
    this.#native.settleSync("park", reason, NOTHING);
  }
  async park(reason: string): Promise<void> {
    await this.#turns.settle(() => this.#native.settle("park", reason, NOTHING));
  }

  #settleSync(verb: string, answer: Answer): void {
    const { mediaType, body } = StoredResponse.of(answer);
    this.#native.settleSync(verb, mediaType, body ?? NOTHING);
  }
  async #settle(verb: string, answer: Answer): Promise<void> {
    const { mediaType, body } = StoredResponse.of(answer);
    await this.#turns.settle(() => this.#native.settle(verb, mediaType, body ?? NOTHING));
  }

  /** Runs `f` until its result is recorded under `name`; from then on returns that, on any later attempt, and does not run it. */
  async step(name: string, f: (key: string) => Promise<Bytes> | Bytes): Promise<Uint8Array> {
    checkFunction("a step", f);
    return this.#turns.step(name, async () => {
      const recorded = await this.#turns.call(async () => this.#native.recordedStep(name) as Uint8Array | null);
      if (recorded !== null) return recorded;
      const value = doneBytes(await f(this.deriveKey(name)));
      await this.recordStep(name, value);
      return value;
    });
  }
  /** `step`, done when it returns. */
  stepSync(name: string, f: (key: string) => Bytes): Uint8Array {
    checkFunction("a step", f);
    const recorded = this.#native.recordedStep(name) as Uint8Array | null;
    if (recorded !== null) return recorded;
    const value = doneBytes(f(this.deriveKey(name)));
    this.#native.recordStepSync(name, value);
    return value;
  }
  async recordStep(name: string, value: Bytes): Promise<void> {
    const bytes = doneBytes(value);
    await this.#turns.call(() => this.#native.recordStep(name, bytes));
  }
  /** `recordStep`, done when it returns. */
  recordStepSync(name: string, value: Bytes): void {
    this.#native.recordStepSync(name, doneBytes(value));
  }

  /** Stores rows and the response that `f` returns in one transaction. `f` may not wait: it runs inside the commit. */
  async completeWith(f: (tx: Transaction) => Answer): Promise<StoredResponse> {
    const told = await this.#turns.settle(() => this.#native.completeWith(Transaction.answering(f)));
    return StoredResponse.ofNative(told as NativeResponse);
  }
  /** `completeWith`, done when it returns. */
  completeWithSync(f: (tx: Transaction) => Answer): StoredResponse {
    return StoredResponse.ofNative(this.#native.completeWithSync(Transaction.answering(f)) as NativeResponse);
  }
  /** The same as a value. */
  completeBatchSync(batch: Batch, answer: Answer): StoredResponse {
    const { mediaType, body } = StoredResponse.of(answer);
    const told = this.#native.completeBatchSync(batchOf(batch).native, mediaType, body ?? NOTHING);
    return StoredResponse.ofNative(told as NativeResponse);
  }
  async completeBatch(batch: Batch, answer: Answer): Promise<StoredResponse> {
    return this.#turns.settle(async () => this.completeBatchSync(batch, answer));
  }

  /** What Node shows of it. @internal */
  [INSPECT](_depth: number, options: object, inspect: (value: object, options: object) => string): string {
    const { scope, operation, key, fence, attempt, effect } = this.#look;
    return `Claim ${inspect({ scope, operation, key, fence, attempt, effect, isSettled: this.isSettled }, options)}`;
  }

  /** Ends the lease at once, if the claim was not settled. No I/O. */
  drop(): void {
    this.#native.letGo();
  }
  [Symbol.dispose](): void {
    this.drop();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.drop();
  }
}
