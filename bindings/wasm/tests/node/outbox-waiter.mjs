// Waits an hour two thousand times, gives up each time, and says what is left of it.

let memory;
const Instance = WebAssembly.Instance;
WebAssembly.Instance = class extends Instance {
  constructor(module, imports) {
    super(module, imports);
    memory = this.exports.memory;
  }
};

const { kit } = await import("./kit.mjs");
const HOUR = 3_600_000;
const ledger = kit.Ledger.inMemorySync();
const outbox = ledger.outbox();
const charge = kit.Operation.repeatable("charge");
const unchecked = kit.Fingerprint.unchecked();
ledger.beginSync(charge, "t", "k", unchecked);
const { entry } = outbox.enqueueSync("x", { scope: "t", operation: "charge" });

async function givenUp() {
  const controller = new AbortController();
  const { signal } = controller;
  const waits = [
    ledger.begin(charge, "t", "k", unchecked, { waitMs: HOUR, signal }),
    entry.result({ timeoutMs: HOUR, signal }),
    outbox.changes({ after: entry.change, signal }).next(),
  ];
  await new Promise(setImmediate);
  controller.abort();
  await Promise.allSettled(waits);
}

/** What is garbage collected is freed in WebAssembly a little later. */
async function rounds(count) {
  for (let round = 0; round < count; round++) {
    await givenUp();
    if (round % 100 === 0) globalThis.gc();
  }
  globalThis.gc();
  await new Promise((resolve) => setTimeout(resolve, 20));
}

await rounds(500);
const before = memory.buffer.byteLength;
await rounds(2000);
const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
console.log(JSON.stringify({ timers, grownBytes: memory.buffer.byteLength - before }));
