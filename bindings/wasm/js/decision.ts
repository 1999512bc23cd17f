import { Claim } from "./claim.js";
import type { NativeClaim } from "./native/keyledger.js";
import { type NativeResponse, StoredResponse } from "./response.js";

/** Yours to run. */
export interface Acquired<C = Claim> {
  readonly kind: "acquired";
  /** To be settled, once. */
  readonly claim: C;
}
/** It was done before; this is the answer that was given then. */
export interface Replay {
  readonly kind: "replay";
  /** The answer that was given then. */
  readonly response: StoredResponse;
  /** Whether it was a yes or a final no. */
  readonly outcome: "completed" | "failed";
  /** When it was settled: milliseconds since 1970-01-01 UTC. */
  readonly settledAtMs: number;
  /** Until when the answer is told: milliseconds since 1970-01-01 UTC. */
  readonly expiresAtMs: number;
}
/** Somebody is at it. The same key later. */
export interface InProgress {
  readonly kind: "in_progress";
  /** For how long its claim has lasted. */
  readonly runningForMs: number;
  /** When to ask again with the same key: never later than the end of the lease. */
  readonly retryAfterMs: number;
}
/** The key was for another request. Take another key. */
export interface Mismatch {
  readonly kind: "mismatch";
}
/** Nobody knows whether it happened; it is held for a person. */
export interface Parked {
  readonly kind: "parked";
  /** Why it was parked: what a handler or `park` said, or the ledger's own words ("owner lost"). */
  readonly reason: string;
  /** Since when: milliseconds since 1970-01-01 UTC. */
  readonly sinceMs: number;
}
/** Settled so long ago that the answer is gone. */
export interface Gone {
  readonly kind: "gone";
}

/** What `begin` answers. */
export type Decision<C = Claim> = Acquired<C> | Replay | InProgress | Mismatch | Parked | Gone;

/** @internal */
export function decided(native: unknown): Decision {
  const told = native as Decision;
  if (told.kind === "acquired") return { kind: "acquired", claim: new Claim(told.claim as unknown as NativeClaim) };
  if (told.kind !== "replay") return told;
  return { ...told, response: StoredResponse.ofNative(told.response as unknown as NativeResponse) };
}
