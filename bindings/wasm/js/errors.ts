import { registerErrors } from "./native/keyledger.js";

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
  | "storage";

/** A call that could not be answered. Decisions of `begin` are answers, not errors. */
export class KeyledgerError extends Error {
  override readonly name = "KeyledgerError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Has the native half throw this class. */
export function useErrors(): void {
  registerErrors((code: ErrorCode, message: string) => new KeyledgerError(code, message));
}
