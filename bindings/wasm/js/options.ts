import type { Names } from "./door.js";
import type { Fingerprint, Operation } from "./operation.js";
import type { Bytes } from "./response.js";
import type { ErrorMeans } from "./run.js";

/** What a `begin` may carry. */
export interface BeginOptions {
  /** For whoever recovers the record. */
  memo?: Bytes;
  /** How long to wait for another owner to settle. */
  waitMs?: number;
  /** Ends the wait; nothing is granted then. */
  signal?: AbortSignal;
}

/** @internal */
export const BEGIN_OPTIONS: Names<BeginOptions> = { memo: true, waitMs: true, signal: true };

/** How a `run` is made. */
export interface RunOptions extends BeginOptions {
  /** What an error of the handler's means. Absent: the effect decides. */
  means?: (error: unknown) => ErrorMeans;
}

/** @internal */
export const RUN_OPTIONS: Names<RunOptions> = { ...BEGIN_OPTIONS, means: true };

/** One of several begins: none of them waits for another owner. */
export interface Begin extends Pick<BeginOptions, "memo"> {
  operation: Operation;
  scope: string;
  key: string;
  fingerprint: Fingerprint;
}

/** @internal */
export const BEGIN: Names<Begin> = { operation: true, scope: true, key: true, fingerprint: true, memo: true };

/** What may be forgotten. */
export interface ForgetOptions {
  /** Also what is unsettled or parked, and so may run again after that. */
  evenIfUnknown?: boolean;
}

/** @internal */
export const FORGET_OPTIONS: Names<ForgetOptions> = { evenIfUnknown: true };

/** When a file is made smaller. */
export interface CompactOptions {
  /** Also while there are claims whose leases go on (T5). */
  evenWithClaims?: boolean;
}

/** @internal */
export const COMPACT_OPTIONS: Names<CompactOptions> = { evenWithClaims: true };
