// What is checked before the native half is asked.

import { KeyledgerError } from "./errors.js";
import { refuseText } from "./native/keyledger.js";

/** @internal */
export const refused = (why: string) => new KeyledgerError("invalid_argument", why);

/** What it is, in words. @internal */
export function kindOf(given: unknown): string {
  if (given == null) return String(given);
  if (typeof given !== "object") return `a ${typeof given}`;
  try {
    const name: unknown = Object.getPrototypeOf(given)?.constructor?.name;
    return typeof name === "string" && name !== "Object" ? `an object of ${name}` : "a plain object";
  } catch {
    return "an object that shows nothing of itself";
  }
}

/**
 * Thrown by the native half's glue, in which `cargo xtask wasm` puts it: what is no text would be read as bytes that are not there, and half a
 * surrogate pair as a character that it is not, so that two texts would be one. @internal
 */
export const noText = (given: unknown) =>
  typeof given === "string" ? halfPair("invalid_key") : refused(`${kindOf(given)}, where text is expected`);

const halfPair = (code: "invalid_key" | "invalid_argument") =>
  new KeyledgerError(code, "half a surrogate pair is no text that UTF-8 can hold: encode the text, or use a hash of it");

/** The glue does not check what names a thing inside of lists. @internal */
export function checkName(name: unknown): void {
  if (typeof name === "string" && !name.isWellFormed()) throw halfPair("invalid_key");
}

/** Nor any other words there: of lists of texts it does, by this; lists of other things are checked by who hands them over. @internal */
export function checkWords(words: readonly unknown[]): void {
  for (const word of words) {
    if (Array.isArray(word)) checkWords(word);
    else if (typeof word === "string") checkPairs(word);
  }
}

/** @internal */
export function checkPairs(text: string): void {
  if (!text.isWellFormed()) throw halfPair("invalid_argument");
}

/** Thrown by the glue where an object is not what it is taken for. @internal */
export const noInstance = (given: unknown, wanted: { name: string }) =>
  refused(`${kindOf(given)}, where a ${wanted.name.replace(/^Native/, "")} is expected: one that this copy of keyledger has made`);

/** The glue would make a number of whatever comes. @internal */
export function checkNumber(given: unknown): void {
  if (typeof given !== "number") throw refused(`${kindOf(given)}, where a number is expected`);
}

/** A number that names something: a part of one would name another. @internal */
export function checkWhole(given: unknown): void {
  checkNumber(given);
  if (!Number.isInteger(given)) throw refused(`${given}, where a whole number is expected`);
}

/** Thrown by the glue before the module is loaded. @internal */
export const noModule = () => new KeyledgerError("unavailable", "the WebAssembly module is not loaded yet: `await load()` first, or open a ledger");

/** What an object may have, by name: the compiler sees to it that none is left out. @internal */
export type Names<T> = { readonly [N in keyof Required<T>]: true };

/** A slip in a name would be passed over in silence. @internal */
export function onlyKnown(what: string, given: object | null | undefined, names: Readonly<Record<string, true>>): void {
  if (given === undefined) return;
  if (typeof given !== "object" || given === null) throw refused(`${what} takes an object of settings; this is ${kindOf(given)}`);
  for (const name in given) {
    if (!Object.hasOwn(names, name)) throw refused(`${what} has no setting ${name}; it has ${Object.keys(names).join(", ")}`);
  }
  if ("signal" in given) checkSignal(given.signal);
}

/** One of another realm is one, too. */
function checkSignal(signal: unknown): void {
  if (signal == null || (typeof signal === "object" && "aborted" in signal && "addEventListener" in signal)) return;
  throw refused(`a signal is an AbortSignal; this is ${kindOf(signal)}`);
}

/** @internal */
export function checkFunction(what: string, given: unknown): void {
  if (typeof given !== "function") throw refused(`${what} is a function; this is ${kindOf(given)}`);
}

/** @internal */
export function listed<T>(what: string, given: readonly T[]): readonly T[] {
  if (Array.isArray(given)) return given;
  throw refused(`${what} takes a list; this is ${kindOf(given)}`);
}

/** The compiler sees to it, and not everybody has one. @internal */
export function checkNumbers(what: string, settings: object): void {
  for (const [name, given] of Object.entries(settings)) {
    if (given == null || (typeof given === "number" && given >= 0)) continue;
    throw refused(`the ${name} of ${what} is a number of zero or more; this is ${typeof given === "number" ? given : kindOf(given)}`);
  }
}

/** L1: half a surrogate pair is no text; the glue would make another character of it. @internal */
export function checkText(parts: { scope: string; key: string }): void {
  for (const [part, text] of [["scope", parts.scope], ["key", parts.key]] as const) {
    if (typeof text !== "string") throw new KeyledgerError("invalid_key", `the ${part} is text; this is ${kindOf(text)}`);
    if (!text.isWellFormed()) refuseText(part);
  }
}

/** Whose record it is. @internal */
export function checkId(id: unknown): void {
  if (typeof id !== "object" || id === null) throw refused(`a record is named by { scope, operation, key }; this is ${kindOf(id)}`);
}

/** How many rows, and which. @internal */
export function checkRange(range: { limit: number }): void {
  if (typeof range?.limit !== "number") throw refused("a scan says how many rows at most: { from, to, limit }");
  onlyKnown("a scan", range, { from: true, to: true, limit: true });
}
