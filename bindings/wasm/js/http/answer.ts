/** As the native half tells an answer: names and values of its fields by turns. */
export type NativeAnswer = [status: number, fields: string[], body: Uint8Array];
/** As it tells what is stored. */
export type NativeStored = [status: number, fields: string[], body: Uint8Array | null, length?: number, sha256?: Uint8Array];

const OWN = ["idempotent-replayed", "idempotency-key-expires"];

/** Names and values by turns. */
export function flat(headers: Iterable<[string, string]>): string[] {
  return [...headers].flat();
}

/** Pairs of names and values. */
export function fieldsOf(flat: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: flat.length >> 1 }, (_, at) => [flat[2 * at] as string, flat[2 * at + 1] as string]);
}

/** Whether a `Response` can have it; what another language has stored may have any. */
export const isStatus = (status: number): boolean => Number.isInteger(status) && status >= 200 && status < 600;

/** Whether the response ends with its head. */
export function hasNoBody(status: number, method: string): boolean {
  return method === "HEAD" || status < 200 || status === 204 || status === 205 || status === 304;
}

/** An answer of the adapter's own, or a replay. */
export function responseOf([status, fields, body]: NativeAnswer, method: string): Response {
  const headers = readable(fieldsOf(fields));
  if (hasNoBody(status, method)) return new Response(null, { status, headers });
  return new Response(body as Uint8Array<ArrayBuffer>, { status, headers: framed(headers, body.length) });
}

/** What no HTTP library would send was not stored either. */
export function readable(fields: readonly [name: string, value: string][]): Headers {
  const headers = new Headers();
  for (const [name, value] of fields) {
    try {
      headers.append(name, value);
    } catch {
      // It is left out.
    }
  }
  return headers;
}

/** A handler's response whose whole body is `body`, with what the adapter says. */
export function wholeOf(response: Response, body: Uint8Array, added: string[], method: string): Response {
  const { status, statusText } = response;
  const headers = headersOf(response, added);
  if (hasNoBody(status, method)) return new Response(null, { status, statusText, headers });
  return new Response(body as Uint8Array<ArrayBuffer>, { status, statusText, headers: framed(headers, body.length) });
}

/** A handler's response whose body goes on. */
export function flowingOf(response: Response, body: ReadableStream<Uint8Array>, added: string[]): Response {
  const { status, statusText } = response;
  return new Response(body, { status, statusText, headers: headersOf(response, added) });
}

function headersOf(response: Response, added: string[]): Headers {
  const headers = new Headers(response.headers);
  for (const name of OWN) headers.delete(name);
  for (const [name, value] of fieldsOf(added)) headers.append(name, value);
  return headers;
}

/** The length is recomputed. Where the platform is to compress the body, it alone knows it. */
function framed(headers: Headers, length: number): Headers {
  if (headers.has("content-encoding")) headers.delete("content-length");
  else headers.set("content-length", String(length));
  return headers;
}
