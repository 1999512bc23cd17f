// A server that is none: requests are given to the fetch handler as they are. Runs on every platform.

import { piecesOf } from "./scenarios.mjs";

export class InProcess {
  serve(handler) {
    this.handler = handler;
  }

  send(asked) {
    const client = new AbortController();
    const bodyless = asked.method === "GET" || asked.method === "HEAD";
    const { pieces } = asked;
    const body = bodyless ? undefined : pieces === undefined ? asked.body : streamOf(piecesOf(asked));
    const lines = bodyless || pieces !== undefined ? [] : [["Content-Length", String(asked.body.length)]];
    return { answer: answered(this.handler(requestOf(asked, lines, { body, signal: client.signal }))), cut: () => client.abort() };
  }

  /** The head, and half of the body. */
  async sendHalf(asked) {
    const half = asked.body.subarray(0, asked.body.length >> 1);
    const lines = [["Content-Length", String(asked.body.length)]];
    await answered(this.handler(requestOf(asked, lines, { body: streamOf([half], new Error("the client is gone")) })));
  }
}

function requestOf(asked, lines, init) {
  const headers = new Headers();
  for (const [name, value] of [...asked.lines, ...lines]) headers.append(name, value);
  return new Request(`https://pay.example${asked.target}`, { method: asked.method, headers, duplex: "half", ...init });
}

function streamOf(pieces, error) {
  const left = [...pieces];
  return new ReadableStream({
    pull(controller) {
      const piece = left.shift();
      if (piece) controller.enqueue(piece);
      else if (error) controller.error(error);
      else controller.close();
    },
  });
}

async function answered(handled) {
  const response = await handled;
  try {
    return { status: response.status, fields: [...response.headers], body: new Uint8Array(await response.arrayBuffer()) };
  } catch {
    return null;
  }
}
