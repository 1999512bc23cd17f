// What the tests of the outbox share: an outbox in memory, and a server that answers by a script.

import { createServer } from "node:http";
import { kit } from "./kit.mjs";

/** In memory, and closed at the end of the test. */
export function inMemory(t, settings, options) {
  const ledger = kit.Ledger.inMemorySync(options);
  t.after(() => ledger.close());
  return ledger.outbox(settings);
}

/** Answers each request with the next of `replies`: `{ status, headers, body }`, `"cut"`, `"silence"`, or a function of what was seen. */
export async function server(t, replies = []) {
  const seen = [];
  const made = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url, headers, rawHeaders } = request;
      const one = { method, path: url, headers, rawHeaders, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      let reply = replies.shift() ?? { status: 200 };
      if (typeof reply === "function") reply = reply(one);
      if (reply === "cut") return request.socket.destroy();
      if (reply === "silence") return;
      response.writeHead(reply.status, reply.headers).end(reply.body);
    });
  });
  await new Promise((resolve) => made.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    made.closeAllConnections();
    made.close();
  });
  return { seen, made, url: `http://127.0.0.1:${made.address().port}/charges` };
}

export const keyOf = (seen) => seen.headers["idempotency-key"];

/** Without waits between tries. */
export const EAGER = { backoff: { baseMs: 0, capMs: 0, multiplier: 1 }, retryBudget: { retries: 1000, refillMs: 1 } };

/** Whoever does not answer is given up soon, and asked again until it does. */
export const STUBBORN = {
  leaseMs: 1000,
  backoff: { baseMs: 1, capMs: 10, multiplier: 2 },
  maxTries: 10_000,
  retryBudget: { retries: 10_000, refillMs: 1 },
};

/** Lets what is queued on the event loop have its turn. */
export const turns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A browser's globals, put in place until `leave`: `says` has it say whether it is online, and be heard. */
export function browser(onLine, more = {}) {
  const [target, before] = [new EventTarget(), Object.getOwnPropertyDescriptors(globalThis)];
  const globals = {
    navigator: { onLine },
    addEventListener: target.addEventListener.bind(target),
    removeEventListener: target.removeEventListener.bind(target),
    ...more,
  };
  for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  const leave = () => {
    for (const name of Object.keys(globals)) {
      if (before[name]) Object.defineProperty(globalThis, name, before[name]);
      else delete globalThis[name];
    }
  };
  const says = (isOnLine) => {
    globalThis.navigator.onLine = isOnLine;
    target.dispatchEvent(new Event(isOnLine ? "online" : "offline"));
  };
  return { says, leave };
}
