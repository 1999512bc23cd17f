import { kindOf, refused } from "../door.js";
import { KeyledgerError } from "../errors.js";

/** Where the WebAssembly module is: an address, or the module itself. A response cannot go to a worker. */
export type ModuleSource = string | URL | WebAssembly.Module | BufferSource;

/** The same, as another thread understands it. */
export function movable(module: ModuleSource | undefined): Exclude<ModuleSource, URL> | undefined {
  return typeof module === "string" || module instanceof URL ? new URL(module, location.href).href : module;
}

/** Throws for what names no ledger: a browser would take it for the name of one. */
export function checkLedgerName(name: unknown): void {
  if (typeof name !== "string" || name === "") throw refused(`a ledger's name is text; this is ${name === "" ? "empty" : kindOf(name)}`);
}

/** Throws where a browser keeps files and locks from what runs here. */
export function checkPlace(): void {
  if (globalThis.isSecureContext === false) {
    throw new KeyledgerError("unavailable", "a browser gives a ledger its file over https or on localhost only, and this is neither");
  }
}

/** Throws where no worker can be started. */
export function checkPage(): void {
  checkPlace();
  if (typeof Worker === "undefined") {
    const why = "no worker can be started here (a service worker and a shared worker may not); open the ledger in a page";
    throw new KeyledgerError("unavailable", why);
  }
}
