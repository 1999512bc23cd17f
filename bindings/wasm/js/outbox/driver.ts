import type { AnyDriver } from "../any.js";
import { type Names, checkFunction, checkNumbers, noText, onlyKnown } from "../door.js";
import { NativeDriver, type NativeDelivery } from "../native/keyledger.js";
import { telling } from "../telling.js";
import { nameOf } from "../thrown.js";
import { Delivery, DeliveryOutcome, outcomeOf } from "./delivery.js";
import type { EntryCounts } from "./entry.js";
import { aborted, onAbort, within } from "../waiting.js";
import { Network } from "./network.js";
import type { Outbox } from "./outbox.js";

/**
 * Sends deliveries. It neither begins nor waits past `delivery.leaseLeftMs`, and says what came of it. What it throws counts as a retry
 * whose outcome is unknown, and is told to the console.
 */
export interface Transport {
  send(delivery: Delivery): Promise<DeliveryOutcome> | DeliveryOutcome;
  /** Whether a scope has other credentials than those that were refused (O8). Asked every few seconds while a lane is held. */
  hasOtherCredentials?(scope: string): Promise<boolean> | boolean;
}

/** A transport, or only its `send`. */
export type AnyTransport = Transport | Transport["send"];

/** Where nobody hears of it. @internal */
export const unheard = (error: unknown): void => console.error("keyledger: a call of the outbox failed, and is made again later", error);

/** How a driver works. */
export interface DriverOptions {
  /** How many deliveries are sent at a time. Absent: 8. */
  inFlight?: number;
  /** Called when a call of the outbox fails, which is then made again later. Absent: it is written to the console. */
  onError?: (error: unknown) => void;
}

/** How long a driver that is stopped waits for what is in flight. */
export interface StopOptions {
  /** Absent: until it is sent and settled, or its leases are over. */
  timeoutMs?: number;
  /** Ends the wait, as `timeoutMs` does. */
  signal?: AbortSignal;
}

/** How far a drain is. It counts entries of its scope, whoever sends and settles them. */
export interface DrainProgress {
  /** How many deliveries this drain has sent; an entry that is tried twice counts twice. */
  readonly sent: number;
  /** How many entries were settled since it began. */
  readonly settled: number;
  /** How many are unsettled, those that are held or unknown too. */
  readonly remaining: number;
}

/** How long a drain goes on. */
export interface DrainOptions {
  /** Absent: what is due already, with what becomes due of itself meanwhile. `Infinity`: until only people can bring anything on. */
  untilMs?: number;
  /** Ends it cleanly: nothing more is leased, what is in flight is waited for, then the signal's reason is thrown. */
  signal?: AbortSignal;
  /** Called at the beginning and as it goes; what that throws ends the drain and comes out of it. */
  onProgress?: (progress: DrainProgress) => void;
}

/** @internal */
export const DRIVER_OPTIONS: Names<DriverOptions> = { inFlight: true, onError: true };

/** How it may not work is said at once. @internal */
export function checkDriver(scope: string, options: DriverOptions): void {
  if (typeof scope !== "string" || !scope.isWellFormed()) throw noText(scope);
  onlyKnown("a driver", options, DRIVER_OPTIONS);
  const { inFlight, onError } = options;
  checkNumbers("a driver", { inFlight });
  if (onError !== undefined) checkFunction("onError", onError);
}

/** @internal */
export const DRAIN_OPTIONS: Names<DrainOptions> = { untilMs: true, signal: true, onProgress: true };

/** @internal */
export const STOP_OPTIONS: Names<StopOptions> = { timeoutMs: true, signal: true };

/** Of a drain that has both: those of the driver, and its own. @internal */
export function workOf(options: DriverOptions & DrainOptions): [DriverOptions, DrainOptions] {
  onlyKnown("a drain", options, { ...DRIVER_OPTIONS, ...DRAIN_OPTIONS });
  const { inFlight, onError, ...drain } = options;
  return [{ inFlight, onError }, drain];
}

/** What a drain has left. */
export interface Drained {
  /** How many deliveries it has sent. */
  readonly sent: number;
  /** How many entries were settled meanwhile. */
  readonly settled: number;
  /** Whether it was stopped before it was done. */
  readonly wasStopped: boolean;
  /** How many entries of the scope are unsettled. */
  readonly unsettled: number;
  readonly counts: EntryCounts;
}

/** What the native half sends over. */
export interface NativeTransport {
  send(delivery: NativeDelivery, patience?: AbortSignal): Promise<DeliveryOutcome>;
  hasOtherCredentials(scope: string): boolean;
}

/** Keeps one scope of an outbox going; made by `Outbox.driver`. */
export class Driver implements AnyDriver {
  readonly #outbox: Outbox;
  readonly #scope: string;
  readonly #transport: NativeTransport;
  readonly #sender: Transport;
  readonly #options: DriverOptions;
  #running: AbortController | undefined;
  /** What was started and has not ended: more than one for a moment, where it was started anew. */
  readonly #runs = new Set<Promise<void>>();
  #ended: { error: unknown } | undefined;
  readonly #network = new Network();
  #watchNoMore = () => {};
  /** Gives up what is in flight. */
  #patience = new AbortController();

  /** @internal */
  constructor(outbox: Outbox, scope: string, transport: Transport, options: DriverOptions = {}) {
    checkDriver(scope, options);
    this.#outbox = outbox;
    this.#scope = scope;
    this.#sender = transport;
    this.#transport = adapted(outbox, transport);
    this.#options = options;
  }

  #native(transport = this.#transport): NativeDriver {
    const { inFlight, onError = unheard } = this.#options;
    return new NativeDriver(this.#outbox.native, this.#scope, transport, inFlight, telling(onError));
  }

  /** Sends until nothing is due within `untilMs` from now, whatever a browser says of its network; what was left, by state. */
  async drain(options: DrainOptions = {}): Promise<Drained> {
    onlyKnown("a drain", options, DRAIN_OPTIONS);
    options.signal?.throwIfAborted();
    const patience = new AbortController();
    const native = this.#native(patient(this.#transport, patience.signal));
    const drain = async (tell: Tell) => {
      await this.#regain([options.signal, patience.signal]);
      return (await native.drain(options.untilMs ?? 0, tell)) as Drained;
    };
    const drained = untilEnded(options, drain, () => native.stop());
    const giveUp = () => {
      native.stop();
      patience.abort();
    };
    try {
      return await this.#outbox.sending.during(drained, giveUp);
    } finally {
      native.free();
    }
  }

  /** Lets a held scope go on where it has other credentials: what a drain counts is not to wait for that. */
  async #regain(ends: readonly (AbortSignal | undefined)[]): Promise<void> {
    if (!this.#sender.hasOtherCredentials) return;
    const { entries } = this.#outbox.page({ scope: this.#scope, state: "held" });
    if (!entries.some(({ isHeldWithLane }) => isHeldWithLane)) return;
    const end = within(Infinity, ends);
    const over = aborted(end.signal);
    const hasThem = await Promise.race([hasOthers(this.#sender, this.#scope), over.promise.catch(() => false)]);
    over.stop();
    end.stop();
    if (hasThem) await this.#outbox.resume(this.#scope);
  }

  /** For alarms: sends what is due, offline too, and says when to be called next (`nextWakeup`). */
  async tick(options?: Omit<DrainOptions, "untilMs">): Promise<number | null> {
    await this.drain(options);
    return this.nextWakeup();
  }

  /** When there is something to do next, in milliseconds since 1970-01-01 UTC; null: time alone brings nothing (O11). */
  nextWakeup(): number | null {
    return this.#outbox.nextWakeup(this.#scope);
  }

  /**
   * Works until it is stopped, or the ledger is closed: by timers, and at once when the browser is online again. As long as a browser says
   * that it is offline nothing is leased, save once in a while, because not all of them tell the truth. In Node it keeps the process alive.
   * What is in flight when the ledger is closed, or the process ends, is sent again by whoever comes next, with the same key.
   */
  start(): this {
    if (!this.#running) {
      this.#ended = undefined;
      this.#run();
      this.#watchNoMore = this.#network.watch(() => this.#heard());
    }
    return this;
  }

  /** What waits because no answer came need not wait where the browser is online again (O6). */
  #heard(): void {
    if (!this.#network.isDown) void Promise.resolve(this.#outbox.native.online(false, this.#scope)).catch(() => undefined);
    this.#run();
  }

  /** Timers are late where a machine slept: what runs is let finish, and another looks at once. */
  #run(): void {
    const end = new AbortController();
    const native = this.#native(this.#guarded(end.signal, this.#patience.signal));
    this.#running?.abort();
    this.#running = end;
    end.signal.addEventListener("abort", () => native.stop());
    const giveUp = () => {
      end.abort();
      this.#giveUp();
    };
    const work = this.#outbox.sending.during(this.#work(native, end.signal), giveUp);
    const run = work.catch((error: unknown) => void (this.#ended = { error }));
    this.#runs.add(run);
    void run.then(() => {
      this.#runs.delete(run);
      if (this.#running === end) this.#rest();
      native.free();
    });
  }

  async #work(native: NativeDriver, signal: AbortSignal): Promise<void> {
    if (this.#network.isDown) await this.#network.isUp(signal);
    await native.run();
  }

  /** Sends nothing while the network is down. What was sent in spite of what the browser says, and came to nothing, is the last for a while. */
  #guarded(end: AbortSignal, patience: AbortSignal): NativeTransport {
    const { send, hasOtherCredentials } = patient(this.#transport, patience);
    const guarded = async (native: NativeDelivery) => {
      const isDown = this.#network.isDown;
      const outcome = isDown ? told(native, unsent("the browser is offline")) : await send(native);
      const isDownNow = isDown || (outcome.kind === "retry" && this.#network.failed());
      if (isDownNow && !end.aborted) this.#run();
      return outcome;
    };
    return { send: guarded, hasOtherCredentials };
  }

  #giveUp(): void {
    this.#patience.abort();
    this.#patience = new AbortController();
  }

  #rest(): void {
    this.#running = undefined;
    this.#watchNoMore();
  }

  /** Is fulfilled when it works no more. @internal */
  async isAtRest(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all(this.#runs);
  }

  /** Whether it works. It ends by itself when the ledger is closed. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /**
   * Leases nothing more, and waits until what is in flight is sent and settled, or its leases are over. What `timeoutMs` or `signal` ends is
   * that wait: what is in flight then is given up and settled as a try that may have taken effect, as if the process had been killed, and
   * whoever comes next sends it again with its key. Throws why it ended before; that error's `reports` are outcomes that it could not store.
   */
  async stop(options: StopOptions = {}): Promise<void> {
    onlyKnown("stop", options, STOP_OPTIONS);
    const { timeoutMs = Infinity, signal } = options;
    this.#running?.abort();
    this.#rest();
    const end = within(timeoutMs, signal);
    end.signal.addEventListener("abort", () => this.#giveUp());
    if (end.signal.aborted) this.#giveUp();
    await Promise.all(this.#runs);
    end.stop();
    const ended = this.#ended;
    this.#ended = undefined;
    if (ended) throw ended.error;
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

type Tell = (progress: DrainProgress) => void;

/** A drain that its signal, and what its progress throws, ends by `stop`: what it does then is waited for, and why comes out of it. @internal */
export async function untilEnded(options: DrainOptions, drain: (tell: Tell) => Promise<Drained>, stop: () => void): Promise<Drained> {
  const { signal, onProgress } = options;
  let raised: { error: unknown } | undefined;
  const end = (error: unknown) => {
    raised ??= { error };
    stop();
  };
  const tell = (progress: DrainProgress) => {
    try {
      if (!raised) onProgress?.(progress);
    } catch (error) {
      end(error);
    }
  };
  const abort = () => end(signal?.reason);
  const deaf = signal ? onAbort(signal, abort) : () => undefined;
  try {
    const drained = await drain(tell);
    if (raised) throw raised.error;
    return drained;
  } finally {
    deaf();
  }
}

/** Leased, and then not sent after all: nothing has left. */
const unsent = (why: string) => DeliveryOutcome.retry(why).unanswered().notTaken().notCounted();

function told(delivery: NativeDelivery, outcome: DeliveryOutcome): DeliveryOutcome {
  delivery.tell(outcome.native);
  return outcome;
}

/** Waits for what is sent as long as there is patience for it, and sends nothing after that. */
function patient({ send, hasOtherCredentials }: NativeTransport, patience: AbortSignal): NativeTransport {
  const patientSend = async (native: NativeDelivery) =>
    patience.aborted ? told(native, unsent("the driver was stopped")) : patiently(native, send(native, patience), patience);
  return { send: patientSend, hasOtherCredentials };
}

/** What came of a send, as long as there is patience for it. */
async function patiently(delivery: NativeDelivery, sending: Promise<DeliveryOutcome>, patience: AbortSignal): Promise<DeliveryOutcome> {
  const over = aborted(patience);
  try {
    return await Promise.race([sending, over.promise]);
  } catch {
    return told(delivery, DeliveryOutcome.retry("given up when the driver was stopped"));
  } finally {
    over.stop();
  }
}

/** Asks a transport. What it throws is told to the console, and is no. */
async function hasOthers(transport: Transport, scope: string): Promise<boolean> {
  try {
    return (await transport.hasOtherCredentials?.(scope)) ?? false;
  } catch (error) {
    console.error("keyledger: hasOtherCredentials threw", error);
    return false;
  }
}

function adapted(outbox: Outbox, transport: Transport): NativeTransport {
  /** One question at a time; a yes that comes late resumes the scope itself. */
  let isAsking = false;
  const asked = async (scope: string, answer: Promise<boolean>) => {
    isAsking = true;
    try {
      if (await answer) await outbox.resume(scope);
    } catch (error) {
      console.error("keyledger: hasOtherCredentials threw", error);
    } finally {
      isAsking = false;
    }
  };
  return {
    send: async (native, patience) => told(native, await sent((delivery) => transport.send(delivery), new Delivery(native, outbox, patience))),
    hasOtherCredentials: (scope) => {
      const answer = isAsking ? false : (transport.hasOtherCredentials?.(scope) ?? false);
      if (typeof answer === "boolean") return answer;
      void asked(scope, answer);
      return false;
    },
  };
}

/** What is thrown is told to the console. Its name alone is stored: its words may hold what must not be in the file (O14). */
async function sent(send: Transport["send"], delivery: Delivery): Promise<DeliveryOutcome> {
  try {
    return outcomeOf(await send(delivery));
  } catch (error) {
    console.error("keyledger: a transport threw", error);
    return DeliveryOutcome.retry(`the transport threw ${nameOf(error)}`).unanswered();
  }
}
