// Stores: how a ledger's file is made, found and refused, and that a store object belongs to one ledger, once.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync, closeSync, readFileSync, readdirSync, renameSync, statSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { folder, installed, kit, scratch } from "./kit.mjs";

const { FileStore, Fingerprint, Ledger, MemoryStore, Operation } = kit;
const { Ledger: Threaded } = await installed("./worker");
const charge = Operation.repeatable("charge");
const unchecked = Fingerprint.unchecked();
const files = folder();
const PAGE_BYTES = 4096;

/** A new folder, and the path of a ledger in it. */
function place(name) {
  const made = join(files, name);
  mkdirSync(made);
  return [made, join(made, "shop.kl")];
}

/** The bytes of a ledger in which one key is completed. */
function image() {
  const [, path] = place(`image ${readdirSync(files).length}`);
  const ledger = Ledger.openSync(path);
  ledger.beginSync(charge, "s", "k", unchecked).claim.completeSync("PAID");
  ledger.closeSync();
  return readFileSync(path);
}

test("what locking is not spelled as it is known is invalid_argument, and nothing is opened or made (P2)", () => {
  const [made, path] = place("locking");
  for (const locking of ["None", "NONE", "", "shared", null, false, 0, {}, []]) {
    assert.throws(() => Ledger.openSync(path, { locking }), { code: "invalid_argument" });
    assert.throws(() => new FileStore(path, locking), { code: "invalid_argument" });
  }
  assert.deepEqual(readdirSync(made), []);
  Ledger.openSync(path, { locking: undefined }).closeSync();
});

test("what is no path, and what a thread cannot be told, is invalid_argument, and nothing is opened or made", async () => {
  const [made, path] = place("paths");
  const refused = (words) => ({ name: "KeyledgerError", code: "invalid_argument", message: words });
  for (const given of [undefined, null, 5, {}, [], () => path, Symbol("x"), "", new URL("https://pay.example/a.kl")]) {
    const words = refused(/^a ledger's file is told by its path, or by a file: URL/);
    assert.throws(() => Ledger.openSync(given), words);
    assert.throws(() => new FileStore(given), words);
    await assert.rejects(Ledger.open(given), words);
    await assert.rejects(Threaded.open(given), words);
  }
  const clock = { wallMs: () => 0, monotonicMs: () => 0 };
  await assert.rejects(Threaded.open(path, { clock }), refused(/^a clock cannot go to the thread that has the ledger; open the ledger where/));
  await assert.rejects(Threaded.open(path, { lock: "none" }), refused(/^Ledger.open has no setting lock; it has/));
  await assert.rejects(Threaded.open(path, null), refused(/takes an object of settings; this is null/));
  await assert.rejects(Threaded.open(path, { locking: () => "none" }), refused(/^locking is "flock" or "none"; not a function$/));
  await assert.rejects(Threaded.open(path, { cacheBytes: () => 1 }), refused(/^the cacheBytes of a ledger is a number/));
  assert.deepEqual(readdirSync(made), []);
  await (await Threaded.open(pathToFileURL(path), { locking: undefined })).close();
});

test("a store object is one ledger's: a second one is told already_open, and closed when the first is closed", () => {
  const [, path] = place("twice");
  for (const store of [new FileStore(path), new MemoryStore()]) {
    const ledger = Ledger.on(store);
    assert.throws(() => Ledger.on(store), { code: "already_open" });
    assert.equal(ledger.beginSync(charge, "s", "k", unchecked).kind, "acquired");
    ledger.closeSync();
    assert.throws(() => Ledger.on(store), { code: "closed" });
  }
});

test("a closed file store touches no file: its number may be another file's by then", () => {
  const [made, path] = place("closed");
  const store = new FileStore(path);
  Ledger.on(store).closeSync();
  const other = join(made, "photos.txt");
  const fd = openSync(other, "w+");
  writeSync(fd, "holiday photos");
  const bytes = new Uint8Array(4);
  for (const call of [
    () => store.length(),
    () => store.read(0, bytes),
    () => store.write(0, bytes),
    () => store.setLength(0),
    () => store.sync(),
    () => Ledger.on(store),
  ]) {
    assert.throws(call, { code: "closed" });
  }
  store.close();
  writeSync(fd, ", summer");
  closeSync(fd);
  assert.equal(readFileSync(other, "utf8"), "holiday photos, summer");
});

/** What is no ledger, by what it is, and the code that it is refused with. */
const REFUSED = {
  "an empty file": ["wrong_format", () => Buffer.alloc(0)],
  "one zero": ["wrong_format", () => Buffer.alloc(1)],
  "a page of zeros": ["wrong_format", () => Buffer.alloc(PAGE_BYTES)],
  "two pages of zeros": ["wrong_format", () => Buffer.alloc(2 * PAGE_BYTES)],
  text: ["wrong_format", () => Buffer.from("hello")],
  "a ledger that was cut to a page": ["corrupt", () => image().subarray(0, PAGE_BYTES)],
  "a ledger that was cut to its first bytes": ["corrupt", () => image().subarray(0, 30)],
  "a creation that was cut short": ["corrupt", () => creating(image())],
};

/** The same file, had its creation been cut short before the end: its header says so, under its checksum (docs/format.md). */
function creating(whole) {
  whole.writeUInt32BE(1, 20);
  const digest = execFileSync("sha256sum", { input: whole.subarray(0, 40) }).toString().slice(0, 64);
  whole.write(digest, 40, "hex");
  return whole;
}

for (const [what, [code, bytes]] of Object.entries(REFUSED)) {
  test(`${what} is refused as ${code}, and not a byte of it is changed (I9)`, () => {
    const [made, path] = place(what);
    const before = bytes();
    writeFileSync(path, before);
    for (const locking of ["flock", "none"]) {
      assert.throws(() => Ledger.openSync(path, { locking }), { code });
      assert.ok(before.equals(readFileSync(path)));
    }
    assert.deepEqual(readdirSync(made), [basename(path)]);
  });
}

test("a folder, a pipe and a name that leads nowhere are refused, and nothing is left behind (I9, P5)", () => {
  const [made, path] = place("kinds");
  assert.throws(() => Ledger.openSync(made), { code: "wrong_format" });
  execFileSync("mkfifo", [path]);
  assert.throws(() => Ledger.openSync(path), { code: "wrong_format" });
  const nowhere = join(made, "link.kl");
  symlinkSync(join(made, "gone.kl"), nowhere);
  assert.throws(() => Ledger.openSync(nowhere), { code: "unavailable" });
  assert.throws(() => Ledger.openSync(join(made, "none", "shop.kl")), { code: "unavailable" });
  assert.deepEqual(readdirSync(made).sort(), ["link.kl", "shop.kl"]);
});

test("a new file has no name until it is a whole ledger, and then its own, for its owner alone (P5)", () => {
  const [made, path] = place("new");
  const store = new FileStore(path);
  assert.ok(!existsSync(path));
  const [temporary] = readdirSync(made);
  assert.match(temporary, /^\.shop\.kl\..*\.new$/);
  const ledger = Ledger.on(store);
  assert.deepEqual(readdirSync(made), ["shop.kl"]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.throws(() => Ledger.openSync(path), { code: "already_open" });
  ledger.closeSync();
  const unused = new FileStore(join(made, "unused.kl"));
  unused.close();
  assert.deepEqual(readdirSync(made), ["shop.kl"]);
});

test("who is killed while the file is made leaves no ledger at the path, and the next one makes it (P5)", async () => {
  const [made, path] = place("killed");
  const entry = pathToFileURL(join(scratch, "node_modules/keyledger/dist/node.js")).href;
  const script = `
    const { FileStore, Ledger } = await import(${JSON.stringify(entry)});
    const store = new FileStore(${JSON.stringify(path)});
    let writes = 0;
    const write = store.write.bind(store);
    store.write = (...words) => (++writes > 3 ? process.kill(process.pid, "SIGKILL") : write(...words));
    Ledger.on(store);`;
  const [, signal] = await once(spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: "inherit" }), "exit");
  assert.equal(signal, "SIGKILL");
  assert.ok(!existsSync(path));
  assert.equal(readdirSync(made).length, 1, "what is left over has a temporary name");
  const ledger = Ledger.openSync(path);
  assert.equal(ledger.beginSync(charge, "s", "k", unchecked).kind, "acquired");
  ledger.closeSync();
});

test("of two that make the same ledger one is first, and the other opens that one's (P5)", () => {
  const [made, path] = place("race");
  const [first, second] = [new FileStore(path, "none"), new FileStore(path, "none")];
  const ledger = Ledger.on(first);
  ledger.beginSync(charge, "s", "k", unchecked).claim.completeSync("PAID");
  ledger.closeSync();
  assert.throws(() => Ledger.on(second), { code: "unavailable" });
  assert.deepEqual(readdirSync(made), ["shop.kl"]);
  const again = Ledger.openSync(path);
  assert.equal(again.lookupSync(charge, "s", "k").text(), "PAID");
  again.closeSync();
});

test("resume and reopen make no file: a path that vanished is unavailable, until the file is back (P6)", async () => {
  const [made, path] = place("vanished");
  const store = new FileStore(path);
  const ledger = Ledger.on(store);
  ledger.beginSync(charge, "s", "k", unchecked).claim.completeSync("PAID");
  const [away, calls] = [join(files, "away.kl"), { resume: () => ledger.resume(), resumeSync: async () => ledger.resumeSync() }];
  for (const [name, call] of Object.entries(calls)) {
    ledger.suspend();
    renameSync(path, away);
    await assert.rejects(call(), { code: "unavailable" }, name);
    assert.deepEqual(readdirSync(made), [], name);
    renameSync(away, path);
    await call();
    assert.equal(ledger.lookupSync(charge, "s", "k").text(), "PAID", name);
  }
  store.sync = () => {
    throw new Error("the disk is gone");
  };
  assert.throws(() => ledger.beginSync(charge, "s", "k2", unchecked));
  delete store.sync;
  renameSync(path, away);
  assert.throws(() => ledger.reopen(), { code: "unavailable" });
  assert.deepEqual(readdirSync(made), []);
  writeFileSync(path, "another file");
  assert.throws(() => ledger.reopen(), { code: "unavailable" });
  assert.equal(readFileSync(path, "utf8"), "another file");
  renameSync(away, path);
  ledger.reopen();
  assert.equal(ledger.lookupSync(charge, "s", "k").text(), "PAID");
  ledger.closeSync();
});

test("a ledger that is suspended or closed says so by its code, whatever is asked of its store (P6, P7)", async () => {
  const [, path] = place("codes");
  for (const ledger of [Ledger.inMemorySync(), Ledger.openSync(path)]) {
    ledger.suspend();
    assert.throws(() => ledger.snapshot(), { code: "suspended" });
    ledger.resumeSync();
    ledger.closeSync();
    assert.throws(() => ledger.snapshot(), { code: "closed" });
    assert.throws(() => ledger.resumeSync(), { code: "closed" });
    await assert.rejects(ledger.resume(), { code: "closed" });
    assert.throws(() => ledger.reopen(), { code: "closed" });
  }
});
