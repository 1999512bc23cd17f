import { KeyledgerError, type ErrorCode } from "../errors.js";
import { type Effect, Operation, type OperationSettings } from "../operation.js";
import type { EntryView } from "../outbox/view.js";
import { type Answer, StoredResponse } from "../response.js";
import { codeOf, isA, nameOf, seen, wordsOf } from "../thrown.js";
import type { PlainError, PlainOperation, PlainResponse } from "./messages.js";

export const plainOperation = ({ name, effect, settings }: Operation): PlainOperation => ({ name, effect, settings });

export const operationOf = ({ name, effect, settings }: PlainOperation): Operation =>
  new Operation(name, effect as Effect, settings as OperationSettings);

export function plainResponse(answer: Answer): PlainResponse {
  const { mediaType, body, omitted } = StoredResponse.of(answer);
  return { mediaType, body, omitted };
}

export function responseOf({ mediaType, body, omitted }: PlainResponse): StoredResponse {
  return StoredResponse.ofNative([mediaType, body, omitted?.length, omitted?.sha256]);
}

/** An entry whose response has its methods again. */
export const entryOf = (plain: EntryView): EntryView => ({ ...plain, response: plain.response && responseOf(plain.response) });

/** Of whatever was thrown. It does not throw. */
export function plainError(error: unknown): PlainError {
  const entry = seen(() => (error instanceof KeyledgerError ? error.entry : undefined));
  return { code: codeOf(error), name: isA(error, Error) ? nameOf(error) : "Error", message: wordsOf(error), entry };
}

export function errorOf({ code, name, message, entry }: PlainError): Error {
  if (code !== null) return new KeyledgerError(code as ErrorCode, message, entry && entryOf(entry));
  const error = name === "TypeError" ? new TypeError(message) : new Error(message);
  return name === error.name ? error : Object.assign(error, { name });
}
