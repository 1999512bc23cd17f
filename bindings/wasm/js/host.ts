import type { Clock, Host } from "./store.js";

/** The platform's own clocks. */
export const SYSTEM_CLOCK: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Time from `clock`, randomness from the platform, commits by `callSoon`. */
export function hostOf(callSoon: (commit: () => void) => void, clock: Clock = SYSTEM_CLOCK): Host {
  return {
    wallMs: () => clock.wallMs(),
    monotonicMs: () => clock.monotonicMs(),
    fillRandom: (bytes) => void crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>),
    callSoon,
    // A timer of more than this is one of zero.
    callAfter: (ms, wake) => setTimeout(wake, Math.min(Math.ceil(ms), 0x7fffffff)),
    callOff: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
    sleepMs: (ms) => clock.sleepMs?.(ms) ?? ms,
  };
}
