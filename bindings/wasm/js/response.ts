import { checkPairs, kindOf, refused } from "./door.js";
import { KeyledgerError } from "./errors.js";
import { isA, wordsOf } from "./thrown.js";

const TO_TEXT = new TextDecoder();
const TO_TEXT_OR_NOT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const TO_BYTES = new TextEncoder();

/** Bytes, or text that stands for its UTF-8. */
export type Bytes = Uint8Array | string;

/** Whether it is bytes, whatever realm's: a test runner may have one of its own. @internal */
export function isBytes(given: unknown): given is Uint8Array {
  return ArrayBuffer.isView(given) && Object.prototype.toString.call(given) === "[object Uint8Array]";
}

/** The bytes. Throws `invalid_argument` for what is neither bytes nor text, which would be stored empty, and for half a surrogate pair. */
export function toBytes(given: Bytes): Uint8Array {
  if (typeof given === "string") checkPairs(given);
  return doneBytes(given);
}

/** The same of what came of something: it was done, and half a surrogate pair is U+FFFD to all who are told. @internal */
export function doneBytes(given: Bytes): Uint8Array {
  if (typeof given === "string") return TO_BYTES.encode(given);
  if (isBytes(given)) return given.length > 0 ? given : empty(given);
  throw refused(`${kindOf(given)} is neither text nor bytes; give a string or a Uint8Array`);
}

function empty(given: Uint8Array): Uint8Array {
  try {
    return new Uint8Array(given.buffer, 0, 0);
  } catch {
    throw refused("these bytes have been moved elsewhere, to another thread perhaps: give a copy of them");
  }
}

/** A value's JSON text; undefined: there is none. @internal */
export function jsonText(value: unknown, replacer?: (this: Readonly<Record<string, unknown>>, name: string, member: unknown) => unknown): string | undefined {
  try {
    return JSON.stringify(value, replacer);
  } catch (error) {
    throw isA(error, KeyledgerError) ? error : refused(`JSON cannot hold it: ${wordsOf(error)}`);
  }
}

/** What a handler may answer: a response, text (`text/plain`) or bytes (`application/octet-stream`). */
export type Answer = StoredResponse | Bytes;

/** As the native half tells a response. */
export type NativeResponse = [mediaType: string, body: Uint8Array | null, length?: number, sha256?: Uint8Array];

/** What a handler answered, as the ledger keeps it: byte for byte. */
export class StoredResponse {
  readonly mediaType: string;
  /** Null where it was over the limit: then there is `omitted`. */
  readonly body: Uint8Array | null;
  /** Length and SHA-256 of a body that was over the limit (S4). */
  readonly omitted: { readonly length: number; readonly sha256: Uint8Array } | null;

  constructor(mediaType: string, body: Bytes) {
    this.mediaType = mediaType;
    this.body = doneBytes(body);
    this.omitted = null;
  }

  /** Throws `invalid_argument` for what is none of them. */
  static of(answer: Answer): StoredResponse {
    if (answer instanceof StoredResponse) {
      if (answer.body !== null) return answer;
      throw refused("the body of this response was over the limit, and is not kept: it cannot be stored again");
    }
    if (typeof answer === "string") return StoredResponse.text(answer);
    if (isBytes(answer)) return StoredResponse.bytes(answer);
    const advice = "StoredResponse.json(value) makes one of a value, StoredResponse.empty() one of nothing";
    throw refused(`an answer is a StoredResponse, text or bytes; this is ${kindOf(answer)}: ${advice}`);
  }
  static text(text: string): StoredResponse {
    return new StoredResponse("text/plain; charset=utf-8", text);
  }
  static bytes(bytes: Uint8Array): StoredResponse {
    return new StoredResponse("application/octet-stream", bytes);
  }
  /** Throws `invalid_argument` for undefined, and whatever else JSON has no word for. */
  static json(value: unknown): StoredResponse {
    const text = jsonText(value);
    if (text !== undefined) return new StoredResponse("application/json", text);
    throw refused(`JSON has no word for ${kindOf(value)}; give null, or take StoredResponse.empty()`);
  }
  static empty(): StoredResponse {
    return new StoredResponse("application/octet-stream", new Uint8Array());
  }

  /** @internal */
  static ofNative([mediaType, body, length, sha256]: NativeResponse): StoredResponse {
    const response = Object.create(StoredResponse.prototype) as { -readonly [M in keyof StoredResponse]: StoredResponse[M] };
    response.mediaType = mediaType;
    response.body = body;
    response.omitted = body === null && length !== undefined && sha256 !== undefined ? { length, sha256 } : null;
    return response;
  }

  /** The body as text. Throws where it was omitted. */
  text(): string {
    if (this.body === null) throw new TypeError("the body was over the limit, and is not kept");
    return TO_TEXT.decode(this.body);
  }

  /** The body as JSON. */
  json<T = unknown>(): T {
    return JSON.parse(this.text()) as T;
  }

  /** For logs: the body is `text` where it is UTF-8, else `base64`. */
  toJSON(): { mediaType: string; text?: string; base64?: string; omitted?: { length: number } } {
    const { mediaType, body, omitted } = this;
    if (body === null) return { mediaType, omitted: { length: omitted?.length ?? 0 } };
    try {
      return { mediaType, text: TO_TEXT_OR_NOT.decode(body) };
    } catch {
      return { mediaType, base64: btoa(Array.from(body, (byte) => String.fromCharCode(byte)).join("")) };
    }
  }
}
