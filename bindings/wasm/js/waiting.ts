/** Who hears of the end of a signal, and how to listen to it no more. */
interface Hearing {
  readonly all: Set<() => void>;
  readonly stop: () => void;
}

const HEARING = new WeakMap<AbortSignal, Hearing>();

/**
 * Calls `heard` once, when the signal is aborted; what is returned listens no more. However many hear of it, the signal has one listener:
 * Node takes more than ten for a leak. `heard` does not throw.
 */
export function onAbort(signal: AbortSignal, heard: () => void): () => void {
  const { all, stop } = HEARING.get(signal) ?? hearing(signal);
  const one = () => heard();
  all.add(one);
  return () => {
    if (all.delete(one) && all.size === 0) stop();
  };
}

function hearing(signal: AbortSignal): Hearing {
  const all = new Set<() => void>();
  const abort = () => {
    HEARING.delete(signal);
    for (const one of all) one();
  };
  const stop = () => {
    HEARING.delete(signal);
    signal.removeEventListener("abort", abort);
  };
  HEARING.set(signal, { all, stop });
  signal.addEventListener("abort", abort, { once: true });
  return { all, stop };
}

/** A promise that is rejected when the signal is, and how to listen no more: it is fulfilled then, since who waits for it keeps what it needs until it is either. */
export function aborted(signal: AbortSignal): { promise: Promise<never>; stop: () => void } {
  let stop = () => {};
  const promise = new Promise<never>((resolve, reject) => {
    const deaf = onAbort(signal, () => reject(signal.reason));
    stop = () => {
      deaf();
      resolve(undefined as never);
    };
  });
  promise.catch(() => undefined);
  return { promise, stop };
}

/** A signal that is aborted by `timeIsUp`, whose words are `late`, after a while, or when one of the others is; and how to listen no more. */
export function within(
  ms: number,
  others?: AbortSignal | readonly (AbortSignal | undefined)[],
  late = "the time is up",
): { signal: AbortSignal; timeIsUp: Error; stop: () => void } {
  const [end, timeIsUp] = [new AbortController(), new DOMException(late, "TimeoutError")];
  // A timer of more than this is one of zero.
  const timer = Number.isFinite(ms) ? setTimeout(() => end.abort(timeIsUp), Math.min(ms, 0x7fffffff)) : undefined;
  const heard = [others].flat().filter((other) => other !== undefined);
  const abort = () => end.abort(heard.find(({ aborted }) => aborted)?.reason);
  if (heard.some(({ aborted }) => aborted)) abort();
  const deaf = heard.map((other) => onAbort(other, abort));
  const stop = () => {
    clearTimeout(timer);
    for (const one of deaf) one();
  };
  return { signal: end.signal, timeIsUp, stop };
}

/** Is fulfilled when the signal is aborted. */
export function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else onAbort(signal, resolve);
  });
}
