import { KeyledgerError } from "./errors.js";
import init, { type InitInput } from "./native/keyledger.js";
import { useErrors } from "./raised.js";

let loading: Promise<void> | undefined;

/**
 * Loads the WebAssembly module into this thread, once: from beside this file, or as it is given (where to fetch it, bytes, a compiled
 * module, a response). Opening a ledger does it by itself; what is called before, a fingerprint or a snapshot, needs it. Where it fails it
 * can be called again.
 */
export function load(module?: InitInput): Promise<void> {
  loading ??= init(module === undefined ? undefined : { module_or_path: module }).then(useErrors, (error: unknown) => {
    loading = undefined;
    throw notLoaded(error);
  });
  return loading;
}

/** What browsers say where a Content-Security-Policy lets no WebAssembly be compiled. */
const OF_POLICY = /unsafe-eval|Content.Security.Policy|\bCSP\b/i;

function notLoaded(error: unknown): KeyledgerError {
  const why = error instanceof Error ? error.message : String(error);
  const advice = OF_POLICY.test(why)
    ? "the Content-Security-Policy has to say script-src 'wasm-unsafe-eval'"
    : "serve keyledger_bg.wasm beside the script, or say where it is (keyledger/wasm)";
  return new KeyledgerError("unavailable", `the WebAssembly module cannot be loaded; ${advice}: ${why}`);
}
