import { type NativeResponse, StoredResponse } from "../response.js";

/** Where an entry is in its life. */
export type EntryState = "pending" | "sending" | "held" | "unknown" | "answered" | "dead" | "cancelled";

/** An error of one of an entry's tries. */
export interface TryError {
  readonly atMs: number;
  /** What went wrong, or what the server said. */
  readonly error: string;
}

/** What a person decided about an entry. */
export interface Decided {
  readonly atMs: number;
  readonly outcome: string;
  readonly who: string;
  readonly note: string;
}

/** An entry of the outbox as it was when it was read. Instants are milliseconds since 1970-01-01 UTC. */
export interface EntryView {
  /** What names it in this ledger. */
  readonly id: number;
  readonly scope: string;
  readonly lane: string;
  readonly operation: string;
  /** The key that goes with it, on every try the same (O2). */
  readonly key: string;
  /** What the user wants, if the caller named it. */
  readonly purpose: string | null;
  /** What tells its request from another under the same key or purpose; null: nothing does. */
  readonly fingerprint: string | null;
  readonly state: EntryState;
  /** Whether there is a final answer, or never will be one. */
  readonly isSettled: boolean;
  /** The final answer, a yes or a no. */
  readonly response: StoredResponse | null;
  /** Whether it was answered with a yes. */
  readonly isYes: boolean;
  /** Why it is held, unknown, dead, or cancelled by time, in words. */
  readonly reason: string | null;
  /** Whether its whole lane is held with it. */
  readonly isHeldWithLane: boolean;
  /** How many tries count. */
  readonly tries: number;
  /** How many tries were given back: the server asked for the same key later, or turned it away (O6). */
  readonly givenBack: number;
  /** The errors of the last sixteen tries, the oldest first. */
  readonly errors: readonly TryError[];
  /** Whether some try may have taken effect without an answer (O9). */
  readonly mayHaveTakenEffect: boolean;
  /** When it may be sent next, as far as it alone is concerned. */
  readonly dueAtMs: number | null;
  /** When the lease of the delivery under way ends. */
  readonly leaseEndAtMs: number | null;
  /** The first send whose outcome is unknown: the window counts from it (O7). */
  readonly firstUnknownAtMs: number | null;
  /** Until when it is worth sending, if the caller said so. */
  readonly sendByAtMs: number | null;
  readonly createdAtMs: number;
  readonly settledAtMs: number | null;
  /** The number of the entry that took its place (O7). */
  readonly successor: number | null;
  /** The fence of its last delivery; zero before the first. */
  readonly fence: number;
  /** What persons decided about it. */
  readonly audit: readonly Decided[];
  /** The length of its request in bytes. */
  readonly requestBytes: number;
  /** Rises with every change of any entry: where `changes` goes on after this one. */
  readonly change: number;
}

/** @internal */
export function shownEntry(native: unknown): EntryView {
  const view = native as EntryView & { response: NativeResponse | null };
  return { ...view, response: view.response && StoredResponse.ofNative(view.response) };
}
