// Credentials are given by a function, and that stays where it is: who sends asks for them across the border, each time it sends.

import { fieldsOf, flat } from "../http/answer.js";
import { type FetchSettings, NotNow, type SentRequest, SignedOut } from "../outbox/fetch.js";
import { aborted, within } from "../waiting.js";
import type { PlainError, Said } from "./messages.js";
import { errorOf, plainError } from "./plain.js";

/** @internal */
export type Authorize = NonNullable<FetchSettings["authorize"]>;

/** Which credentials are wanted. Its name is not that of any other question, whoever leads. */
export interface Question {
  readonly name: string;
  readonly scope: string;
  readonly request: { readonly method: string; readonly url: string; readonly fields: readonly string[]; readonly body: Uint8Array };
}

/** Name, value, name, value; or why there are none. */
export type Given = { readonly fields: string[] } | { readonly failed: PlainError };

/** A page that says nothing for so long is frozen, or hangs. */
const PATIENCE_MS = 5_000;

/** Who was asked is silent, or gone. */
export class NotAnswered extends NotNow {}

/** What is asked of those who call, where the ledger lives. */
export class Questions {
  readonly #open = new Map<string, (given: Given) => void>();

  /** Asks who hears `say`, and throws what it throws; `NotAnswered` where it is silent. */
  async ask(say: (said: Said) => void, scope: string, request: SentRequest, life: AbortSignal): Promise<Headers> {
    const name = crypto.randomUUID();
    const end = within(PATIENCE_MS, life);
    const over = aborted(end.signal);
    const answer = new Promise<Given>((resolve) => this.#open.set(name, resolve));
    const { method, url, headers, body } = request;
    try {
      if (end.signal.aborted) throw end.signal.reason;
      say({ asks: { name, scope, request: { method, url, fields: flat(headers), body } } });
      return headersOf(await Promise.race([answer, over.promise]));
    } catch (error) {
      throw end.signal.aborted ? new NotAnswered("who gives them does not answer", { cause: error }) : error;
    } finally {
      this.#open.delete(name);
      over.stop();
      end.stop();
    }
  }

  /** An answer that comes too late is nobody's. */
  answer(name: string, given: Given): void {
    this.#open.get(name)?.(given);
  }
}

function headersOf(given: Given): Headers {
  if ("fields" in given) return new Headers(fieldsOf(given.fields));
  const { name, message } = given.failed;
  if (name === "SignedOut") throw new SignedOut(message);
  throw name === "NotNow" ? new NotNow(message) : errorOf(given.failed);
}

/** The answer to a question, where the function is. */
export async function given(authorize: Authorize, { scope, request: { fields, ...request } }: Question): Promise<Given> {
  try {
    const headers = new Headers(fieldsOf([...fields]));
    return { fields: flat(new Headers((await authorize(scope, { ...request, headers })) ?? undefined)) };
  } catch (error) {
    return { failed: plainError(error) };
  }
}
