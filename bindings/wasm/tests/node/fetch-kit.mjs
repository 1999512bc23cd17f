// What tests of the wrapper for fetch handlers begin with.

import { kit } from "./kit.mjs";

const { Ledger, MemoryStore, idempotent } = kit;

/** A handler under a key, of a ledger that is closed at the end of the test, and what it has told. */
export function guarded(t, handler, options = {}) {
  const ledger = Ledger.on(new MemoryStore(), { clock: options.clock });
  t.after(() => ledger.close());
  const told = [];
  const settings = { ledger, key: "required", effect: "repeatable", scope: () => "ada", onError: (error) => told.push(error) };
  const { clock: _clock, ...own } = options;
  const wrapped = idempotent(handler, { ...settings, ...own });
  return { ledger, told, wrapped, settings };
}

/** The same request each time. */
export const post = (init = {}) =>
  new Request("https://pay.example/charges", {
    method: "POST",
    body: "5",
    ...init,
    headers: { "idempotency-key": '"key-1"', ...init.headers },
  });

/** How the record of that request stands. */
export const record = (ledger) => ledger.inspectSync({ scope: "ada", operation: "POST /charges", key: "key-1" });
