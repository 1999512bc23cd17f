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

/** A promise of nothing after a while, and how to end the while. */
export function afterMs(ms: number): { promise: Promise<undefined>; stop: () => void } {
  let timer: ReturnType<typeof setTimeout>;
  // A timer of more than this is one of zero.
  const promise = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, Math.min(ms, 0x7fffffff), undefined)));
  return { promise, stop: () => clearTimeout(timer) };
}

/** Something that is asked until it says more than that somebody is at it. */
export interface Wait<T> {
  waitMs: number;
  /** Ends the wait with its reason. */
  until?: Promise<never> | undefined;
  nowMs: () => number;
  /** Without `waits` it is answered at once; with it, when there is news, or undefined when `end` is fulfilled first. */
  ask: (end: Promise<unknown> | undefined, waits: boolean) => Promise<T | undefined>;
  /** Null for an answer that ends the wait. */
  retryAfterMs: (told: T) => number | null;
}

/** The first answer that ends the wait, or the last one when the time is over. A lease that ends wakes nobody: it is asked again then. */
export async function waited<T>({ waitMs, until, nowMs, ask, retryAfterMs }: Wait<T>): Promise<T> {
  const giveUpAtMs = nowMs() + waitMs;
  for (;;) {
    const told = (await ask(until, false)) as T;
    const [retryMs, restMs] = [retryAfterMs(told), giveUpAtMs - nowMs()];
    if (retryMs === null || restMs <= 0) return told;
    const timer = afterMs(Math.min(restMs, retryMs + 1));
    try {
      const news = await ask(until ? Promise.race([timer.promise, until]) : timer.promise, true);
      if (news !== undefined) return news;
    } finally {
      timer.stop();
    }
  }
}
