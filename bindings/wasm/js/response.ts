const TO_TEXT = new TextDecoder();
const TO_BYTES = new TextEncoder();

/** Bytes, or text that stands for its UTF-8. */
export type Bytes = Uint8Array | string;

/** The bytes. */
export function toBytes(given: Bytes): Uint8Array {
  return typeof given === "string" ? TO_BYTES.encode(given) : given;
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
    this.body = toBytes(body);
    this.omitted = null;
  }

  static of(answer: Answer): StoredResponse {
    if (answer instanceof StoredResponse) return answer;
    return typeof answer === "string" ? StoredResponse.text(answer) : StoredResponse.bytes(answer);
  }
  static text(text: string): StoredResponse {
    return new StoredResponse("text/plain; charset=utf-8", text);
  }
  static bytes(bytes: Uint8Array): StoredResponse {
    return new StoredResponse("application/octet-stream", bytes);
  }
  static json(value: unknown): StoredResponse {
    return new StoredResponse("application/json", JSON.stringify(value));
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
  json(): unknown {
    return JSON.parse(this.text());
  }
}
