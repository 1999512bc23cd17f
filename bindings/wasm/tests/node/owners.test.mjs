// One process, and one thread of it, has a file; a panic stays with the ledger that it happened in.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import cluster from "node:cluster";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { folder, kit, scratch } from "./kit.mjs";

const { Fingerprint, Ledger, MemoryStore, Operation } = kit;
const CHILD = fileURLToPath(new URL("owners-child.mjs", import.meta.url));
const charge = Operation.repeatable("charge");
const files = folder();

/** What somebody else is told who opens this file. */
const told = {
  "a worker thread": async (path) => {
    const thread = new Worker(CHILD, { workerData: path });
    const [[answer]] = await Promise.all([once(thread, "message"), once(thread, "exit")]);
    return answer;
  },
  "a worker of cluster": async (path) => {
    cluster.setupPrimary({ exec: CHILD, args: [path] });
    const worker = cluster.fork();
    const [[answer]] = await Promise.all([once(worker, "message"), once(worker, "exit")]);
    return answer;
  },
};

for (const [who, ask] of Object.entries(told)) {
  test(`${who} is told already_open, with advice, and gets in when the file is closed (P2)`, async () => {
    const path = join(files, `${who.replaceAll(" ", "-")}.kl`);
    const ledger = await Ledger.open(path);
    const refused = await ask(path);
    assert.equal(refused.code, "already_open");
    assert.match(refused.message, /cluster or pm2: the primary/);
    assert.ok(refused.message.includes(path));
    await ledger.close();
    assert.deepEqual(await ask(path), { code: "opened" });
  });
}

/** A store on bytes that nobody has checked. */
class DamagedStore extends MemoryStore {
  constructor(image) {
    super();
    this.write(0, image);
  }
}

/** The bytes of a ledger that was closed. */
async function image() {
  const store = new MemoryStore();
  const ledger = Ledger.on(store);
  for (let at = 0; at < 20; at++) await ledger.run(charge, "t", `k${at}`, Fingerprint.unchecked(), () => "done");
  await ledger.close();
  const bytes = new Uint8Array(store.length());
  store.read(0, bytes);
  return bytes;
}

test("whatever is wrong with the bytes of one ledger, the others of the instance go on", async (t) => {
  const other = Ledger.on(new MemoryStore());
  t.after(() => other.close());
  const whole = await image();
  const met = { well: 0 };
  const used = [...whole.keys()].filter((at) => whole[at] !== 0);
  const places = used.filter((_, index) => index % Math.ceil(used.length / 150) === 0);
  for (const at of places) {
    const damaged = whole.slice();
    damaged[at] ^= 0xff;
    try {
      const ledger = Ledger.on(new DamagedStore(damaged));
      ledger.lookupSync(charge, "t", "k7");
      ledger.beginSync(charge, "t", `new${at}`, Fingerprint.unchecked());
      ledger.closeSync();
      met.well += 1;
    } catch (error) {
      assert.ok(!(error instanceof WebAssembly.RuntimeError), `a trap, at byte ${at}: ${error.stack}`);
      const what = error.code ?? error.name;
      met[what] = (met[what] ?? 0) + 1;
    }
    assert.equal(other.beginSync(charge, "t", `beside${at}`, Fingerprint.unchecked()).kind, "acquired");
  }
  console.log(`${places.length} damaged images: ${JSON.stringify(met)}`);
  assert.ok(met.corrupt > 0, "no damage was met");
});

test("where the program flock is missing, or may not be run, the error says which", () => {
  const program = 'import { Ledger } from "keyledger"; try { Ledger.openSync("flock.kl"); } catch (error) { console.log(error.code, error.message); }';
  const said = (words, env) =>
    execFileSync(process.execPath, [...words, "--input-type=module", "-e", program], { cwd: scratch, env, encoding: "utf8" });
  assert.match(said([], { PATH: files }), /^unavailable .* flock \(of util-linux\) is not there; install it, or say locking: "none"/);
  const [read, write] = ["--allow-fs-read=*", "--allow-fs-write=*"];
  assert.match(said(["--no-warnings", "--experimental-permission", read, write], {}), /^unavailable .* may not run the program flock; .* --allow-child-process/);
});
