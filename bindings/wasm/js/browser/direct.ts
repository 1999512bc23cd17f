// For a dedicated worker of one's own, which has the ledger for itself.

import { useErrors } from "../raised.js";
import { hostOf } from "../host.js";
import { LedgerHandle, type LedgerOptions } from "../ledger.js";
import { MemoryStore } from "../memory-store.js";
import init from "../native/keyledger.js";
import type { Clock, Store } from "../store.js";
import { OpfsStore } from "./opfs-store.js";
import { callSoon } from "./soon.js";

export * from "../common.js";
export { OpfsStore } from "./opfs-store.js";

await init();
useErrors();

/** How a ledger is opened in a worker. */
export interface OpenOptions extends LedgerOptions {
  /** Where the time comes from. */
  clock?: Clock;
}

/** A key ledger in a file of the origin's own, or in memory, for this worker alone. */
export class Ledger extends LedgerHandle {
  /** Opens the ledger of this name, or makes it. Throws `already_open` where another worker keeps it for five seconds. */
  static async open(name: string, options: OpenOptions = {}): Promise<Ledger> {
    return Ledger.on(await OpfsStore.open(name), options);
  }
  /** Opens the ledger on a store of the caller's. */
  static on(store: Store, options: OpenOptions = {}): Ledger {
    return new Ledger(store, hostOf(callSoon, options.clock), options);
  }
  /** A ledger that is gone with the worker. */
  static async inMemory(options?: OpenOptions): Promise<Ledger> {
    return Ledger.on(new MemoryStore(), options);
  }
}
