import { openTab } from "./browser/tab.js";
import { useErrors } from "./raised.js";
import type { LedgerOptions } from "./ledger.js";
import init from "./native/keyledger.js";
import { RemoteLedger } from "./remote/ledger.js";

export * from "./common.js";
export { RemoteClaim } from "./remote/claim.js";
export { RemoteDriver, type RemoteTransport } from "./remote/driver.js";
export { type RemoteDecision, RemoteLedger } from "./remote/ledger.js";
export { RemoteOutbox } from "./remote/outbox.js";

/** How a ledger is opened in a page. */
export interface OpenOptions extends LedgerOptions {
  /** Starts the worker, where the bundler does not see to `dist/browser/worker.js` by itself. */
  worker?: () => Worker;
  /** Whether to ask the browser to keep the file even if it needs space. Absent: true. */
  persist?: boolean;
}

/** A key ledger in a file of the origin's own. All tabs share it: one has it, the others ask that one. */
export class Ledger extends RemoteLedger {
  /** Opens the ledger of this name, or makes it. */
  static async open(name: string, options: OpenOptions = {}): Promise<Ledger> {
    const { worker = startWorker, persist = true, ...rest } = options;
    const [, isPersisted] = await Promise.all([load(), persist && navigator.storage?.persist?.()]);
    const { calling, durability } = await openTab(worker(), name, rest);
    return new Ledger(calling, isPersisted ? "persisted" : durability);
  }
}

let loading: Promise<void> | undefined;

/** The module of this thread, for fingerprints and derived keys. */
function load(): Promise<void> {
  return (loading ??= init().then(useErrors));
}

function startWorker(): Worker {
  return new Worker(new URL("./browser/worker.js", import.meta.url), { type: "module", name: "keyledger" });
}
