// What TypeScript makes of the package, strictly: tests/types is compiled against the installed one.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";
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

/** What is shown over a member, by the exported name of what has it: a class of ours inherits the words of what it implements. */
function wordsOver(entry, names) {
  const program = ts.createProgram([entry], { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, target: ts.ScriptTarget.ES2022, types: [] });
  const checker = program.getTypeChecker();
  const told = (symbol) => ts.displayPartsToString(symbol.getDocumentationComment(checker));
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)));
  return names.flatMap((name) => {
    const symbol = checker.getAliasedSymbol(exported.find((one) => one.name === name));
    const members = [...symbol.members.values(), ...(symbol.exports?.values() ?? [])];
    const isShown = ({ name, flags }) => !/^__/.test(name) && !["prototype", "kind", "name", "#private"].includes(name) && !(flags & ts.SymbolFlags.TypeParameter);
    const shown = members.filter(isShown);
    return [[name, told(symbol)], ...shown.map((one) => [`${name}.${one.name}`, told(one)])];
  });
}

test("an editor has words for every call of a ledger, a claim and an outbox, and for every setting and member of what they take and tell", () => {
  const dist = join(scratch, "node_modules/keyledger/dist");
  const values = ["Operation", "OperationSettings", "Fingerprint", "KeyId", "Members", "BeginOptions", "RunOptions", "ForgetOptions", "OutboxSettings"];
  const told = ["Acquired", "Replay", "InProgress", "Parked", "RecordView", "Filter", "Forgotten", "Swept", "Stats", "FileCheck", "KeyledgerError", "Refused", "ReplayedFailure"];
  const here = wordsOver(join(dist, "node.d.ts"), ["LedgerHandle", "Claim", "Outbox", "AnyLedger", "AnyClaim", ...values, ...told]);
  const elsewhere = wordsOver(join(dist, "browser.d.ts"), ["RemoteLedger", "RemoteClaim", "RemoteOutbox"]);
  assert.ok(here.length > 200 && elsewhere.length > 60, "they are not found");
  assert.deepEqual([...here, ...elsewhere].filter(([, words]) => words === "").map(([name]) => name), []);
  const defaults = { leaseMs: "30 s", retentionMs: "24 h", tombstoneMs: "7 days", rememberedForMs: "24 h", maxAttempts: "20" };
  for (const [name, number] of Object.entries(defaults)) assert.ok(Object.fromEntries(here)[`OperationSettings.${name}`].endsWith(`Absent: ${number}.`), name);
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
