// What the tests ask of a tab.

import * as keyledger from "keyledger";

const { Fingerprint, KeyledgerError, Ledger, Operation } = keyledger;
const charge = Operation.repeatable("charge", { leaseMs: 1_000 });
let opening;

/** Opens the ledger once a page. */
const open = (options) => (opening ??= Ledger.open("shop", options));

/** A page that goes away is not told that its request was ended: it does nothing more. */
const tell = (what) =>
  fetch("/told", { method: "POST", body: JSON.stringify(what), keepalive: true }).catch(() => new Promise(() => undefined));

/** Calls, and says how long it took. */
async function timed(waits, call) {
  const start = performance.now();
  const late = setTimeout(() => tell({ error: "a call has no answer after five seconds" }), 5_000);
  try {
    return await call();
  } finally {
    clearTimeout(late);
    waits.push(performance.now() - start);
  }
}

/** Does a key until it has an answer, however often that has to be asked. Tells the server what it was told. */
async function pay(key, waits) {
  const ledger = await open();
  const fingerprint = Fingerprint.ofJson({ key });
  for (;;) {
    try {
      const decision = await timed(waits, () => ledger.begin(charge, "tenant", key, fingerprint));
      if (decision.kind === "acquired") {
        await timed(waits, () => decision.claim.complete(`done ${key}`));
      } else if (decision.kind !== "replay") {
        await new Promise((resolve) => setTimeout(resolve, Math.min(decision.retryAfterMs, 200)));
        continue;
      }
      return void (await tell({ key }));
    } catch (error) {
      if (!(error instanceof KeyledgerError && ["ambiguous", "claim_lost"].includes(error.code))) throw error;
    }
  }
}

/** Pays one key after another, until the page goes away. */
async function payOn(tab) {
  const opened = performance.now();
  await open();
  const waits = [performance.now() - opened];
  for (let at = 0; ; at += 1) {
    await pay(`${tab} ${at}`, waits);
    await tell({ waits: waits.splice(0) });
  }
}

/** The keys that are stored and completed. */
async function stored() {
  const ledger = await open();
  const keys = [];
  for await (const record of ledger.list({ state: "completed" })) {
    if (record.response.text() !== `done ${record.keyId.key}`) throw new Error(`another answer: ${record.keyId.key}`);
    keys.push(record.keyId.key);
  }
  return keys;
}

globalThis.tab = {
  keyledger,
  charge,
  open,
  pay,
  stored,
  payOn: (tab) => void payOn(tab).catch((error) => tell({ error: `${error.code ?? ""} ${error.stack ?? error}` })),
};
