import { KeyledgerError } from "./errors.js";
import init, { type InitInput } from "./native/keyledger.js";
import { useErrors } from "./raised.js";
import { wordsOf } from "./thrown.js";

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

/** What they say of something else that came in its place: a server's page, mostly. */
const OF_ANOTHER = /magic (?:word|number)|doesn't start with/;

/** What to do where Vite has moved the package's script, and neither worker nor module. @internal */
export const FOR_VITE = 'in development Vite 6 and 7 want optimizeDeps: { exclude: ["keyledger"] }';

function notLoaded(error: unknown): KeyledgerError {
  const why = wordsOf(error);
  return new KeyledgerError("unavailable", `the WebAssembly module cannot be loaded; ${adviceOn(why)}: ${why}`);
}

function adviceOn(why: string): string {
  if (OF_POLICY.test(why)) return "the Content-Security-Policy has to say script-src 'wasm-unsafe-eval'";
  const advice = "serve keyledger_bg.wasm beside the script, or say where it is (keyledger/wasm)";
  return OF_ANOTHER.test(why) ? `something else came in its place: ${advice}; ${FOR_VITE}` : advice;
}
