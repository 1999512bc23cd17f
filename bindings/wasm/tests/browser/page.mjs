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

/** Asks again until there is an answer. Leases are as long as they are by default: nobody may wait for the end of one. */
const STUBBORN = {
  backoff: { baseMs: 1, capMs: 10, multiplier: 2 },
  maxTries: 10_000,
  retryBudget: { retries: 10_000, refillMs: 1 },
};
const outbox = async () => (await open()).outbox(STUBBORN);

/** Stores a request with that body. */
async function enqueue(body, purpose) {
  const request = new Request("/charges", { method: "POST", body });
  return (await outbox()).enqueue(request, { scope: "user", operation: "charge", purpose });
}

/** Has what is enqueued sent, by whoever leads. */
const drive = async (transport = { timeoutMs: 1_000 }, options) => void (globalThis.driver = (await outbox()).driver("user", transport, options).start());

/** Enqueues one request after another, until the page goes away. Each is new, and has a driver that sends it. */
async function sendOn(tab) {
  const [opened, waits] = [performance.now(), []];
  await drive();
  waits.push(performance.now() - opened);
  for (let at = 0; ; at += 1) {
    const body = `${tab} ${at}`;
    const { entry, created } = await timed(waits, () => enqueue(body, at % 2 === 0 ? body : undefined));
    if (!created) throw new Error(`${body} was there before`);
    await tell({ enqueued: body, waits: waits.splice(0) });
    if (at % 4 === 0) {
      const asked = performance.now();
      await entry.result();
      await tell({ answered: performance.now() - asked });
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Waits until nothing is left to send; the states of all entries by their requests' bodies. */
async function sent() {
  const all = await outbox();
  while ((await all.stats()).unsettled > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  return (await all.stats()).counts;
}

const telling = (name) => (error) => tell({ error: `${name}: ${error.code ?? ""} ${error.stack ?? error}` });

globalThis.tab = {
  keyledger,
  charge,
  open,
  pay,
  stored,
  outbox,
  enqueue,
  drive,
  sent,
  payOn: (tab) => void payOn(tab).catch(telling(tab)),
  sendOn: (tab) => void sendOn(tab).catch(telling(tab)),
};
