import { kindOf, refused } from "./door.js";
import type { Clock, Host } from "./store.js";

/** The platform's own clocks. */
export const SYSTEM_CLOCK: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Time from `clock`, randomness from the platform, commits by `callSoon`. */
export function hostOf(callSoon: (commit: () => void) => void, clock: Clock = SYSTEM_CLOCK): Host {
  if (typeof clock?.wallMs !== "function" || typeof clock.monotonicMs !== "function") {
    throw refused(`a clock has wallMs and monotonicMs, which tell milliseconds; this is ${kindOf(clock)}`);
  }
  return {
    wallMs: () => number(clock.wallMs()),
    monotonicMs: () => number(clock.monotonicMs()),
    fillRandom: (bytes) => void crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>),
    callSoon,
    // A timer of more than this is one of zero.
    callAfter: (ms, wake) => setTimeout(wake, Math.min(Math.ceil(ms), 0x7fffffff)),
    callOff: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
    sleepMs: (ms) => number(clock.sleepMs?.(ms) ?? ms),
  };
}

/** What is none cannot be handed over: the glue would throw in a place where nobody can catch it. */
function number(told: unknown): number {
  if (typeof told !== "number") throw new TypeError("a clock tells milliseconds as a number");
  return told;
}
