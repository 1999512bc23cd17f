// What TypeScript makes of the package, strictly: tests/types is compiled against the installed one.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { scratch } from "./kit.mjs";
import { GUIDE, blocksOf } from "./texts.mjs";

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const LIBRARIES = "es2024,esnext.disposable,dom,dom.iterable,dom.asynciterable";
const WORDS = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--lib", LIBRARIES];

test("what is written by the types compiles; what forgets a scope, an effect, a fingerprint or to wait does not (H3, L2)", () => {
  const folder = join(scratch, "types");
  cpSync(new URL("../types", import.meta.url), folder, { recursive: true });
  const files = readdirSync(folder).map((file) => join(folder, file));
  execFileSync(process.execPath, [TSC, ...WORDS, ...files], { cwd: scratch, stdio: "inherit" });
});

test("the lines of the guide for TypeScript compile with its settings, the package's types read strictly, and run", () => {
  const folder = join(scratch, "guide-types");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const [{ code: settings }] = blocksOf(GUIDE).filter(({ how }) => how === "tsconfig");
  const programs = blocksOf(GUIDE).filter(({ language }) => language === "ts");
  assert.equal(programs.length, 2);
  writeFileSync(join(folder, "tsconfig.json"), settings);
  for (const { line, code } of programs) writeFileSync(join(folder, `line-${line}.ts`), code);
  execFileSync(process.execPath, [TSC, "-p", folder], { cwd: scratch, stdio: "inherit" });
  for (const { line, prints } of programs) assert.equal(execFileSync(process.execPath, [`line-${line}.js`], { cwd: folder, encoding: "utf8" }), prints);
});

test("the first lines of the README are strict TypeScript as they stand", () => {
  const folder = join(scratch, "readme-types");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const shown = blocksOf(README).filter(({ heading }) => ["## Node", "## Outbox", "## Fetch handlers"].includes(heading));
  assert.equal(shown.length, 3);
  const files = shown.map(({ line, code }) => {
    const file = join(folder, `line-${line}.mts`);
    writeFileSync(file, code);
    return file;
  });
  execFileSync(process.execPath, [TSC, ...WORDS, ...files], { cwd: scratch, stdio: "inherit" });
});

test("a CommonJS module has the types of every entry that Node can require", () => {
  const file = join(scratch, "required.cts");
  const code = `
    import { DeliveryOutcome, Ledger } from "keyledger";
    import { ScriptedTransport } from "keyledger/testing";
    import { Ledger as Threaded } from "keyledger/worker";
    export const sent = Ledger.inMemorySync().outbox().drain("u", new ScriptedTransport([DeliveryOutcome.yes("paid")]));
    export const threaded = Threaded.open("a.kl").then((ledger) => ledger.newKey());
  `;
  writeFileSync(file, code);
  const words = WORDS.map((word) => (word === "nodenext" ? "node16" : word));
  execFileSync(process.execPath, [TSC, ...words, file], { cwd: scratch, stdio: "inherit" });
});
