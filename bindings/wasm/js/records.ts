import type { Names } from "./door.js";
import type { Step } from "./claim.js";
import type { Effect, KeyId } from "./operation.js";
import { type NativeResponse, StoredResponse } from "./response.js";

/** The state of a record. */
export type StateName = "in_progress" | "released" | "completed" | "failed" | "parked" | "tombstone";

/** A record, as it stands. */
export interface RecordView {
  readonly keyId: KeyId;
  readonly state: StateName;
  readonly isLapsed: boolean;
  readonly isVolatile: boolean;
  readonly fence: number;
  readonly attempt: number;
  readonly effect: Effect;
  /** 64 hexadecimal digits, or null where it is unchecked. */
  readonly fingerprint: string | null;
  readonly memo: Uint8Array;
  readonly steps: readonly Step[];
  readonly firstGrantedAtMs: number;
  readonly leaseEndAtMs: number | null;
  readonly settledAtMs: number | null;
  readonly retainedUntilMs: number | null;
  readonly goneAtMs: number | null;
  readonly response: StoredResponse | null;
  readonly parkedReason: string | null;
  readonly parkedSinceMs: number | null;
  readonly audit: readonly { readonly atMs: number; readonly outcome: string; readonly who: string; readonly note: string }[];
}

/** Which records. */
export interface Filter {
  state?: StateName;
  scope?: string;
  operation?: string;
  key?: string;
  newerThanMs?: number;
  olderThanMs?: number;
  /** How many are read at a time. */
  pageSize?: number;
}

/** @internal */
export const FILTER: Names<Filter> = { state: true, scope: true, operation: true, key: true, newerThanMs: true, olderThanMs: true, pageSize: true };

/** What was forgotten, and what was kept. */
export interface Forgotten {
  readonly settled: number;
  readonly released: number;
  readonly tombstones: number;
  readonly unsettled: number;
  readonly keptUnsettled: number;
  readonly entries: number;
  readonly keptEntries: number;
}

/** What a sweep did. */
export interface Swept {
  readonly atMs: number;
  readonly tombstoned: number;
  readonly removed: number;
  readonly entriesRemoved: number;
  readonly more: boolean;
  readonly tookMs: number;
}

/** Counts. */
export interface Stats {
  readonly inProgress: number;
  readonly released: number;
  readonly completed: number;
  readonly failed: number;
  readonly parked: number;
  readonly tombstones: number;
  readonly fileBytes: number;
  /** Exact below a thousand. */
  readonly lapsed: number;
  /** Exact below a thousand. */
  readonly due: number;
  readonly oldestUnsettledAtMs: number | null;
  readonly lastSweep: Swept | null;
}

/** What a walk over the whole file found. */
export interface FileCheck {
  readonly isWell: boolean;
  readonly records: number;
  readonly rows: number;
  readonly entries: number;
  readonly faults: readonly string[];
  readonly faultCount: number;
}

/** @internal */
export function shown(native: unknown): RecordView {
  const { scope, operation, key, response, ...rest } = native as KeyId & { response: NativeResponse | null };
  const view = { keyId: { scope, operation, key }, ...rest, response: response && StoredResponse.ofNative(response) };
  return view as unknown as RecordView;
}
