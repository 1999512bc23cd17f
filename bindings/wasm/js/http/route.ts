import { type Names, checkWords, kindOf, onlyKnown, refused } from "../door.js";
import { NativeRoute, readStored, toStored } from "../native/keyledger.js";
import type { Effect, Members, Operation } from "../operation.js";
import { type Bytes, type NativeResponse, StoredResponse, doneBytes } from "../response.js";
import { atOnce } from "../telling.js";
import { type NativeAnswer, type NativeStored, fieldsOf, flat, isStatus } from "./answer.js";

const NOTHING = new Uint8Array();

/** An HTTP response as a value. */
export interface HttpAnswer {
  status: number;
  /** Names and values, in order; several lines of one name stay several. */
  headers?: Iterable<[name: string, value: string]>;
  body?: Bytes | null;
}

/** What is stored of an HTTP response; `body` is null where it was not kept. */
export interface HttpStored extends HttpAnswer {
  readonly headers: [name: string, value: string][];
  readonly body: Uint8Array | null;
  /** Length and SHA-256 of a body that was not kept, where they are known. */
  readonly omitted: { readonly length: number; readonly sha256: Uint8Array } | null;
}

/** The cases in which a request is answered without its handler. */
export type Case =
  | "missing"
  | "malformed"
  | "in-progress"
  | "mismatch"
  | "parked"
  | "gone"
  | "no-principal"
  | "not-available"
  | "too-large"
  | "unreadable"
  | "body-consumed"
  | "handler-failed"
  | "unsendable";

/** What becomes of a claim because of its handler's response. */
export type Keep = "complete" | "fail" | "release" | "park";

/** What a route that takes idempotency keys says of itself, besides its operation. */
export interface RouteSettings extends Members {
  /** Whether a request without a key is refused, or passes without a record and without a claim (H3). */
  key: "required" | "optional";
  /** How long a claim lasts without a heartbeat: how long a key stays in progress once the process was killed. */
  leaseMs?: number;
  /** How long an answer is replayed. */
  retentionMs?: number;
  /** How long a late retry is refused after that. */
  tombstoneMs?: number;
  /** How long a duplicate waits for the first to end. Absent: not at all. */
  waitMs?: number;
  /** The methods that take keys, instead of POST and PATCH. */
  methods?: string[];
  /** Methods that HTTP does not know, in addition. */
  otherMethods?: string[];
  /** Other statuses, by case: `{ mismatch: 400 }`. */
  statuses?: Partial<Record<Case, number>>;
  /** Where the answer to a missing key links to. */
  documentation?: string;
  /** Names of fields that are not stored, besides those that never are. */
  notKept?: string[];
  /** Which outcomes are kept (H6); null for the default. */
  keep?: (status: number, effect: Effect) => Keep | null | undefined;
  /** Changes what is stored, not what is answered first. If it throws, or returns nothing, fields and body are left out. */
  redact?: (stored: HttpStored) => HttpAnswer | null | undefined;
  /** Bodies of responses are kept up to this length. */
  maxBodyBytes?: number;
  /** Bodies of requests with a key are read up to this length; longer ones are refused with 413. Absent: 16 MiB. */
  maxRequestBytes?: number;
  /** The response flows as it comes, and is settled at its end; the route is AtMostOnce (H8). */
  stream?: boolean;
}

const SETTINGS: Names<RouteSettings & { operation: unknown; effect: unknown }> = {
  key: true,
  operation: true,
  effect: true,
  leaseMs: true,
  retentionMs: true,
  tombstoneMs: true,
  waitMs: true,
  methods: true,
  otherMethods: true,
  leaveOut: true,
  only: true,
  statuses: true,
  documentation: true,
  notKept: true,
  keep: true,
  redact: true,
  maxBodyBytes: true,
  maxRequestBytes: true,
  stream: true,
};

/** How a route's operation is named: declared, with one name on whatever path, or by method and path. */
export type RouteOperation = { operation: Operation; effect?: undefined } | { effect: Effect; operation?: undefined };

/** The response to give to `complete`, `completeWith` or `fail`, to be replayed with this status and these headers. */
export function storedHttp(answer: HttpAnswer, limits: { maxResponseBytes?: number } = {}): StoredResponse {
  onlyKnown("storedHttp", limits, { maxResponseBytes: true });
  const { status, headers = [], body } = checked(answer);
  const told = toStored(status, flat(headers), doneBytes(body ?? NOTHING), limits.maxResponseBytes);
  return StoredResponse.ofNative(told as NativeResponse);
}

/** A stored response as HTTP. What is no HTTP message is the body of a 200, or of a 400 where `failed` says that it was a final no. */
export function httpOfStored(response: StoredResponse, options: { failed?: boolean } = {}): HttpStored {
  onlyKnown("httpOfStored", options, { failed: true });
  if (typeof response !== "object" || response === null) throw refused(`what was stored is a StoredResponse; this is ${kindOf(response)}`);
  const { failed = false } = options;
  if (response.body !== null) return shown(readStored(response.mediaType, response.body, failed) as NativeStored);
  const headers: [string, string][] = [["Content-Type", response.mediaType]];
  return { status: failed ? 400 : 200, headers, body: null, omitted: response.omitted };
}

function shown([status, fields, body, length, sha256]: NativeStored): HttpStored {
  const omitted = length !== undefined && sha256 !== undefined ? { length, sha256 } : null;
  return { status, headers: fieldsOf(fields), body, omitted };
}

/** @internal */
export function routeOf(given: RouteSettings & RouteOperation, tell: (error: unknown) => void): NativeRoute {
  onlyKnown("a route", given, SETTINGS);
  const { key, operation, effect, keep, redact, ...rest } = given;
  if (rest.stream !== undefined && typeof rest.stream !== "boolean") throw refused(`stream is true or false; this is ${kindOf(rest.stream)}`);
  if (key !== "required" && key !== "optional") throw refused(`key is "required" or "optional"; this is ${typeof key === "string" ? key : kindOf(key)}`);
  const hooks = {
    keep: typeof keep === "function" ? watched((...given: Parameters<typeof keep>) => atOnce(keep(...given), "keep"), tell) : keep,
    redact: typeof redact === "function" ? watched(redacting(redact), tell) : redact,
  };
  const settings = Object.entries({ ...rest, ...hooks }).filter(([, value]) => value != null);
  checkWords(settings);
  const isRequired = key === "required";
  return operation
    ? NativeRoute.ofOperation(isRequired, operation.native, settings.flat())
    : NativeRoute.ofEffect(isRequired, String(effect), settings.flat());
}

/** The rules count a hook that throws as none; whoever wrote it wants to know. */
function watched<A extends unknown[], T>(hook: (...given: A) => T, tell: (error: unknown) => void): (...given: A) => T {
  return (...given) => {
    try {
      return hook(...given);
    } catch (error) {
      tell(error);
      throw error;
    }
  };
}

/** With what a redaction was shown. */
const ANSWER: Names<HttpStored> = { status: true, headers: true, body: true, omitted: true };

/** One that no `Response` can be made of would be stored, and never told again. */
function checked(answer: HttpAnswer): HttpAnswer {
  if (typeof answer !== "object" || answer === null) throw refused(`an answer is { status, headers, body }; this is ${kindOf(answer)}`);
  if (Object.getPrototypeOf(answer) === Object.prototype) onlyKnown("an answer", answer, ANSWER);
  if (isStatus(answer.status)) return answer;
  throw refused(`the status of an answer is a number from 200 to 599, and not ${typeof answer.status === "number" ? answer.status : kindOf(answer.status)}`);
}

function redacting(redact: NonNullable<RouteSettings["redact"]>): (stored: NativeStored) => NativeAnswer | null {
  return (stored) => {
    const told = atOnce(redact(shown(stored)), "redact");
    if (told == null) return null;
    const { status, headers = [], body } = checked(told);
    return [status, flat(headers), (body == null ? null : doneBytes(body)) as Uint8Array];
  };
}
