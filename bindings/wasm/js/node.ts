import { readFileSync } from "node:fs";
import { useErrors } from "./raised.js";
import { type Names, onlyKnown } from "./door.js";
import { FileStore, type Locking } from "./file-store.js";
import { hostOf } from "./host.js";
import { LedgerHandle, type LedgerOptions } from "./ledger.js";
import { MemoryStore } from "./memory-store.js";
import { initSync } from "./native/keyledger.js";
import type { Clock, Store } from "./store.js";

export * from "./common.js";
export { FileStore, type Locking } from "./file-store.js";

initSync({ module: readFileSync(new URL("./native/keyledger_bg.wasm", import.meta.url)) });
useErrors();

/** Nothing to wait for: here the module is loaded by the import. */
export async function load(): Promise<void> {}

/** How often another may be first to make a ledger before its opener gives up. */
const ATTEMPTS_MAX = 16;

/** How a ledger is opened in Node. */
export interface OpenOptions extends LedgerOptions {
  /** `none` only where something else sees to it that nobody opens the file twice. */
  locking?: Locking;
  /** Where the time comes from. */
  clock?: Clock;
}

const OPTIONS: Names<OpenOptions> = { maxResponseBytes: true, cacheBytes: true, locking: true, clock: true };

/** A key ledger in one file, or in memory. */
export class Ledger extends LedgerHandle {
  /** Opens the ledger file, or makes it, for this process alone. */
  static openSync(path: string | URL, options: OpenOptions = {}): Ledger {
    onlyKnown("Ledger.open", options, OPTIONS);
    for (let attempt = 1; ; attempt++) {
      const store = new FileStore(path, options.locking);
      try {
        return Ledger.on(store, options);
      } catch (error) {
        // Whoever loses the race to make it opens the winner's (P5).
        if (!store.isBeaten || attempt === ATTEMPTS_MAX) throw error;
      }
    }
  }
  static async open(path: string | URL, options?: OpenOptions): Promise<Ledger> {
    return Ledger.openSync(path, options);
  }
  /** Opens the ledger on a store of the caller's. */
  static on(store: Store, options: OpenOptions = {}): Ledger {
    return new Ledger(store, hostOf(setImmediate, options?.clock), options);
  }
  /** A ledger that is gone with the process; its `snapshot` is not. */
  static inMemorySync(options?: OpenOptions): Ledger {
    return Ledger.on(new MemoryStore(), options);
  }
  static async inMemory(options?: OpenOptions): Promise<Ledger> {
    return Ledger.inMemorySync(options);
  }
  /** A ledger in memory that begins with what `snapshot` told. Damaged bytes throw `corrupt`, others `wrong_format`. */
  static restoreSync(snapshot: Uint8Array, options?: OpenOptions): Ledger {
    return Ledger.on(new MemoryStore(snapshot), options);
  }
  static async restore(snapshot: Uint8Array, options?: OpenOptions): Promise<Ledger> {
    return Ledger.restoreSync(snapshot, options);
  }
}
