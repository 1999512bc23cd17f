// The worker of a tab. Nothing is imported from it; a page starts it.

import { load } from "../load.js";
import { plainError } from "../remote/plain.js";
import { Agent } from "./agent.js";
import type { FromPage, ToPage } from "./messages.js";

const tell = (message: ToPage) => postMessage(message);

/** Messages that come while the module is loaded wait in line. */
let agent: Promise<Agent> | null = null;

async function start(message: FromPage & { kind: "open" }): Promise<Agent> {
  await load(message.module);
  const started = new Agent(message.name, message.options, tell);
  started.show();
  return started;
}

onmessage = ({ data }: MessageEvent<FromPage>) => {
  if (data.kind === "open") {
    agent = start(data);
    agent.catch((error: unknown) => tell({ kind: "failed", error: plainError(error) }));
  } else {
    agent?.then((started) => started.from(data)).catch(() => undefined);
  }
};
