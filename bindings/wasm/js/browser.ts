import { type ModuleSource, checkLedgerName, checkPage, movable } from "./browser/place.js";
import { openTab } from "./browser/tab.js";
import type { Names } from "./door.js";
import type { LedgerOptions } from "./ledger.js";
import { load } from "./load.js";
import { checkOpening } from "./remote/driver.js";
import { RemoteLedger } from "./remote/ledger.js";

export * from "./common.js";
export type { ModuleSource } from "./browser/place.js";
export { load } from "./load.js";
export { RemoteClaim } from "./remote/claim.js";
export { RemoteDriver, type RemoteFetchSettings, type RemoteTransport } from "./remote/driver.js";
export { type RemoteDecision, RemoteLedger } from "./remote/ledger.js";
export { RemoteOutbox } from "./remote/outbox.js";

/** How a ledger is opened in a page. */
export interface OpenOptions extends LedgerOptions {
  /** Starts the worker, of `keyledger/browser-worker`, where the bundler does not find it by itself. */
  worker?: () => Worker;
  /** Where the WebAssembly module is (`keyledger/wasm`), for the page and its worker. Absent: beside the package's files. */
  module?: ModuleSource;
  /** Whether to ask the browser to keep the file even if it needs space. Absent: true. */
  persist?: boolean;
}

const OPTIONS: Names<OpenOptions> = { maxResponseBytes: true, cacheBytes: true, worker: true, module: true, persist: true };

/** A key ledger in a file of the origin's own. All tabs share it: one has it, the others ask that one. */
export class Ledger extends RemoteLedger {
  /** Opens the ledger of this name, or makes it. */
  static async open(name: string, options: OpenOptions = {}): Promise<Ledger> {
    checkPage();
    checkLedgerName(name);
    checkOpening(options, OPTIONS);
    const { worker = startWorker, persist = true, module, ...rest } = options;
    const source = movable(module);
    const [, isPersisted] = await Promise.all([load(source), persist && navigator.storage?.persist?.()]);
    const { calling, durability } = await openTab(worker(), { name, options: rest, module: source });
    return new Ledger(calling, isPersisted ? "persisted" : durability);
  }
}

function startWorker(): Worker {
  return new Worker(new URL("./browser/worker.js", import.meta.url), { type: "module", name: "keyledger" });
}
