// The ledger of a thread of its own: what syncs does so beside the event loop.

import { Worker } from "node:worker_threads";
import { KeyledgerError } from "../errors.js";
import type { Names } from "../door.js";
import { type Locking, checkLocking, pathOf } from "../file-store.js";
import type { LedgerOptions } from "../ledger.js";
import { Calling } from "../remote/calling.js";
import { checkOpening } from "../remote/driver.js";
import { RemoteLedger } from "../remote/ledger.js";
import { errorOf } from "../remote/plain.js";
import type { Durability } from "../store.js";
import type { FromThread } from "./messages.js";
// Loads the module in this thread too, for fingerprints and derived keys.
import "../node.js";

export * from "../common.js";
export { RemoteClaim } from "../remote/claim.js";
export { RemoteDriver, type RemoteFetchSettings, type RemoteTransport } from "../remote/driver.js";
export { type RemoteDecision, RemoteLedger } from "../remote/ledger.js";
export { RemoteOutbox } from "../remote/outbox.js";

/** How a ledger is opened in a thread of its own. */
export interface OpenOptions extends LedgerOptions {
  /** `none` only where something else sees to it that nobody opens the file twice. */
  locking?: Locking;
}

const OPTIONS: Names<OpenOptions> = { maxResponseBytes: true, cacheBytes: true, locking: true };

/** The options as the thread is told them. */
function movable(options: OpenOptions): OpenOptions {
  checkOpening(options, OPTIONS);
  const { locking = "flock", ...numbers } = options;
  checkLocking(locking);
  return { locking, ...numbers };
}

/** A key ledger in one file, which a thread of its own has. It keeps the process alive only while a call is under way. */
export class Ledger extends RemoteLedger {
  /** Opens the ledger file, or makes it, for this process alone. */
  static async open(path: string | URL, options: OpenOptions = {}): Promise<Ledger> {
    const workerData = { path: pathOf(path), options: movable(options) };
    // The program's own options are not the thread's: `--eval` and the like would stop it.
    const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData, name: "keyledger", execArgv: [] });
    const calling = new Calling((message) => worker.postMessage(message));
    calling.onBusy = (isBusy) => (isBusy ? worker.ref() : worker.unref());
    calling.onEnd = () => void worker.terminate();
    const durability = await new Promise<Durability>((resolve, reject) => {
      const failed = (error: Error) => (calling.end(error), reject(error));
      worker.on("message", (message: FromThread) => {
        if (message.kind === "opened") resolve(message.durability);
        else if (message.kind === "failed") failed(errorOf(message.error));
        else calling.told(message);
      });
      worker.on("error", (error) => failed(new KeyledgerError("unavailable", `the ledger's thread has ended: ${error.message}`)));
      worker.on("exit", () => failed(new KeyledgerError("unavailable", "the ledger's thread has ended")));
    });
    worker.unref();
    return new Ledger(calling, durability);
  }
}
