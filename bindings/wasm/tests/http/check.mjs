// What came against what was expected.

import { toBytes } from "../conformance/values.mjs";
import { latin1 } from "./scenarios.mjs";

export const START_MS = 1_000_000_000_000;
const TYPES = "https://github.com/keyledger/keyledger/blob/main/docs/http.md";

function hold(isSo, what) {
  if (!isSo) throw new Error(what);
}
function equal(found, wanted, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  hold(a === b, `${what}: found ${a?.slice(0, 600)}, expected ${b?.slice(0, 600)}`);
}
const text = (bytes) => latin1(bytes.subarray(0, 600));
const same = (a, b) => a.length === b.length && a.every((byte, at) => byte === b[at]);

/** The lines of one name. `Headers` join them, save for cookies: several are one list then (RFC 9110, section 5.3). */
const linesOf = (got, name) => got.fields.filter(([own]) => own.toLowerCase() === name.toLowerCase()).map(([, value]) => value);

function wantedLines(name, lines) {
  const wanted = (lines === null ? [] : [lines].flat()).map((line) => latin1(toBytes(line)));
  return wanted.length > 1 && name !== "Set-Cookie" ? [wanted.join(", ")] : wanted;
}

/** `got` has `status`, `fields` and `body`; it is null where it broke off. */
export function compare(got, expected) {
  if (expected.broken) return hold(got === null, `the answer did not break off: ${JSON.stringify(got)}`);
  hold(got !== null, "the answer broke off");
  hold(got.status === expected.status, `the status is ${got.status}, expected ${expected.status}: ${text(got.body)}`);
  if ("body" in expected) hold(same(got.body, toBytes(expected.body)), `another body: ${text(got.body)}`);
  if ("lacks" in expected) hold(!latin1(got.body).includes(expected.lacks), `${expected.lacks} is told`);
  for (const [name, lines] of Object.entries(expected.fields ?? {})) equal(linesOf(got, name), wantedLines(name, lines), name);
  if ("replayed" in expected) equal(linesOf(got, "Idempotent-Replayed"), expected.replayed ? ["true"] : [], "replayed");
  if ("problem" in expected) compareProblem(got, expected);
  if ("retry_after" in expected) {
    const [least, most] = expected.retry_after;
    const seconds = Number(linesOf(got, "Retry-After"));
    hold(least <= seconds && seconds <= most, `Retry-After: ${seconds}`);
  }
  if ("expires_at_ms" in expected) {
    const at = new Date(START_MS + expected.expires_at_ms);
    equal(linesOf(got, "Idempotency-Key-Expires"), [at.toUTCString()], "expires");
  }
}

function compareProblem(got, expected) {
  equal(linesOf(got, "Content-Type"), ["application/problem+json"], "the type");
  const problem = JSON.parse(latin1(got.body));
  equal([problem.type, problem.status], [`${TYPES}#${expected.problem}`, got.status], "the problem");
  hold(typeof problem.title === "string" && typeof problem.detail === "string", "no title, or no detail");
  if ("advice" in expected) equal(problem.key_advice ?? null, expected.advice, "key_advice");
}

/** `view` is what the ledger has under the key, or null. */
export function compareRecord(kit, view, expected) {
  if (view === null || expected === null) return equal(view?.state ?? null, expected?.state ?? null, "the record");
  equal(view.state, expected.state, "the state");
  if ("effect" in expected) equal(view.effect, expected.effect, "the effect");
  if (view.response === null) {
    const told = ["status", "body", "fields", "omitted", "derived"].filter((name) => name in expected);
    return equal(told, [], "there is no response, and it was expected");
  }
  const stored = kit.httpOfStored(view.response);
  if ("status" in expected) equal(stored.status, expected.status, "the stored status");
  if ("fields" in expected) {
    const fields = Object.fromEntries(stored.headers.map(([name, value]) => [name.toLowerCase(), value]));
    equal(Object.entries(fields).sort(), Object.entries(expected.fields).map(([name, value]) => [name, latin1(toBytes(value))]).sort(), "the stored fields");
  }
  if ("body" in expected) hold(stored.body !== null && same(stored.body, toBytes(expected.body)), "another body is stored");
  if ("derived" in expected) {
    equal(latin1(stored.body), kit.deriveKeyFor(view.keyId, expected.derived), "the derived key");
  }
  equal(stored.body === null, expected.omitted ?? false, "omitted");
}
