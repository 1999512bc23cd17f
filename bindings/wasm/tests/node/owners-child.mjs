// Opens the file that it is told, in a process or a thread of its own, and says what came of it.

import { parentPort, workerData } from "node:worker_threads";
import { kit } from "./kit.mjs";

async function opened(path) {
  try {
    await (await kit.Ledger.open(path)).close();
    return { code: "opened" };
  } catch (error) {
    return { code: error.code, message: error.message };
  }
}

const answer = await opened(workerData ?? process.argv[2]);
if (parentPort) parentPort.postMessage(answer);
else process.send(answer, () => process.exit());
