import type { Awaitable } from "../any.js";
import { type Names, checkFunction, kindOf, onlyKnown, refused } from "../door.js";
import { fieldsOf, flat } from "../http/answer.js";
import { joined } from "../joined.js";
import {
  NativeFingerprint,
  NativeOutcome,
  answerBytesMax,
  httpAnswered,
  httpRedirect,
  httpSilent,
  httpToSend,
  httpUnsendable,
} from "../native/keyledger.js";
import { type Bytes, toBytes } from "../response.js";
import { isA, nameOf } from "../thrown.js";
import { within } from "../waiting.js";
import { type Delivery, DeliveryOutcome, outcomeOf } from "./delivery.js";
import type { AnyTransport, Transport } from "./driver.js";
import { HttpRequest, type HttpRequestParts, type HttpSettings, KEY_FIELD } from "./http.js";
import { canTellOnline } from "./network.js";

/** What is sent of an entry, without its credentials. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** An answer as it came. */
export interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** Whether the body is all there, or was longer than what is kept. */
  readonly isWhole: boolean;
}

/** How a `FetchTransport` sends, as far as that is data: what can go to another thread. */
export interface PlainFetchSettings extends HttpSettings {
  /** How long a send may take; never longer than the lease. Absent: 20 s. */
  timeoutMs?: number;
  /** Of a longer body nothing is kept. Absent: 960 KiB. */
  answerBytesMax?: number;
  /**
   * Whether a browser sends its cookies along: those of whoever is signed in at that moment, whose requests these must be. Nothing tells
   * when somebody else signs in: stop the driver of the one, and after a 401 call `outbox.resume(scope)`. Absent: `omit`.
   */
  credentials?: RequestCredentials;
}

/** How a `FetchTransport` sends. */
export interface FetchSettings extends PlainFetchSettings {
  /**
   * Gives credentials at each send, which are never stored (O14). Throws `SignedOut` where nobody is signed in, `NotNow` where they cannot
   * be had at the moment. After a 401 it is asked every few seconds, and sending goes on when it gives others.
   */
  authorize?: (scope: string, request: SentRequest) => Awaitable<HeadersInit | null | undefined>;
  /** Tells credentials from others: who signs each request with its time names the key it signs with. Absent: all of them. */
  identity?: (credentials: Headers) => Bytes;
  /** What is told of an answer, `usual` or another. If it throws, the same key is sent again later. */
  classify?: (answer: ReceivedAnswer, usual: DeliveryOutcome) => DeliveryOutcome;
  /** Absent: the platform's. */
  fetch?: (request: Request) => Promise<Response>;
  /** Ends what is being sent: nobody knows then whether it has arrived, and it is sent again later. */
  signal?: AbortSignal;
}

/** @internal */
export const FETCH_SETTINGS: Names<FetchSettings> = {
  authorize: true,
  identity: true,
  classify: true,
  credentials: true,
  keyField: true,
  secret: true,
  timeoutMs: true,
  answerBytesMax: true,
  fetch: true,
  signal: true,
};

/** Thrown by `authorize`: nobody is signed in. The lane is held until somebody is, or until it is resumed. */
export class SignedOut extends Error {
  override readonly name = "SignedOut";
}
/** Thrown by `authorize`: credentials cannot be had at the moment. The send is tried again later. */
export class NotNow extends Error {
  override readonly name = "NotNow";
}

/**
 * Sends over `fetch`, each request with its one `Idempotency-Key`, and says what the answers mean by the rules of the contract (C1 to C4,
 * O8, O9): a 2xx is a yes, 408, 429, 5xx and silence are tried again with the same key, 401 holds the lane, other 4xx are a no.
 *
 * ```ts
 * const transport = new FetchTransport({ authorize: () => ({ authorization: `Bearer ${token}` }) });
 * await using driver = outbox.driver("user-7", transport).start();
 * ```
 */
export class FetchTransport implements Transport {
  readonly #settings: FetchSettings;
  /** Which credentials were refused last, by scope: as a hash, in memory alone. */
  readonly #refused = new Map<string, { request: SentRequest; hash: string | null }>();

  constructor(settings: FetchSettings = {}) {
    onlyKnown("FetchTransport", settings, FETCH_SETTINGS);
    onlyKnown("keyField", settings.keyField, KEY_FIELD);
    this.#settings = settings;
  }
  /** @internal */
  get settings(): FetchSettings {
    return this.#settings;
  }

  /** A request for `enqueue`, checked by this transport's `keyField` and `secret`. */
  request(parts: HttpRequestParts): HttpRequest {
    const { keyField, secret } = this.#settings;
    return HttpRequest.of(parts, { keyField, secret });
  }

  async send(delivery: Delivery): Promise<DeliveryOutcome> {
    const { mediaType, request, key, scope } = delivery;
    const { name, isQuoted = true } = this.#settings.keyField ?? {};
    const made = httpToSend(mediaType, request, key, name, isQuoted) as NativeOutcome | ToSend;
    if (made instanceof NativeOutcome) return new DeliveryOutcome(made);
    const shown = shownRequest(made);
    let credentials: string[];
    try {
      credentials = await this.#ask(scope, shown);
    } catch (error) {
      return this.#withoutCredentials(scope, shown, error);
    }
    const answer = await this.#followed({ ...made, fields: [...made.fields, ...credentials] }, delivery);
    if (answer instanceof DeliveryOutcome) return answer;
    const outcome = this.#meaning(answer);
    if (outcome.kind === "hold_lane") this.#refused.set(scope, { request: shown, hash: this.#hash(credentials) });
    else if (outcome.kind === "yes" || outcome.kind === "no") this.#refused.delete(scope);
    return outcome;
  }

  /** Whether `authorize` now gives others than were refused. Yes if nothing is remembered: a send will tell. */
  async hasOtherCredentials(scope: string): Promise<boolean> {
    const refused = this.#refused.get(scope);
    if (!refused) return true;
    try {
      return this.#hash(await this.#ask(scope, refused.request)) !== refused.hash;
    } catch (error) {
      if (isA(error, SignedOut) || isA(error, NotNow)) return false;
      throw error;
    }
  }

  async #ask(scope: string, request: SentRequest): Promise<string[]> {
    const given = await this.#settings.authorize?.(scope, request);
    const lines = flat(new Headers(given ?? undefined));
    const refused = httpUnsendable(lines, this.#settings.keyField?.name);
    if (refused !== undefined) throw new NotNow(`authorize gives the field ${refused}, which cannot be sent`);
    return lines;
  }

  #withoutCredentials(scope: string, request: SentRequest, error: unknown): DeliveryOutcome {
    if (isA(error, SignedOut)) {
      this.#refused.set(scope, { request, hash: null });
      return DeliveryOutcome.holdLane("there are no credentials for this scope; sign in");
    }
    if (isA(error, NotNow)) {
      return DeliveryOutcome.retry(`credentials cannot be had now: ${error.message}`).notTaken();
    }
    // Its words may hold what must not be in the file (O14).
    console.error("keyledger: authorize threw", error);
    return DeliveryOutcome.retry(`authorize threw ${nameOf(error)}`).notTaken();
  }

  #hash(credentials: string[]): string {
    const { identity } = this.#settings;
    const parts = identity ? [toBytes(identity(new Headers(fieldsOf(credentials))))] : credentials.map(toBytes);
    return NativeFingerprint.ofBytes(parts).hex as string;
  }

  /** The answer, after the redirects that keep method and origin (C2); or what is told where there is none. */
  async #followed(send: ToSend, delivery: Delivery): Promise<ReceivedAnswer | DeliveryOutcome> {
    const { signal, timeoutMs = 20_000 } = this.#settings;
    const ms = Math.min(timeoutMs, delivery.leaseLeftMs);
    if (ms <= 0) return new DeliveryOutcome(httpSilent("the lease was over before it was sent", false));
    if (signal?.aborted) return new DeliveryOutcome(httpSilent("the transport was ended before it was sent", false));
    const end = within(ms, [signal, delivery.signal], "no answer came in time");
    try {
      for (let hops = 0; ; hops++) {
        const answer = await this.#answered(send, end.signal, hops > 0);
        if (answer instanceof DeliveryOutcome) return answer;
        const location = answer.headers.get("location") ?? undefined;
        const onward = httpRedirect(send.method, send.url, answer.status, location, hops);
        if (onward === undefined) return answer;
        send = { ...send, url: onward };
      }
    } finally {
      end.stop();
    }
  }

  async #answered(send: ToSend, signal: AbortSignal, hasLeft: boolean): Promise<ReceivedAnswer | DeliveryOutcome> {
    let request: Request;
    try {
      request = fetched(send, signal, this.#settings.credentials);
    } catch (error) {
      const why = `this platform cannot send it: ${(error as Error).message}`;
      return hasLeft ? DeliveryOutcome.retry(why) : DeliveryOutcome.dead(why);
    }
    try {
      const response = await (this.#settings.fetch ?? fetch)(request);
      if (response.type === "opaqueredirect") {
        return DeliveryOutcome.no("the server answered with a redirect, and this platform does not tell where to");
      }
      return await this.#read(response);
    } catch (error) {
      return new DeliveryOutcome(httpSilent(wordsOf(error), hasLeft || mayHaveLeft(error)));
    }
  }

  get #bytesMax(): number {
    return this.#settings.answerBytesMax ?? answerBytesMax();
  }

  async #read(response: Response): Promise<ReceivedAnswer> {
    const { status, body: stream } = response;
    const headers = new Headers(response.headers);
    // The body is told as fetch has unpacked it.
    for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
    const [chunks, bytesMax] = [[] as Uint8Array[], this.#bytesMax];
    let [length, isWhole] = [0, true];
    const reader = stream?.getReader();
    while (reader && isWhole) {
      const { value, done } = await reader.read();
      if (done) break;
      chunks.push(value);
      length += value.length;
      isWhole = length <= bytesMax;
    }
    // Nobody waits for it: the connection may be slow to close.
    if (!isWhole) void reader?.cancel().catch(() => undefined);
    return { status, headers, body: joined(chunks, length).subarray(0, bytesMax), isWhole };
  }

  #meaning(answer: ReceivedAnswer): DeliveryOutcome {
    const { status, headers, body, isWhole } = answer;
    const usual = new DeliveryOutcome(httpAnswered(status, flat(headers), body, isWhole, Date.now(), this.#bytesMax));
    try {
      const told = this.#settings.classify?.(answer, usual);
      return told === undefined ? usual : outcomeOf(told);
    } catch (error) {
      console.error("keyledger: classify threw", error);
      return DeliveryOutcome.retry(`the classifier threw ${nameOf(error)} on ${status}`);
    }
  }
}

interface ToSend {
  readonly method: string;
  readonly url: string;
  readonly fields: string[];
  readonly body: Uint8Array<ArrayBuffer>;
}

const shownRequest = ({ method, url, fields, body }: ToSend): SentRequest => ({ method, url, headers: new Headers(fieldsOf(fields)), body });

function fetched({ method, url, fields, body }: ToSend, signal: AbortSignal, credentials: RequestCredentials = "omit"): Request {
  const headers = new Headers(fieldsOf(fields));
  // Unasked, a browser's cookies would be credentials of whoever is signed in now, sent with the requests of other scopes.
  const here: RequestInit = canTellOnline() ? { credentials, cache: "no-store" } : {};
  return new Request(url, { method, headers, body: body.length ? body : null, redirect: "manual", signal, ...here });
}

interface FetchError {
  name?: string;
  message?: string;
  code?: string;
  syscall?: string;
  cause?: FetchError;
  errors?: FetchError[];
}

/** The innermost says what it was; it says nothing of the request but its host. */
function wordsOf(error: unknown): string {
  const { name = "Error", message = "", cause } = (error ?? {}) as FetchError;
  return cause ? wordsOf(cause) : `${name}: ${message}`;
}

/** What Node's fetch says before it looks for anybody at a port that the Fetch standard blocks. */
const BLOCKED = "bad port";

/** Whether a byte of the request may have left. Only where a platform says that it had no connection is it certain that none has. */
function mayHaveLeft(error: unknown): boolean {
  const { cause, errors, code, syscall, message = "" } = (error ?? {}) as FetchError;
  if (errors?.length) return errors.some(mayHaveLeft);
  // Node: connecting and looking up names have system calls of their own, and some ports are blocked. Bun and Deno say it in their own words.
  const isBefore =
    syscall === "connect" ||
    syscall === "getaddrinfo" ||
    code === "UND_ERR_CONNECT_TIMEOUT" ||
    message === BLOCKED ||
    code === "ConnectionRefused" ||
    message.includes("client error (Connect)");
  return !isBefore && (cause === undefined || mayHaveLeft(cause));
}

/** What sends: a transport, its `send` alone, or how a `FetchTransport` sends. @internal */
export function transportOf(given: AnyTransport | FetchSettings): Transport {
  if (typeof given === "function") return { send: given };
  if (typeof given !== "object" || given === null) throw refused(`what sends is a transport, a function or the settings of a FetchTransport; this is ${kindOf(given)}`);
  if (!("send" in given)) return new FetchTransport(given);
  checkFunction("the send of a transport", given.send);
  return given;
}
