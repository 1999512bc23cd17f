import { type Names, kindOf, onlyKnown, refused } from "../door.js";
import { flat } from "../http/answer.js";
import { httpMediaType, httpRequest } from "../native/keyledger.js";
import { type Bytes, isBytes, toBytes } from "../response.js";
import { wordsOf } from "../thrown.js";

/** A request as its parts. */
export interface HttpRequestParts {
  method: string;
  /** Http or https; absolute, save in a page, whose own address it may leave out as for fetch. */
  url: string | URL;
  headers?: HeadersInit;
  body?: Bytes | null;
}

/** How the other side wants its keys, and what it takes for credentials. */
export interface HttpSettings {
  /** Absent: `Idempotency-Key`, quoted. */
  keyField?: { name?: string; isQuoted?: boolean };
  /** More fields that carry credentials, and so are refused in a request. */
  secret?: string[];
}

/** An HTTP request as the outbox stores it: without its key and without credentials, which are added at each send (O14). */
export class HttpRequest {
  readonly method: string;
  readonly url: string;
  /** What is stored. */
  readonly bytes: Uint8Array;

  private constructor(method: string, url: string, bytes: Uint8Array) {
    this.method = method;
    this.url = url;
    this.bytes = bytes;
  }

  /**
   * Of its parts.
   *
   * @throws `invalid_argument` for credentials, the key's own field and the connection's fields among the headers, and for an address
   * that is no absolute http or https URL: nothing is stored of what is refused.
   */
  static of(parts: HttpRequestParts, settings: HttpSettings = {}): HttpRequest {
    const { method, url, headers, body } = parts;
    const { keyField, secret = [] } = settings;
    onlyKnown("HttpRequest.of", settings, SETTINGS);
    onlyKnown("keyField", keyField, KEY_FIELD);
    if (typeof method !== "string") throw refused(NO_REQUEST);
    if (Object.getPrototypeOf(parts) === Object.prototype) onlyKnown("a request", parts, PARTS);
    const fields = flat(headersOf(headers));
    const address = absolute(String(url));
    const bytes = httpRequest(
      method,
      address,
      fields,
      bodyOf(body),
      keyField?.name,
      keyField?.isQuoted ?? true,
      secret,
    );
    return new HttpRequest(method, address, bytes);
  }

  /** Of a fetch `Request`, whose body is read for it. */
  static async from(request: Request, settings?: HttpSettings): Promise<HttpRequest> {
    const { method, url, headers } = request;
    return HttpRequest.of({ method, url, headers, body: new Uint8Array(await request.arrayBuffer()) }, settings);
  }
}

/** @internal */
export const KEY_FIELD: Names<NonNullable<HttpSettings["keyField"]>> = { name: true, isQuoted: true };

const SETTINGS: Names<HttpSettings> = { keyField: true, secret: true };
const PARTS: Names<HttpRequestParts> = { method: true, url: true, headers: true, body: true };
const NO_REQUEST = "a request is text, bytes, a fetch Request, an HttpRequest, or its parts: { method, url, headers, body }";

function bodyOf(body: Bytes | null | undefined): Uint8Array {
  if (body == null || typeof body === "string" || isBytes(body)) return toBytes(body ?? "");
  const advice = "send JSON.stringify(value) of a value; whatever else fetch takes, await enqueue(new Request(url, { method, body })) takes too";
  throw refused(`the body of a request is text or bytes; this is ${kindOf(body)}: ${advice}`);
}

/** As fetch reads an address: in a page and its workers by their own. */
function absolute(url: string): string {
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  try {
    return base === undefined || /^[a-z][a-z\d+.-]*:/i.test(url) ? url : new URL(url, base).href;
  } catch {
    return url;
  }
}

/** What the outbox sends: a request over HTTP, or bytes or text that a transport of the caller's own understands. */
export type Outgoing = HttpRequest | HttpRequestParts | Bytes;

/** @internal */
export function stored(request: Outgoing, mediaType?: string): [mediaType: string, bytes: Uint8Array] {
  if (typeof request === "string") return [mediaType ?? "text/plain", toBytes(request)];
  if (isBytes(request)) return [mediaType ?? "application/octet-stream", request];
  if (typeof request !== "object" || request === null) throw refused(NO_REQUEST);
  const made = request instanceof HttpRequest ? request : HttpRequest.of(request);
  return [httpMediaType(), made.bytes];
}

/** @internal */
export async function read(request: Request | Outgoing): Promise<Outgoing> {
  const isFetched = typeof request === "object" && request !== null && "arrayBuffer" in request && "method" in request;
  return isFetched ? HttpRequest.from(request) : request;
}

function headersOf(given: HeadersInit | undefined): Headers {
  try {
    return new Headers(given);
  } catch (error) {
    throw refused(`a header cannot be sent: ${wordsOf(error)}`);
  }
}
