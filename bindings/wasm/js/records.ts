import type { Names } from "./door.js";
import type { Step } from "./claim.js";
import type { Effect, KeyId } from "./operation.js";
import { type NativeResponse, StoredResponse } from "./response.js";

/** The state of a record. */
export type StateName = "in_progress" | "released" | "completed" | "failed" | "parked" | "tombstone";

/** A record, as it stands. */
export interface RecordView {
  /** Whose record it is. */
  readonly keyId: KeyId;
  /** As it counts now: one of `at_most_once` whose lease is over is parked, another is still in progress (`isLapsed`). */
  readonly state: StateName;
  /** Stored as in progress, with a lease that is over: its owner was lost. */
  readonly isLapsed: boolean;
  /** Kept in memory alone: nothing is lost with it (E2). */
  readonly isVolatile: boolean;
  /** That of its last claim: what `settle` and `resolve` ask for. */
  readonly fence: number;
  /** How often it was granted. */
  readonly attempt: number;
  /** The strictest that any granted begin has named (E1). */
  readonly effect: Effect;
  /** 64 hexadecimal digits, or null where it is unchecked. */
  readonly fingerprint: string | null;
  /** What `begin` was given for whoever recovers it. */
  readonly memo: Uint8Array;
  /** The steps that were recorded. */
  readonly steps: readonly Step[];
  /** When it was granted first: milliseconds since 1970-01-01 UTC, as all that ends in `AtMs`. */
  readonly firstGrantedAtMs: number;
  /** When the lease of its claim ends; null: there is none. */
  readonly leaseEndAtMs: number | null;
  /** When it was settled; null: it is not. */
  readonly settledAtMs: number | null;
  /** Until when its answer is told. */
  readonly retainedUntilMs: number | null;
  /** When its tombstone ends, and nothing is known of it any more. */
  readonly goneAtMs: number | null;
  /** The stored answer, of one that is completed or failed. */
  readonly response: StoredResponse | null;
  /** Why it is parked. */
  readonly parkedReason: string | null;
  /** Since when it is parked. */
  readonly parkedSinceMs: number | null;
  /** What persons decided about it. */
  readonly audit: readonly { readonly atMs: number; readonly outcome: string; readonly who: string; readonly note: string }[];
}

/** Which records. */
export interface Filter {
  /** Those in this state, as it counts now. */
  state?: StateName;
  /** Those of this scope. */
  scope?: string;
  /** Those of the operation of this name. */
  operation?: string;
  /** Those under this key. */
  key?: string;
  /** Those first granted at most so long ago. */
  newerThanMs?: number;
  /** Those first granted at least so long ago. */
  olderThanMs?: number;
  /** How many are read at a time. */
  pageSize?: number;
}

/** @internal */
export const FILTER: Names<Filter> = { state: true, scope: true, operation: true, key: true, newerThanMs: true, olderThanMs: true, pageSize: true };

/** What was forgotten, and what was kept. */
export interface Forgotten {
  /** Completed and failed ones. */
  readonly settled: number;
  /** Released ones. */
  readonly released: number;
  /** Tombstones. */
  readonly tombstones: number;
  /** In progress or parked: only with `evenIfUnknown`. */
  readonly unsettled: number;
  /** In progress or parked, and kept. */
  readonly keptUnsettled: number;
  /** Entries of the scope's outbox: unsettled ones only with `evenIfUnknown`. */
  readonly entries: number;
  /** Entries of the scope's outbox that are unsettled, and kept. */
  readonly keptEntries: number;
}

/** What a sweep did. */
export interface Swept {
  /** When it ran: milliseconds since 1970-01-01 UTC. */
  readonly atMs: number;
  /** Settled and released records that became tombstones. */
  readonly tombstoned: number;
  /** Records that became no record. */
  readonly removed: number;
  /** Settled entries of the outbox that have stayed long enough (O13). */
  readonly entriesRemoved: number;
  /** Whether more are due. */
  readonly more: boolean;
  /** How long it took. */
  readonly tookMs: number;
}

/** Counts. */
export interface Stats {
  /** Claims, also those whose lease is over; of `at_most_once` those count as parked. */
  readonly inProgress: number;
  /** Released records. */
  readonly released: number;
  /** Completed records. */
  readonly completed: number;
  /** Failed records. */
  readonly failed: number;
  /** Records that wait for a person. */
  readonly parked: number;
  /** Tombstones. */
  readonly tombstones: number;
  /** The length of the file; in memory, of the image. */
  readonly fileBytes: number;
  /** Claims whose lease is over. Exact below a thousand. */
  readonly lapsed: number;
  /** Records that a sweep would turn into their next state. Exact below a thousand. */
  readonly due: number;
  /** Since when the oldest unsettled record waits: milliseconds since 1970-01-01 UTC; null: none does. */
  readonly oldestUnsettledAtMs: number | null;
  /** What the last sweep of this handle did; null: there was none. */
  readonly lastSweep: Swept | null;
}

/** What a walk over the whole file found. */
export interface FileCheck {
  /** Whether nothing is wrong. */
  readonly isWell: boolean;
  /** How many records there are. */
  readonly records: number;
  /** How many rows of the caller's own. */
  readonly rows: number;
  /** How many entries of the outbox. */
  readonly entries: number;
  /** What is wrong, a sentence each: the first hundred. */
  readonly faults: readonly string[];
  /** How many faults there are in all. */
  readonly faultCount: number;
}

/** @internal */
export function shown(native: unknown): RecordView {
  const { scope, operation, key, response, ...rest } = native as KeyId & { response: NativeResponse | null };
  const view = { keyId: { scope, operation, key }, ...rest, response: response && StoredResponse.ofNative(response) };
  return view as unknown as RecordView;
}
