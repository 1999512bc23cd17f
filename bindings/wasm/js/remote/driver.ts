import { KeyledgerError } from "../errors.js";
import type { DrainOptions, Drained } from "../outbox/driver.js";
import { FetchTransport, type PlainFetchSettings } from "../outbox/fetch.js";
import type { OutboxSettings } from "../outbox/settings.js";
import type { Carrier } from "./messages.js";

/**
 * What sends where the ledger lives elsewhere: `FetchTransport`, told by data alone. A function cannot go to the thread that has the
 * ledger, so `authorize`, `identity`, `classify`, `fetch` and `signal` are refused, and so is a transport of the caller's own: for those
 * open the ledger where the functions are.
 */
export type RemoteTransport = FetchTransport | PlainFetchSettings;

/** How a driver works where the ledger lives elsewhere. */
export interface RemoteDriverOptions {
  /** How many deliveries are sent at a time. Absent: 8. */
  inFlight?: number;
}

/** How long a drain goes on where the ledger lives elsewhere: it tells nothing as it goes. */
export type RemoteDrainOptions = Omit<DrainOptions, "onProgress">;

const INSTEAD = "open the ledger where the function is: in a worker of your own (keyledger/worker), in Node by the main entry";

const refused = (what: string) =>
  new KeyledgerError("invalid_argument", `${what} cannot go to the thread that has the ledger; ${INSTEAD}`);

function plain(transport: RemoteTransport): PlainFetchSettings {
  const isFetch = transport instanceof FetchTransport;
  if (typeof transport === "function" || (!isFetch && "send" in transport)) throw refused("a transport of your own");
  const settings = isFetch ? transport.settings : transport;
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value === "function" || value instanceof AbortSignal) throw refused(name);
  }
  return settings;
}

/**
 * Keeps one scope of an outbox going that lives elsewhere; made by `RemoteOutbox.driver`. It works there: one for each scope, however
 * many want it, with what the last one asked for.
 */
export class RemoteDriver {
  readonly #carrier: Carrier;
  readonly #settings: OutboxSettings;
  readonly #scope: string;
  readonly #transport: PlainFetchSettings;
  readonly #options: RemoteDriverOptions;
  #wanted: AbortController | undefined;
  #ended: { error: unknown } | undefined;

  /** @internal */
  constructor(carrier: Carrier, settings: OutboxSettings, scope: string, transport: RemoteTransport, options: RemoteDriverOptions) {
    this.#carrier = carrier;
    this.#settings = settings;
    this.#scope = scope;
    this.#transport = plain(transport);
    this.#options = { inFlight: options.inFlight };
  }

  /**
   * Has the scope kept going until it is stopped, this tab or program is gone, or the ledger is closed: by timers, and at once when the
   * browser is online again. When another tab takes the lead, the driver goes on there. In Node it keeps the process alive.
   */
  start(): this {
    if (this.#wanted) return this;
    const wanted = (this.#wanted = new AbortController());
    this.#ended = undefined;
    const wish = { settings: this.#settings, scope: this.#scope, transport: this.#transport, ...this.#options };
    this.#carrier.call("outbox.keep", [wish], wanted.signal).catch((error: unknown) => {
      if (this.#wanted !== wanted) return;
      this.#wanted = undefined;
      this.#ended = { error };
    });
    return this;
  }

  /** Whether it is wanted. It ends by itself when the ledger is closed. */
  get isRunning(): boolean {
    return this.#wanted !== undefined;
  }

  /**
   * Wants it no more. If nobody else does, nothing more is leased, and on return what was in flight is sent and settled, or its leases are
   * over. Throws why it ended before.
   */
  async stop(): Promise<void> {
    const [wanted, ended] = [this.#wanted, this.#ended];
    this.#wanted = this.#ended = undefined;
    if (ended) throw ended.error;
    if (!wanted) return;
    wanted.abort();
    await this.#carrier.call("outbox.rested", [this.#scope]);
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Sends until nothing is due within `untilMs` from now; what was left, by state. If who leads is lost, the next one begins anew. */
  async drain({ untilMs, signal }: RemoteDrainOptions = {}): Promise<Drained> {
    signal?.throwIfAborted();
    const words = [this.#settings, this.#scope, this.#transport, { untilMs, ...this.#options }];
    return (await this.#carrier.call("outbox.drain", words, signal)) as Drained;
  }

  /** For alarms: sends what is due, and says when to be called next (`nextWakeup`). */
  async tick(options?: Omit<RemoteDrainOptions, "untilMs">): Promise<number | null> {
    await this.drain(options);
    return this.nextWakeup();
  }

  /** When there is something to do next, in milliseconds since 1970-01-01 UTC; null: time alone brings nothing (O11). */
  async nextWakeup(): Promise<number | null> {
    return (await this.#carrier.call("outbox.nextWakeup", [this.#settings, this.#scope])) as number | null;
  }
}
