/** A promise that is rejected when the signal is, and how to listen no more: it is fulfilled then, since who waits for it keeps what it needs until it is either. */
export function aborted(signal: AbortSignal): { promise: Promise<never>; stop: () => void } {
  let stop = () => {};
  const promise = new Promise<never>((resolve, reject) => {
    const listener = () => reject(signal.reason);
    signal.addEventListener("abort", listener, { once: true });
    stop = () => {
      signal.removeEventListener("abort", listener);
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
  for (const other of heard) other.addEventListener("abort", abort);
  const stop = () => {
    clearTimeout(timer);
    for (const other of heard) other.removeEventListener("abort", abort);
  };
  return { signal: end.signal, timeIsUp, stop };
}

/** Is fulfilled when the signal is aborted. */
export function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
