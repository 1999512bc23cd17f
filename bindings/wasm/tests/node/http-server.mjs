// Node's server with a fetch handler behind it, and a client that writes bytes to a socket.

import { createServer } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { piecesOf } from "../http/scenarios.mjs";

const OF_THE_CONNECTION = /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** A server on loopback whose handler is another one for each scenario. */
export class Served {
  static async start() {
    const served = new Served();
    await new Promise((resolve) => served.server.listen(0, "127.0.0.1", resolve));
    return served;
  }

  constructor() {
    this.server = createServer((incoming, outgoing) => void answer(this.handler, incoming, outgoing));
  }

  serve(handler) {
    this.handler = handler;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  send(asked) {
    const socket = this.#connected();
    socket.write(headOf(asked));
    socket.write(framedBody(asked));
    return { answer: received(socket, asked.method), cut: () => socket.destroy() };
  }

  /** The head, and half of the body. */
  sendHalf(asked) {
    const socket = this.#connected();
    socket.write(headOf(asked));
    return new Promise((resolve) => {
      socket.on("close", resolve);
      socket.write(asked.body.subarray(0, asked.body.length >> 1), () => socket.destroy());
    });
  }

  #connected() {
    const socket = connect(this.server.address().port, "127.0.0.1");
    // A server may answer, and close, before it has read everything.
    socket.on("error", () => undefined);
    return socket;
  }
}

async function answer(handler, incoming, outgoing) {
  const client = new AbortController();
  outgoing.on("close", () => outgoing.writableFinished || client.abort());
  const response = await handler(requestOf(incoming, client.signal));
  const fields = [...response.headers].filter(([name]) => !OF_THE_CONNECTION.test(name));
  outgoing.writeHead(response.status, fields.flat());
  try {
    for await (const piece of response.body ?? []) outgoing.write(piece);
    outgoing.end();
  } catch {
    outgoing.destroy();
  }
}

function requestOf(incoming, signal) {
  const { method, url, rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at], rawHeaders[at + 1]);
  const body = method === "GET" || method === "HEAD" ? undefined : Readable.toWeb(incoming);
  return new Request(`http://pay.example${url}`, { method, headers, body, signal, duplex: "half" });
}

function headOf(asked) {
  const framing = asked.pieces === undefined ? `Content-Length: ${asked.body.length}` : "Transfer-Encoding: chunked";
  const lines = asked.lines.map(([name, value]) => `${name}: ${value}`);
  const head = [`${asked.method} ${asked.target} HTTP/1.1`, "Host: pay.example", "Connection: close", framing, ...lines];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1");
}

function framedBody(asked) {
  if (asked.pieces === undefined) return asked.body;
  const chunks = piecesOf(asked).flatMap((piece) => [Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
  return Buffer.concat([...chunks, Buffer.from("0\r\n\r\n")]);
}

/** Everything to the end of the connection; null for an answer that does not come to its own end. */
async function received(socket, method) {
  const pieces = [];
  try {
    for await (const piece of socket) pieces.push(piece);
  } catch {
    // What came before counts.
  }
  return understood(Buffer.concat(pieces), method);
}

function understood(read, method) {
  const end = read.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const [first, ...lines] = read.toString("latin1", 0, end).split("\r\n");
  const fields = lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
  const status = Number(first.split(" ")[1]);
  const rest = read.subarray(end + 4);
  if (method === "HEAD" || status === 204 || status === 304) return { status, fields, body: rest };
  const body = unframed(new Map(fields.map(([name, value]) => [name.toLowerCase(), value])), rest);
  return body === null ? null : { status, fields, body };
}

function unframed(fields, rest) {
  if (fields.get("transfer-encoding") === "chunked") return unchunked(rest);
  return Number(fields.get("content-length") ?? NaN) === rest.length ? rest : null;
}

function unchunked(rest) {
  const pieces = [];
  for (let at = 0; ; ) {
    const end = rest.indexOf("\r\n", at);
    if (end < 0) return null;
    const size = parseInt(rest.toString("latin1", at, end), 16);
    if (size === 0) return Buffer.concat(pieces);
    if (rest.length < end + 2 + size + 2) return null;
    pieces.push(rest.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
