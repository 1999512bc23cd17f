// What a durable commit costs beside one of native redb, in one run.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { kit, scratch } from "./kit.mjs";

const { Fingerprint, Ledger, Operation } = kit;
const program = process.env.KEYLEDGER_COMMITS;

/** What a commit is meant to take, as a multiple of redb's own. */
const BAR = 1.4;
const ROUNDS = 15;
/** What else the machine does makes a sitting worse, and none better: the first that keeps the bar counts. */
const SITTINGS = 3;
const COMMITS = 60;

/** On the disk of the build: a folder for temporary files may be in memory, where a sync costs nothing. */
function folder(t) {
  const made = mkdtempSync(join(dirname(scratch), "commits-"));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** One file's commits of bare redb, by a native program. */
function native(t, path) {
  const child = spawn(program, [path], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async () => {
    child.stdin.write(`${COMMITS}\n`);
    return Number((await lines.next()).value) / 1000 / COMMITS;
  };
}

/** As many commits of the ledger: what is begun in a ledger's own rows is stored with its answer, by one sync (E2). */
function ours(t, path) {
  const ledger = Ledger.openSync(path);
  t.after(() => ledger.closeSync());
  const body = new Uint8Array(200);
  const [operation, unchecked] = [Operation.inLedger("top-up"), Fingerprint.unchecked()];
  let next = 0;
  return () => {
    const start = performance.now();
    for (let at = 0; at < COMMITS; at++) {
      ledger.beginSync(operation, "tenant", `key-${(next += 1)}`, unchecked).claim.completeSync(body);
    }
    return ((performance.now() - start) * 1000) / COMMITS;
  };
}

const median = (numbers) => numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)];

test("a durable commit takes at most 1.4 times one of native redb", { skip: !process.env.CI && !existsSync(program ?? "") && "no native program" }, async (t) => {
  const place = folder(t);
  const [redb, ledger] = [native(t, join(place, "redb")), ours(t, join(place, "ledger.kl"))];
  let ratio = Infinity;
  for (let sitting = 0; sitting < SITTINGS && ratio > BAR; sitting++) {
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push({ redb: await redb(), ledger: ledger() });
    const [one, other] = [median(rounds.map(({ redb }) => redb)), median(rounds.map(({ ledger }) => ledger))];
    ratio = median(rounds.map(({ redb, ledger }) => ledger / redb));
    console.log(`a commit: ${other.toFixed(0)} us, of redb ${one.toFixed(0)} us; ${ratio.toFixed(2)} times, bar ${BAR}`);
  }
  assert.ok(ratio <= BAR);
});
