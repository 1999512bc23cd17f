import type { Decision } from "../decision.js";
import { KeyledgerError } from "../errors.js";
import { onAbort } from "../waiting.js";
import type { Call, CallOptions, Carrier, Outcome, PlainClaim, Said } from "./messages.js";
import { errorOf } from "./plain.js";

/** What is sent to where the ledger lives. */
export type Asked =
  | { readonly kind: "call"; readonly id: number; readonly call: Call }
  | { readonly kind: "cancel"; readonly id: number }
  | { readonly kind: "close" };

/** What comes from there. */
export type Told =
  | { readonly kind: "said"; readonly id: number; readonly said: Said }
  | { readonly kind: "outcome"; readonly id: number; readonly outcome: Outcome }
  | { readonly kind: "closed" };

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly hears?: (said: Said) => void;
}

const closedError = () => new KeyledgerError("closed", "the ledger is closed; open it again");

/** A function, a symbol, what holds one: it stays here. */
function uncloned(error: unknown): KeyledgerError {
  return new KeyledgerError("invalid_argument", `what was given cannot be sent to where the ledger lives: ${(error as Error).message}`);
}

/** This side of a line to a ledger: numbers the calls, and gives each its outcome. */
export class Calling implements Carrier {
  readonly #post: (message: Asked) => void;
  readonly #waiting = new Map<number, Waiting>();
  /** Called when the first call begins to wait (true), and when the last one has its outcome (false). */
  onBusy: (isBusy: boolean) => void = () => {};
  /** Called once: nothing is asked any more. */
  onEnd: () => void = () => {};
  #closing: Promise<void> | null = null;
  #onClosed = () => {};
  #isEnded = false;
  #calls = 0;

  constructor(post: (message: Asked) => void) {
    this.#post = post;
  }

  call(method: string, words: readonly unknown[], { signal, endsThere, hears }: CallOptions = {}): Promise<unknown> {
    if (this.#closing || this.#isEnded) return Promise.reject(closedError());
    const id = (this.#calls += 1);
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.#post({ kind: "cancel", id });
        if (!endsThere) this.#take(id)?.reject(signal?.reason);
      };
      const stop = signal ? onAbort(signal, cancel) : () => undefined;
      this.#waiting.set(id, {
        resolve: (value) => (stop(), resolve(value)),
        reject: (error) => (stop(), reject(error)),
        hears,
      });
      if (this.#waiting.size === 1) this.onBusy(true);
      try {
        this.#post({ kind: "call", id, call: { method, words } });
      } catch (error) {
        this.#take(id)?.reject(uncloned(error));
      }
    });
  }

  /** On return the other side has let go. */
  close(): Promise<void> {
    if (this.#isEnded) return Promise.resolve();
    return (this.#closing ??= new Promise<void>((resolve) => {
      this.#onClosed = resolve;
      this.onBusy(true);
      this.#post({ kind: "close" });
    }));
  }

  told(message: Told): void {
    if (message.kind === "closed") return this.end(closedError());
    if (message.kind === "said") return this.#waiting.get(message.id)?.hears?.(message.said);
    const { outcome } = message;
    const waiting = this.#take(message.id);
    if (!waiting) this.#giveBack(outcome);
    else if ("value" in outcome) waiting.resolve(outcome.value);
    else waiting.reject("error" in outcome ? errorOf(outcome.error) : closedError());
  }

  /** Nothing comes from the other side any more. */
  end(error: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(error);
    this.#onClosed();
    this.onEnd();
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (this.#waiting.delete(id) && this.#waiting.size === 0 && !this.#closing) this.onBusy(false);
    return waiting;
  }

  /** A claim that came too late for a caller who has given up: its handler cannot have run (section 4). */
  #giveBack(outcome: Outcome): void {
    const decision = "value" in outcome ? (outcome.value as Partial<Decision<PlainClaim>> | null) : null;
    if (decision?.kind !== "acquired" || !decision.claim) return;
    const { keyId, fence } = decision.claim;
    this.call("release", [[keyId, fence]]).catch(() => undefined);
  }
}
