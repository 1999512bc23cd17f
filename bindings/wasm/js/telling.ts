const aside = (thrown: unknown): void => console.error("keyledger: onError:", thrown);

/** Has `hook` told of errors. What it throws itself, or its promise is broken by, is for the console, and stops nothing. */
export function telling(hook: (error: unknown) => unknown): (error: unknown) => void {
  return (error) => {
    try {
      const told = hook(error);
      if (told instanceof Promise) told.catch(aside);
    } catch (thrown) {
      aside(thrown);
    }
  };
}

/** What a hook has returned that is to answer at once. A promise is no answer, and is left alone. */
export function atOnce<T>(told: T, name: string): T {
  if (typeof (told as { then?: unknown } | null | undefined)?.then !== "function") return told;
  if (told instanceof Promise) told.catch(() => undefined);
  throw new TypeError(`${name} cannot wait, and returns no promise`);
}
