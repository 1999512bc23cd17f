import type { EntryView } from "./outbox/view.js";
import type { StoredResponse } from "./response.js";

/** The stable code of an error: the same in every language. */
export type ErrorCode =
  | "invalid_key"
  | "invalid_argument"
  | "claim_lost"
  | "claim_settled"
  | "not_found"
  | "not_parked"
  | "purpose_conflict"
  | "key_conflict"
  | "outbox_full"
  | "wrong_state"
  | "unique_violation"
  | "compare_failed"
  | "too_large"
  | "reentrant"
  | "already_open"
  | "forked"
  | "suspended"
  | "closed"
  | "unavailable"
  | "wrong_format"
  | "corrupt"
  | "poisoned"
  | "ambiguous"
  | "storage"
  // What `Entry.result` throws.
  | "answered_no"
  | "entry_dead"
  | "entry_cancelled"
  | "entry_unknown"
  | "entry_held"
  | "no_result_yet";

/** A call that could not be answered. Decisions of `begin` are answers, not errors. */
export class KeyledgerError extends Error {
  override readonly name = "KeyledgerError";
  /** What to decide by: the same in every language. */
  readonly code: ErrorCode;
  /** The entry that is in the way of a conflict, or that has no yes for its result. */
  readonly entry: EntryView | undefined;

  constructor(code: ErrorCode, message: string, entry?: EntryView) {
    super(message);
    this.code = code;
    this.entry = entry;
  }

  /** The response of an entry that was answered with a no. */
  get response(): StoredResponse | null {
    return this.entry?.response ?? null;
  }
}
