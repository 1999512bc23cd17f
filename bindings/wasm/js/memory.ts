import { useErrors } from "./raised.js";
import { hostOf } from "./host.js";
import { LedgerHandle, type LedgerOptions } from "./ledger.js";
import { MemoryStore } from "./memory-store.js";
import init, { type InitInput } from "./native/keyledger.js";
import type { Clock, Store } from "./store.js";

export * from "./common.js";

/** How a ledger in memory is opened. */
export interface MemoryOptions extends LedgerOptions {
  /** Where the time comes from. */
  clock?: Clock;
}

let loading: Promise<void> | undefined;

/**
 * Loads the WebAssembly module, once: from beside this file, or as it is given (bytes, a compiled module, a response, where to fetch it).
 * `Ledger.inMemory` does it by itself; what else is called first, a fingerprint or a snapshot, needs it before.
 */
export function load(module?: InitInput): Promise<void> {
  loading ??= init(module === undefined ? undefined : { module_or_path: module }).then(useErrors);
  return loading;
}

/** A key ledger in memory, for wherever there is no file. It is gone with the process; the snapshot of its store is not. */
export class Ledger extends LedgerHandle {
  /** Opens the ledger on a store of the caller's, once the module is loaded. */
  static on(store: Store, options: MemoryOptions = {}): Ledger {
    return new Ledger(store, hostOf((commit) => queueMicrotask(commit), options.clock), options);
  }
  static inMemorySync(options?: MemoryOptions): Ledger {
    return Ledger.on(new MemoryStore(), options);
  }
  /** Loads the module too. */
  static async inMemory(options?: MemoryOptions): Promise<Ledger> {
    await load();
    return Ledger.inMemorySync(options);
  }
  /** A ledger in memory that begins with what `snapshot` told, once the module is loaded. Damaged bytes throw `corrupt`, others `wrong_format`. */
  static restoreSync(snapshot: Uint8Array, options?: MemoryOptions): Ledger {
    return Ledger.on(new MemoryStore(snapshot), options);
  }
  /** Loads the module too. */
  static async restore(snapshot: Uint8Array, options?: MemoryOptions): Promise<Ledger> {
    await load();
    return Ledger.restoreSync(snapshot, options);
  }
}
