import { type ErrorCode, KeyledgerError } from "./errors.js";
import { registerErrors } from "./native/keyledger.js";
import { shownEntry } from "./outbox/view.js";

/** Engines of V8: how many frames are kept, and who called. */
const V8 = Error as { stackTraceLimit?: number };
const FRAMES_OF_OURS = 30;

/** Frames of the module, its glue, and what makes the error. */
const isOurs = (frame: string) => /wasm:\/\/|[\\/](?:native[\\/]keyledger|raised)\.js:|\bwasm-function\[/.test(frame);

/** Has the native half throw `KeyledgerError`. */
export function useErrors(): void {
  registerErrors((code: ErrorCode, message: string, entry: unknown) => {
    const limit = V8.stackTraceLimit;
    // Its own frames fill the usual ten, and whoever called would not be seen.
    if (limit) V8.stackTraceLimit = limit + FRAMES_OF_OURS;
    const error = new KeyledgerError(code, message, entry === undefined ? entry : shownEntry(entry));
    if (!limit) return error;
    V8.stackTraceLimit = limit;
    const [first = "", ...frames] = (error.stack ?? "").split(/\n(?=\s+at )/);
    error.stack = [first, ...frames.filter((frame) => !isOurs(frame)).slice(0, limit)].join("\n");
    return error;
  });
}
