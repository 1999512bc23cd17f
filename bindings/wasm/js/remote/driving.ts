import { type Driver, unheard } from "../outbox/driver.js";
import { FetchTransport, NotNow, type PlainFetchSettings, type SentRequest } from "../outbox/fetch.js";
import type { Outbox } from "../outbox/outbox.js";
import type { OutboxSettings } from "../outbox/settings.js";
import { onAbort } from "../waiting.js";
import { type Authorize, NotAnswered } from "./credentials.js";

/** How a scope is to be kept going: data, so that whoever has the ledger next can begin it anew. */
export interface Wish {
  readonly settings: OutboxSettings;
  readonly scope: string;
  readonly transport: PlainFetchSettings;
  /** Whether whoever wishes it gives credentials. */
  readonly isAuthorized: boolean;
  readonly inFlight?: number;
}

/** Who wants a scope to be kept going. */
interface Wanting {
  /** Hears what fails and is done again later. */
  readonly onError?: (error: unknown) => void;
  /** Gives credentials. Throws `NotAnswered` where it says nothing. */
  readonly authorize?: Authorize;
  /** Is told why the driver has ended by itself. */
  readonly ended: (error: unknown) => void;
}

/** One scope: who wants it to be kept going, and the one driver that does. */
class Route {
  readonly wishes = new Map<Wish, Wanting>();
  driver: Driver | undefined;
  /** The driver that was stopped last: what it has in flight can still be given up. */
  stopped: Driver | undefined;
  /** How the driver works. */
  words = "";
  /** Kept when what was stopped has ended. */
  rest: Promise<void> = Promise.resolve();
}

/** Keeps scopes going as long as somebody wants it: one driver for each, however many want it. */
export class Driving {
  readonly #outboxOf: (settings: OutboxSettings) => Outbox;
  readonly #routes = new Map<string, Route>();
  readonly #end = new AbortController();

  constructor(outboxOf: (settings: OutboxSettings) => Outbox) {
    this.#outboxOf = outboxOf;
  }

  /**
   * Keeps a scope going until the signal is aborted. Of several wishes the last one says how; what fails is told to all that hear. Throws why
   * the driver has ended by itself.
   */
  async keep(wish: Wish, signal: AbortSignal, wanting: Omit<Wanting, "ended">): Promise<void> {
    const route = this.#routeOf(wish.scope);
    try {
      await new Promise<unknown>((resolve, ended) => {
        route.wishes.set(wish, { ...wanting, ended });
        this.#turn(route);
        if (signal.aborted) resolve(null);
        onAbort(signal, () => resolve(null));
      });
    } finally {
      route.wishes.delete(wish);
      this.#turn(route);
    }
  }

  /**
   * Returns when a scope that nobody wants to be kept going has come to rest; what is in flight is given up when the signal is aborted.
   * Throws why its driver ended before.
   */
  async rested(scope: string, signal: AbortSignal): Promise<void> {
    const route = this.#routes.get(scope);
    if (route?.wishes.size !== 0) return;
    await Promise.all([route.rest, route.stopped?.stop({ signal })]);
  }

  /** A transport that is ended when the ledger goes. */
  transport(settings: PlainFetchSettings, authorize?: Authorize): FetchTransport {
    return new FetchTransport({ ...settings, authorize, signal: this.#end.signal });
  }

  /**
   * The ledger goes: nothing more is leased, and what is being sent is cut off and settled as a try that may have taken effect, so that
   * whoever has the ledger next need not wait for its lease. On return it is on disk.
   */
  async finish(): Promise<void> {
    const routes = [...this.#routes.values()];
    for (const route of routes) {
      route.wishes.clear();
      this.#turn(route);
    }
    this.#end.abort(new DOMException("who had the ledger goes", "AbortError"));
    await Promise.allSettled(routes.map(({ rest }) => rest));
  }

  #routeOf(scope: string): Route {
    let route = this.#routes.get(scope);
    if (!route) this.#routes.set(scope, (route = new Route()));
    return route;
  }

  #turn(route: Route): void {
    const wish = [...route.wishes.keys()].at(-1);
    const words = wish ? JSON.stringify(wish) : "";
    if (words === route.words) return;
    route.stopped = route.driver ?? route.stopped;
    if (route.driver) route.rest = Promise.all([route.rest.catch(() => undefined), route.driver.stop()]).then(() => undefined);
    // Whoever waits for it is told; perhaps nobody does.
    route.rest.catch(() => undefined);
    route.driver = undefined;
    route.words = "";
    if (!wish || this.#end.signal.aborted) return;
    const { settings, scope, transport, isAuthorized, inFlight } = wish;
    const authorize = isAuthorized ? (of: string, request: SentRequest) => authorized(route, of, request) : undefined;
    const onError = (error: unknown) => failed(route, error);
    const driver = this.#outboxOf(settings).driver(scope, this.transport(transport, authorize), { inFlight, onError }).start();
    route.driver = driver;
    route.words = words;
    void driver.isAtRest().then(() => route.driver === driver && this.#lost(route));
  }

  /** The driver has ended by itself: whoever wants it is told why, and may want it anew. */
  #lost(route: Route): void {
    const all = [...route.wishes.values()];
    route.wishes.clear();
    this.#turn(route);
    route.rest.catch((error: unknown) => {
      for (const { ended } of all) ended(error);
    });
  }
}

/** A driver is one for all that want it: all of them are told. The console is, where nobody hears. */
function failed({ wishes }: Route, error: unknown): void {
  const all = [...wishes.values()];
  for (const { onError } of all) onError?.(error);
  if (all.every(({ onError }) => onError === undefined)) unheard(error);
}

/** Of those that want it the last one is asked for credentials; the one before, where it is silent. */
async function authorized({ wishes }: Route, scope: string, request: SentRequest): Promise<HeadersInit | null | undefined> {
  let silent = new NotNow("nobody is there who gives them");
  for (const { authorize } of [...wishes.values()].reverse()) {
    try {
      if (authorize) return await authorize(scope, request);
    } catch (error) {
      if (!(error instanceof NotAnswered)) throw error;
      silent = error;
    }
  }
  throw silent;
}
