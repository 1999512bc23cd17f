// The thread that has the file. Nothing is imported from it; `thread/ledger.js` starts it.

import { parentPort, workerData } from "node:worker_threads";
import { Ledger, type OpenOptions } from "../node.js";
import type { Asked, Told } from "../remote/calling.js";
import { Desk } from "../remote/desk.js";
import type { Said } from "../remote/messages.js";
import { plainError } from "../remote/plain.js";
import type { FromThread } from "./messages.js";

const port = parentPort;
if (!port) throw new Error("this is a worker of keyledger/worker's; import that");

const tell = (message: FromThread) => port.postMessage(message);
const { path, options } = workerData as { path: string; options: OpenOptions };

/** The only one that asks: a name for the desk's sake. */
const CALLER = "main";

try {
  const ledger = Ledger.openSync(path, options);
  const desk = new Desk(ledger);
  const close = async (): Promise<Told> => {
    await desk.finish();
    ledger.closeSync();
    return { kind: "closed" };
  };
  port.on("message", (message: Asked) => {
    if (message.kind === "cancel") return desk.cancel(CALLER, message.id);
    if (message.kind === "close") return void close().then(tell);
    const { id, call } = message;
    const say = (said: Said) => tell({ kind: "said", id, said });
    return void desk.answer(CALLER, id, call, say).then((outcome) => tell({ kind: "outcome", id, outcome }));
  });
  tell({ kind: "opened", durability: ledger.durability() });
} catch (error) {
  tell({ kind: "failed", error: plainError(error) });
}
