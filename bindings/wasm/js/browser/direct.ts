// For a dedicated worker of one's own, which has the ledger for itself.

import { hostOf } from "../host.js";
import { LedgerHandle, type LedgerOptions } from "../ledger.js";
import { load } from "../load.js";
import { MemoryStore } from "../memory-store.js";
import type { Clock, Store } from "../store.js";
import { OpfsStore } from "./opfs-store.js";
import { type ModuleSource, checkLedgerName, checkPlace } from "./place.js";
import { callSoon } from "./soon.js";

export * from "../common.js";
export { load } from "../load.js";
export { OpfsStore } from "./opfs-store.js";
export type { ModuleSource } from "./place.js";

/** How a ledger is opened in a worker. */
export interface OpenOptions extends LedgerOptions {
  /** Where the time comes from. */
  clock?: Clock;
  /** Where the WebAssembly module is (`keyledger/wasm`). Absent: beside the package's files. */
  module?: ModuleSource;
}

/** A key ledger in a file of the origin's own, or in memory, for this worker alone. */
export class Ledger extends LedgerHandle {
  /** Opens the ledger of this name, or makes it. Throws `already_open` where another worker keeps it for five seconds. */
  static async open(name: string, options: OpenOptions = {}): Promise<Ledger> {
    checkPlace();
    checkLedgerName(name);
    await load(options.module);
    return Ledger.on(await OpfsStore.open(name), options);
  }
  /** Opens the ledger on a store of the caller's, once the module is loaded (`load`). */
  static on(store: Store, { module: _, ...options }: OpenOptions = {}): Ledger {
    return new Ledger(store, hostOf(callSoon, options?.clock), options);
  }
  /** A ledger that is gone with the worker. */
  static async inMemory(options?: OpenOptions): Promise<Ledger> {
    await load(options?.module);
    return Ledger.on(new MemoryStore(), options);
  }
}
