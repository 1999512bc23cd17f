import { kindOf, refused } from "./door.js";
import { type Delivery, DeliveryOutcome } from "./outbox/delivery.js";
import type { Transport } from "./outbox/driver.js";
import type { Clock } from "./store.js";

/**
 * A clock that moves when it is told to. What waits by it waits until then: `drain({ untilMs })` does not return before somebody moves it
 * past the next retry.
 */
export class ManualClock implements Clock {
  #wallMs: number;
  #monotonicMs = 1;

  /** @param wallMs Milliseconds since 1970-01-01 UTC. Throws `invalid_argument` for what is no number. */
  constructor(wallMs: number) {
    if (!Number.isFinite(wallMs)) throw refused(`a ManualClock begins at milliseconds since 1970, as Date.now() tells them; this is ${kindOf(wallMs)}`);
    this.#wallMs = wallMs;
  }
  wallMs(): number {
    return this.#wallMs;
  }
  monotonicMs(): number {
    return this.#monotonicMs;
  }
  sleepMs(ms: number): number {
    return Math.min(ms, 1);
  }
  /** Moves both clocks. */
  advance(ms: number): void {
    this.#wallMs += ms;
    this.#monotonicMs += ms;
  }
  /** Moves the wall clock alone. */
  jumpWall(byMs: number): void {
    this.#wallMs += byMs;
  }
}

/** What a script says to one delivery: an outcome, an error to throw, or a function of the delivery. */
export type ScriptStep =
  | DeliveryOutcome
  | Error
  | ((delivery: Delivery) => Promise<DeliveryOutcome> | DeliveryOutcome);

/** One delivery that was sent. */
export interface Sent {
  readonly scope: string;
  readonly operation: string;
  readonly key: string;
  readonly request: Uint8Array;
}

/**
 * Answers each delivery with the next step of a script; past its end with yes. `sent` has what was sent, in order.
 *
 * ```ts
 * const transport = new ScriptedTransport([DeliveryOutcome.retry("503"), DeliveryOutcome.yes("paid")]);
 * await outbox.drain("user-7", transport);
 * assert.equal(new Set(transport.sent.map(({ key }) => key)).size, 1);
 * ```
 */
export class ScriptedTransport implements Transport {
  readonly sent: Sent[] = [];
  readonly #script: ScriptStep[];

  constructor(script: Iterable<ScriptStep> = []) {
    this.#script = [...script];
  }

  async send(delivery: Delivery): Promise<DeliveryOutcome> {
    const { scope, operation, key, request } = delivery;
    this.sent.push({ scope, operation, key, request });
    const step = this.#script.shift() ?? DeliveryOutcome.yes("");
    if (step instanceof Error) throw step;
    return typeof step === "function" ? step(delivery) : step;
  }
}
