import { KeyledgerError } from "./errors.js";
import { hostOf } from "./host.js";
import { LedgerHandle, type LedgerOptions } from "./ledger.js";
import { load } from "./load.js";
import { MemoryStore } from "./memory-store.js";
import type { Clock, Store } from "./store.js";

export * from "./common.js";
export { load } from "./load.js";

/** How a ledger in memory is opened. */
export interface MemoryOptions extends LedgerOptions {
  /** Where the time comes from. */
  clock?: Clock;
}

/** A key ledger in memory, for wherever there is no file. It is gone with the process; the snapshot of its store is not. */
export class Ledger extends LedgerHandle {
  /** For whoever was told by types of another platform that there are files. @internal */
  static async open(): Promise<never> {
    const instead = "a bundler has to resolve `browser` for pages, `node` for Node; a Durable Object has keyledger/durable-object";
    throw new KeyledgerError("unavailable", `what was loaded of keyledger here has no files, only memory; ${instead}`);
  }
  /** Opens the ledger on a store of the caller's, once the module is loaded. */
  static on(store: Store, options: MemoryOptions = {}): Ledger {
    return new Ledger(store, hostOf((commit) => queueMicrotask(commit), options?.clock), options);
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
