/** A promise that is rejected when the signal is, and how to listen no more. */
export function aborted(signal: AbortSignal): { promise: Promise<never>; stop: () => void } {
  let listener = () => {};
  const promise = new Promise<never>((_, reject) => {
    listener = () => reject(signal.reason);
    signal.addEventListener("abort", listener, { once: true });
  });
  promise.catch(() => undefined);
  return { promise, stop: () => signal.removeEventListener("abort", listener) };
}

/** A signal that is aborted by `timeIsUp`, whose words are `late`, after a while, or when the other one is; and how to listen no more. */
export function within(
  ms: number,
  other?: AbortSignal,
  late = "the time is up",
): { signal: AbortSignal; timeIsUp: Error; stop: () => void } {
  const [end, timeIsUp] = [new AbortController(), new DOMException(late, "TimeoutError")];
  // A timer of more than this is one of zero.
  const timer = Number.isFinite(ms) ? setTimeout(() => end.abort(timeIsUp), Math.min(ms, 0x7fffffff)) : undefined;
  const abort = () => end.abort(other?.reason);
  other?.addEventListener("abort", abort);
  const stop = () => (clearTimeout(timer), other?.removeEventListener("abort", abort));
  return { signal: end.signal, timeIsUp, stop };
}
