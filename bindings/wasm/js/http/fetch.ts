import type { Awaitable } from "../any.js";
import { Claim } from "../claim.js";
import { checkFunction, checkText, kindOf, refused } from "../door.js";
import { joined } from "../joined.js";
import { LedgerHandle } from "../ledger.js";
import type { NativeAsked, NativeClaim, NativeRoute } from "../native/keyledger.js";
import { isBytes } from "../response.js";
import { telling } from "../telling.js";
import { aborted } from "../waiting.js";
import { type NativeAnswer, responseOf } from "./answer.js";
import { Exchange } from "./exchange.js";
import { type RouteOperation, type RouteSettings, routeOf } from "./route.js";

export { type Case, type HttpAnswer, type HttpStored, type Keep, type RouteSettings, httpOfStored, storedHttp } from "./route.js";

/** What answers a request. Its claim is undefined where no key protects the request: another method, or an optional key that is missing. */
export type ClaimedHandler<Rest extends unknown[]> = (
  request: Request,
  claim: Claim | undefined,
  ...rest: Rest
) => Awaitable<Response>;

/** What a fetch handler is wrapped with. */
export type IdempotentOptions<Rest extends unknown[] = unknown[]> = RouteSettings &
  RouteOperation & {
    /** The ledger, which is one of this thread, or what opens it for a request. */
    ledger: LedgerHandle | ((request: Request, ...rest: Rest) => Awaitable<LedgerHandle>);
    /**
     * Whose key it is, by a credential that has been verified before (H13): there is no default. Nothing, or an error, is a 401, and
     * touches no record; so is what is no text, which `onError` is told.
     */
    scope: (request: Request, ...rest: Rest) => Awaitable<string | null | undefined>;
    /** Is told what no client is: why the ledger does not answer, what a handler, a scope function or a hook has thrown. */
    onError?: (error: unknown) => void;
  };

/** A fetch handler that runs once for each key. */
export interface IdempotentHandler<Rest extends unknown[]> {
  (request: Request, ...rest: Rest): Promise<Response>;
  /** Is fulfilled when no request is under way any more, and what their handlers came to is stored: to be awaited before the ledger is closed. */
  idle(): Promise<void>;
}

/** Which claims the layers around have, by the request that they gave to their handler. */
const HELD = new WeakMap<Request, { native: NativeAsked; scope: string; key: string; claim: Claim }[]>();

/**
 * Wraps a fetch handler: a request with an idempotency key runs it once, and every retry is told that answer. To stand behind whatever
 * checks credentials.
 *
 * The handler runs to its end, and its outcome is stored, whether or not the client is still there; its request has no signal for that
 * reason. Where one of the further arguments has a `waitUntil`, as in Workers, it is told what to wait for.
 */
export function idempotent<Rest extends unknown[]>(
  handler: ClaimedHandler<Rest>,
  options: IdempotentOptions<Rest>,
): IdempotentHandler<Rest> {
  const guard = new Guard(handler, options);
  const wrapped = (request: Request, ...rest: Rest) => guard.until(guard.answer(request, rest));
  return Object.assign(wrapped, { idle: () => guard.idle() });
}

class Guard<Rest extends unknown[]> {
  readonly #handler: ClaimedHandler<Rest>;
  readonly #options: IdempotentOptions<Rest>;
  readonly #tell: (error: unknown) => void;
  readonly #running = new Set<Promise<unknown>>();
  #made: NativeRoute | undefined;

  constructor(handler: ClaimedHandler<Rest>, options: IdempotentOptions<Rest>) {
    const made: Partial<IdempotentOptions<Rest>> = options ?? {};
    if (typeof handler !== "function") throw refused(`what answers a request is a function; this is ${kindOf(handler)}`);
    if (typeof made.scope !== "function") throw refused(`scope is a function that says whose key it is; this is ${kindOf(made.scope)}`);
    if (typeof made.ledger !== "function") mustBeHere(made.ledger);
    this.#handler = handler;
    this.#options = options;
    if (options.onError !== undefined) checkFunction("onError", options.onError);
    this.#tell = telling(options.onError ?? ((error) => console.error("keyledger:", error)));
    // With an open ledger the module is there, and a slip in the settings is told at once.
    if (options.ledger instanceof LedgerHandle) void this.#route;
  }

  get #route(): NativeRoute {
    const { ledger: _ledger, scope: _scope, onError: _onError, ...route } = this.#options;
    return (this.#made ??= routeOf(route as RouteSettings & RouteOperation, this.#tell));
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** It is under way, for `idle`, until it is settled. */
  until<T>(promise: Promise<T>): Promise<T> {
    const settled = promise.then(
      () => undefined,
      () => undefined,
    );
    this.#running.add(settled);
    void settled.then(() => this.#running.delete(settled));
    return promise;
  }

  async answer(request: Request, rest: Rest): Promise<Response> {
    const { ledger } = this.#options;
    const book = ledger instanceof LedgerHandle ? ledger : await this.#opened(ledger, request, rest);
    const route = this.#route;
    const key = route.receive(request.method, request.headers.get("idempotency-key") ?? undefined) as string | NativeAnswer | null;
    if (key === null) return this.#handler(request, undefined, ...rest);
    if (typeof key !== "string") return responseOf(key, request.method);
    const scope = await this.#scopeOf(request, rest);
    if (scope === null) return this.#refused("no-principal", request);
    const body = await read(request, route.maxRequestBytes, this.#tell);
    if (body === "gone") return left();
    if (typeof body === "string") return this.#refused(body, request);
    if (book === null) return this.#refused("not-available", request);
    return this.#keyed({ request, rest, book, scope, key, body });
  }

  async #opened(
    open: (request: Request, ...rest: Rest) => Awaitable<LedgerHandle>,
    request: Request,
    rest: Rest,
  ): Promise<LedgerHandle | null> {
    try {
      return mustBeHere(await open(request, ...rest));
    } catch (error) {
      this.#tell(error);
      return null;
    }
  }

  async #scopeOf(request: Request, rest: Rest): Promise<string | null> {
    try {
      const scope = await this.#options.scope(request, ...rest);
      if (typeof scope === "string") return scope;
      if (scope != null) this.#tell(refused(`scope has given ${kindOf(scope)}; whose key it is, is text: String(user.id)`));
      return null;
    } catch (error) {
      this.#tell(error);
      return null;
    }
  }

  #refused(name: string, request: Request): Response {
    return responseOf(this.#route.refusal(name) as NativeAnswer, request.method);
  }

  async #keyed(asked: Asked<Rest>): Promise<Response> {
    const { request, rest, scope, key, body } = asked;
    let native: NativeAsked;
    try {
      native = this.#ask(asked);
    } catch (error) {
      // A scope that L1 refuses is nobody's.
      this.#tell(error);
      return this.#refused("no-principal", request);
    }
    // Made before anything is granted: what is thrown here has run nothing.
    const handed = again(request, body);
    const held = HELD.get(request) ?? [];
    const around = held.find((one) => one.scope === scope && one.key === key && one.native.operation === native.operation);
    if (around) return this.#handler(handed, around.claim, ...rest);
    const ruling = await this.#ruled(native, request);
    if (ruling === undefined) return left();
    if (ruling.error) this.#tell(ruling.error);
    if (ruling.answer) return responseOf(ruling.answer, request.method);
    const claim = new Claim(ruling.claim as NativeClaim);
    HELD.set(handed, [...held, { native, scope, key, claim }]);
    const told = { tell: this.#tell, lasts: (promise: Promise<void>) => this.#lasts(promise, rest) };
    const exchange = new Exchange(this.#route, native, claim, request.method, told);
    // From the grant to the handler nothing waits: a request that is aborted before has run nothing.
    const answer = exchange.run((claim) => this.#handler(handed, claim, ...rest));
    this.#lasts(exchange.isOver, rest);
    return answer;
  }

  #ask({ request, book, scope, key, body }: Asked<Rest>): NativeAsked {
    const { method, url, headers } = request;
    checkText({ scope, key });
    const [path, query] = targetOf(url);
    return this.#route.begin(book.native, scope, key, method, path, query, headers.get("content-type") ?? undefined, body);
  }

  /** What the ledger says; undefined where the client has gone before, or while it waited: then nothing is granted (P4). */
  async #ruled(native: NativeAsked, request: Request): Promise<Ruling | undefined> {
    if (request.signal.aborted) return undefined;
    const until = this.#route.waitMs === 0 ? undefined : aborted(request.signal);
    try {
      return (await native.rule(until?.promise)) as Ruling;
    } catch (error) {
      if (until && request.signal.aborted) return undefined;
      return { error, answer: this.#route.refusal("not-available") as NativeAnswer };
    } finally {
      until?.stop();
    }
  }

  /** What is under way for `idle`, and for the platform. */
  #lasts(promise: Promise<void>, rest: Rest): void {
    const running = this.until(promise);
    for (const given of rest as { waitUntil?: (promise: Promise<unknown>) => void }[]) {
      try {
        if (typeof given?.waitUntil === "function") given.waitUntil(running);
      } catch (error) {
        this.#tell(error);
      }
    }
  }
}

/** What is no open ledger of this thread would be a 503 to every client. */
function mustBeHere(ledger: unknown): LedgerHandle {
  if (ledger instanceof LedgerHandle) return ledger;
  const why = "idempotent asks an open ledger of this thread, or a function that opens one";
  if (ledger instanceof Promise) throw refused(`${why}; this is a promise: await it`);
  const isElsewhere = typeof ledger === "object" && ledger !== null && "durability" in ledger;
  const found = isElsewhere ? "this one lives in another thread (keyledger/worker), or is of another copy of keyledger" : `this is ${kindOf(ledger)}`;
  throw refused(`${why}; ${found}`);
}

/** A request with a key. */
interface Asked<Rest> {
  request: Request;
  rest: Rest;
  book: LedgerHandle;
  scope: string;
  key: string;
  body: Uint8Array;
}

interface Ruling {
  claim?: NativeClaim;
  answer?: NativeAnswer;
  retryAfterMs?: number | null;
  error?: unknown;
}

type Tell = (error: unknown) => void;

/** For a client that has gone. */
const left = () => new Response(null, { status: 499 });

/** The body, byte for byte; or the case in which it cannot be had. `gone`: nor is the client there any more. */
async function read(
  request: Request,
  limit: number,
  tell: Tell,
): Promise<Uint8Array | "too-large" | "unreadable" | "body-consumed" | "gone"> {
  const announced = request.headers.get("content-length");
  if (announced !== null && /^\d+$/.test(announced) && Number(announced) > limit) return "too-large";
  if (request.bodyUsed || request.body?.locked) return "body-consumed";
  const body = await readAll(request, limit, tell);
  if (typeof body === "string") return body;
  const isGone = body.length === 0 && request.headers.has("transfer-encoding") && request.body === null;
  const isOther = announced !== null && /^\d+$/.test(announced) && Number(announced) !== body.length;
  return isGone || isOther ? "body-consumed" : body;
}

async function readAll(
  { body: stream, signal }: { readonly body: ReadableStream<unknown> | null; readonly signal: AbortSignal },
  limit: number,
  tell: Tell,
): Promise<Uint8Array | "too-large" | "unreadable" | "gone"> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  if (stream === null) return joined(pieces, length);
  const reader = stream.getReader();
  const without = <C>(why: C) => (reader.cancel().catch(() => undefined), why);
  const until = aborted(signal);
  try {
    if (signal.aborted) return without("gone" as const);
    for (let read; !(read = await Promise.race([reader.read(), until.promise])).done; ) {
      if (!isBytes(read.value)) {
        tell(new TypeError(`the pieces of a request's body are Uint8Array, and not ${kindOf(read.value)}`));
        return without("unreadable" as const);
      }
      pieces.push(read.value);
      length += read.value.length;
      if (length > limit) return without("too-large" as const);
    }
  } catch {
    return signal.aborted ? without("gone" as const) : "unreadable";
  } finally {
    until.stop();
  }
  return joined(pieces, length);
}

/** The request as the handler reads it: whole, and with no word of a client that goes away (H9). */
function again(request: Request, body: Uint8Array): Request {
  const whole = request.body === null ? {} : { body: body as Uint8Array<ArrayBuffer> };
  return new Request(request, { ...whole, signal: null });
}

/** Path and query, as they stand in the URL. */
function targetOf(url: string): [path: string, query: string] {
  const target = url.replace(/^[^:/?#]+:\/\/[^/?#]*/, "").replace(/#.*$/s, "");
  const at = target.indexOf("?");
  return at < 0 ? [target || "/", ""] : [target.slice(0, at) || "/", target.slice(at + 1)];
}
