// What anybody may throw: it need be no error, and may throw itself when it is looked at.

import { kindOf } from "./door.js";
import { type ErrorCode, KeyledgerError } from "./errors.js";

/** What `look` sees; undefined where that throws. */
export function seen<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** Whether it is one of that class. */
export function isA<T>(thrown: unknown, kind: new (...words: never[]) => T): thrown is T {
  return seen(() => thrown instanceof kind) ?? false;
}

/** The code, of an error of ours. */
export const codeOf = (thrown: unknown): ErrorCode | null => seen(() => (thrown instanceof KeyledgerError ? thrown.code : null)) ?? null;

/** The name of an error; of anything else, what it is. */
export function nameOf(thrown: unknown): string {
  const name: unknown = isA(thrown, Error) ? seen(() => thrown.name) : undefined;
  return typeof name === "string" ? name : typeof thrown;
}

/** The words of an error; of anything else, it as text, or what it is. */
export function wordsOf(thrown: unknown): string {
  const words: unknown = seen(() => (thrown instanceof Error ? thrown.message : String(thrown)));
  return typeof words === "string" ? words : kindOf(thrown);
}
