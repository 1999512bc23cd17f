import type { AnyDriver } from "../any.js";
import { type Names, checkFunction, checkNumbers, onlyKnown } from "../door.js";
import { KeyledgerError } from "../errors.js";
import type { LedgerOptions } from "../ledger.js";
import { DRAIN_OPTIONS, type DrainOptions, type DrainProgress, type Drained, type DriverOptions, STOP_OPTIONS, type StopOptions, checkDriver, untilEnded } from "../outbox/driver.js";
import { FETCH_SETTINGS, type FetchSettings, FetchTransport, type PlainFetchSettings } from "../outbox/fetch.js";
import type { OutboxSettings } from "../outbox/settings.js";
import { telling } from "../telling.js";
import { type Authorize, type Question, given } from "./credentials.js";
import type { Carrier, Said } from "./messages.js";
import { errorOf } from "./plain.js";
import { within } from "../waiting.js";

/** How a `FetchTransport` sends where the ledger lives elsewhere: as data says, with credentials that are asked for here. */
export type RemoteFetchSettings = PlainFetchSettings & Pick<FetchSettings, "authorize">;

/**
 * What sends where the ledger lives elsewhere: `FetchTransport`. `authorize` stays here, and is asked at each send, as long as the driver is
 * wanted here. Other functions cannot go to the thread that has the ledger, so `identity`, `classify`, `fetch` and `signal` are refused, and
 * so is a transport of the caller's own: for those open the ledger where the functions are.
 */
export type RemoteTransport = FetchTransport | RemoteFetchSettings;

const INSTEAD = "open the ledger where the function is: in a worker of your own (keyledger/worker), in Node by the main entry";

const cannotGo = (what: string) =>
  new KeyledgerError("invalid_argument", `${what} cannot go to the thread that has the ledger; ${INSTEAD}`);

/** How a ledger is to be opened elsewhere: what is told there can go there. @internal */
export function checkOpening<Options extends LedgerOptions>(options: Options, names: Names<Options>): void {
  if (typeof options === "object" && options !== null && "clock" in options) throw cannotGo("a clock");
  onlyKnown("Ledger.open", options, names);
  const { maxResponseBytes, cacheBytes } = options;
  checkNumbers("a ledger", { maxResponseBytes, cacheBytes });
}

function apart(transport: RemoteTransport): [settings: PlainFetchSettings, authorize: Authorize | undefined] {
  const isFetch = transport instanceof FetchTransport;
  if (typeof transport === "function" || (!isFetch && isSending(transport))) throw cannotGo("a transport of your own");
  const given = isFetch ? transport.settings : transport;
  onlyKnown("what sends", given, FETCH_SETTINGS);
  const { authorize, ...settings } = given;
  if (authorize !== undefined) checkFunction("authorize", authorize);
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value === "function" || value instanceof AbortSignal) throw cannotGo(name);
  }
  return [settings, authorize];
}

const isSending = (transport: unknown) => typeof transport === "object" && transport !== null && "send" in transport;

/**
 * Keeps one scope of an outbox going that lives elsewhere; made by `RemoteOutbox.driver`. It works there: one for each scope, however
 * many want it, with what the last one asked for.
 */
export class RemoteDriver implements AnyDriver {
  readonly #carrier: Carrier;
  readonly #settings: OutboxSettings;
  readonly #scope: string;
  readonly #transport: PlainFetchSettings;
  readonly #authorize: Authorize | undefined;
  readonly #options: DriverOptions;
  #wanted: AbortController | undefined;
  #ended: { error: unknown } | undefined;

  /** @internal */
  constructor(carrier: Carrier, settings: OutboxSettings, scope: string, transport: RemoteTransport, options: DriverOptions = {}) {
    this.#carrier = carrier;
    this.#settings = settings;
    this.#scope = scope;
    checkDriver(scope, options);
    [this.#transport, this.#authorize] = apart(transport);
    this.#options = options;
  }

  /**
   * Has the scope kept going until it is stopped, this tab or program is gone, or the ledger is closed: by timers, and at once when the
   * browser is online again. As long as a browser says that it is offline nothing is leased, save once in a while, because not all of them
   * tell the truth. When another tab takes the lead, the driver goes on there. In Node it keeps the process alive.
   */
  start(): this {
    if (this.#wanted) return this;
    const wanted = (this.#wanted = new AbortController());
    this.#ended = undefined;
    const { inFlight } = this.#options;
    const words = [{ settings: this.#settings, scope: this.#scope, transport: this.#transport, inFlight }, this.#tells];
    const hears = (said: Said) => this.#heard(said);
    this.#carrier.call("outbox.keep", words, { signal: wanted.signal, hears }).catch((error: unknown) => {
      if (this.#wanted !== wanted) return;
      this.#wanted = undefined;
      this.#ended = { error };
    });
    return this;
  }

  get #tells() {
    return { errors: this.#options.onError !== undefined, asks: this.#authorize !== undefined };
  }

  #heard(said: Said, tell?: (progress: DrainProgress) => void): void {
    if ("progress" in said) return tell?.(said.progress);
    if ("asks" in said) return void this.#answer(said.asks);
    const { onError } = this.#options;
    if (onError) telling(onError)(errorOf(said.failed));
  }

  async #answer(asks: Question): Promise<void> {
    if (!this.#authorize) return;
    const words = [asks.name, await given(this.#authorize, asks)];
    // Who asked may be gone: then the next one asks anew.
    await this.#carrier.call("outbox.credentials", words).catch(() => undefined);
  }

  /** Whether it is wanted. It ends by itself when the ledger is closed, or cannot go on. */
  get isRunning(): boolean {
    return this.#wanted !== undefined;
  }

  /**
   * Wants it no more. If nobody else does, nothing more is leased, and on return what was in flight is sent and settled, or its leases are
   * over. What `timeoutMs` or `signal` ends is that wait: what is in flight then is given up and settled as a try that may have taken effect,
   * as if the process had been killed, and is sent again with its key. Throws why it ended before.
   */
  async stop(options: StopOptions = {}): Promise<void> {
    onlyKnown("stop", options, STOP_OPTIONS);
    const { timeoutMs, signal } = options;
    const [wanted, ended] = [this.#wanted, this.#ended];
    this.#wanted = this.#ended = undefined;
    if (ended) throw ended.error;
    if (!wanted) return;
    wanted.abort();
    const end = within(timeoutMs ?? Infinity, signal);
    try {
      if (end.signal.aborted) return void (await this.#carrier.call("outbox.rested", [this.#scope, true]));
      await this.#carrier.call("outbox.rested", [this.#scope, false], { signal: end.signal, endsThere: true });
    } finally {
      end.stop();
    }
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /**
   * Sends until nothing is due within `untilMs` from now; what was left, by state. If who leads is lost, the next one begins anew: it counts
   * from zero again.
   */
  async drain(options: DrainOptions = {}): Promise<Drained> {
    onlyKnown("a drain", options, DRAIN_OPTIONS);
    options.signal?.throwIfAborted();
    const { inFlight } = this.#options;
    const tells = { ...this.#tells, progress: options.onProgress !== undefined };
    const words = [this.#settings, this.#scope, this.#transport, { untilMs: options.untilMs, inFlight }, tells];
    const end = new AbortController();
    const drain = async (tell: (progress: DrainProgress) => void) => {
      const hears = (said: Said) => this.#heard(said, tell);
      const drained = this.#carrier.call("outbox.drain", words, { signal: end.signal, endsThere: true, hears });
      return (await drained.catch((error: unknown) => endedHere(error, end.signal))) as Drained;
    };
    return untilEnded(options, drain, () => end.abort());
  }

  /** For alarms: sends what is due, and says when to be called next (`nextWakeup`). */
  async tick(options?: Omit<DrainOptions, "untilMs">): Promise<number | null> {
    await this.drain(options);
    return this.nextWakeup();
  }

  /** When there is something to do next, in milliseconds since 1970-01-01 UTC; null: time alone brings nothing (O11). */
  async nextWakeup(): Promise<number | null> {
    return (await this.#carrier.call("outbox.nextWakeup", [this.#settings, this.#scope])) as number | null;
  }
}

/** What was ended from here says there that it was ended; why, is known here. */
function endedHere(error: unknown, { aborted }: AbortSignal): undefined {
  if (!aborted || error instanceof KeyledgerError) throw error;
}
