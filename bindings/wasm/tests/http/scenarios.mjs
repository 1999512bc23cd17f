// The files of bindings/conformance/http, as what the runner plays. Runs on every platform: it imports nothing of a platform's own.

import { toBytes } from "../conformance/values.mjs";

/** The scenarios of one file, each with the members of the file's route. */
export function scenariosOf(file, loaded) {
  return loaded.scenarios.map((raw) => ({
    ...raw,
    name: `${file}: ${raw.name}`,
    only: raw.only ?? [],
    route: { ...loaded.route, ...raw.route },
    handlers: Array.isArray(raw.handler) ? raw.handler : [raw.handler ?? {}],
  }));
}

/** Whether a scenario is about what happens on a connection. */
export function isAboutSockets({ only, steps }) {
  return only.includes("served") || steps.some(({ do: what, request }) => what.startsWith("cut") || request?.pieces !== undefined);
}

/** Bytes as a string with a letter for each, as `Headers` have them. */
export const latin1 = (bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");

/** A line as name and value. */
export function fieldOf(line) {
  const at = line.indexOf(": ");
  return [line.slice(0, at), latin1(toBytes(line.slice(at + 2)))];
}

/** A request, with what is so when it is not said. */
export function requestOf(raw = {}) {
  const { method = "POST", target = "/charges", user = "ada", keys = ['"key-1"'], type = "application/json", fields = [] } = raw;
  const lines = [
    ...(user === null ? [] : [`User: ${user}`]),
    ...keys.map((key) => `Idempotency-Key: ${key}`),
    ...(type === null ? [] : [`Content-Type: ${type}`]),
    ...fields,
  ].map(fieldOf);
  return { method, target, user, lines, body: toBytes(raw.body ?? '{"amount":5}'), pieces: raw.pieces };
}

/** The body in so many pieces, cut where chance says. */
export function piecesOf({ body, pieces = 1 }) {
  const cuts = Array.from({ length: pieces - 1 }, () => 1 + Math.floor(Math.random() * (body.length - 1)));
  const ends = [...new Set([...cuts, body.length])].sort((a, b) => a - b);
  return ends.map((end, at) => body.subarray(ends[at - 1] ?? 0, end));
}
