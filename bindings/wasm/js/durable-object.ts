import { type DurableStorage, DurableStore } from "./durable-store.js";
import { useErrors } from "./raised.js";
import { hostOf } from "./host.js";
import { LedgerHandle, type LedgerOptions } from "./ledger.js";
import { initSync } from "./native/keyledger.js";
// Workers have the module as an import, and may not compile one.
import module from "./native/keyledger_bg.wasm";
import type { Clock, Store } from "./store.js";

export * from "./common.js";
export { type DurableStorage, DurableStore } from "./durable-store.js";

initSync({ module });
useErrors();

/** Memory for pages: an object shares its 128 MB with others. */
const CACHE_BYTES = 4 << 20;

/** How a ledger is opened in a Durable Object. */
export interface DurableOptions extends LedgerOptions {
  /** Where the time comes from. */
  clock?: Clock;
}

/** A key ledger in the storage of a Durable Object. */
export class Ledger extends LedgerHandle {
  /** Opens the ledger on `ctx.storage`, or makes it there: once, in the object's constructor. */
  static openSync(storage: DurableStorage, options?: DurableOptions): Ledger {
    return Ledger.on(new DurableStore(storage), options);
  }
  static async open(storage: DurableStorage, options?: DurableOptions): Promise<Ledger> {
    return Ledger.openSync(storage, options);
  }
  /** Opens the ledger on a store of the caller's. */
  static on(store: Store, options: DurableOptions = {}): Ledger {
    const host = hostOf((commit) => queueMicrotask(commit), options?.clock);
    return new Ledger(store, host, { cacheBytes: CACHE_BYTES, ...options });
  }
}
