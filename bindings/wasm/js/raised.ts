import { type ErrorCode, KeyledgerError } from "./errors.js";
import { registerErrors } from "./native/keyledger.js";
import { shownEntry } from "./outbox/view.js";

/** Has the native half throw `KeyledgerError`. */
export function useErrors(): void {
  registerErrors((code: ErrorCode, message: string, entry: unknown) => new KeyledgerError(code, message, entry === undefined ? entry : shownEntry(entry)));
}
