// The blocks of README.md and of docs/javascript.md, run as they stand in the scratch project.

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { fileURLToPath, pathToFileURL } from "node:url";
import { folder, scratch } from "./kit.mjs";
import { server } from "./outbox-kit.mjs";
import { GUIDE, blocksOf, programsOf } from "./texts.mjs";

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

test("the lines for Node work, twice, and charge once", () => {
  const [, code] = /## Node\n\n```js\n([^]*?)```/.exec(README);
  writeFileSync(join(scratch, "readme.mjs"), code);
  rmSync(join(scratch, "payments.kl"), { force: true });
  const run = () => execFileSync(process.execPath, ["readme.mjs"], { cwd: scratch, encoding: "utf8" });
  assert.equal(run(), "{ charged: 1200 }\n");
  assert.equal(run(), "{ charged: 1200 }\n");
});

test("the lines for the outbox work, twice, and ask the server once", async (t) => {
  const { seen, url } = await server(t, [{ status: 201 }]);
  const [, code] = /## Outbox\n\n```js\n([^]*?)```/.exec(README);
  writeFileSync(join(scratch, "readme-outbox.mjs"), code.replace("https://bank.example/charges", url));
  rmSync(join(scratch, "outgoing.kl"), { force: true });
  const run = () => promisify(execFile)(process.execPath, ["readme-outbox.mjs"], { cwd: scratch });
  assert.equal((await run()).stdout, "201\n");
  assert.equal((await run()).stdout, "201\n");
  assert.equal(seen.length, 1);
});

test("the package is the same by require", () => {
  const code = 'const { Ledger } = require("keyledger"); Ledger.inMemorySync().closeSync(); console.log("closed");';
  assert.equal(execFileSync(process.execPath, ["-e", code], { cwd: scratch, encoding: "utf8" }), "closed\n");
});

test("by require, too, what the entries share is one: errors, outcomes, and the ledger of a thread of its own", () => {
  const code = `
    const { DeliveryOutcome, Fingerprint, KeyledgerError, Ledger, Operation } = require("keyledger");
    const { ScriptedTransport } = require("keyledger/testing");
    const { Ledger: Threaded } = require("keyledger/worker");
    (async () => {
      const ledger = Ledger.inMemorySync();
      const outbox = ledger.outbox();
      await outbox.enqueue("x", { scope: "u", operation: "o" });
      console.log((await outbox.drain("u", new ScriptedTransport([DeliveryOutcome.yes("paid")]))).counts.answered);
      const threaded = await Threaded.open(process.argv[1]);
      const refused = await threaded.begin(Operation.repeatable("o"), "", "k", Fingerprint.unchecked()).catch((error) => error);
      console.log(refused instanceof KeyledgerError, refused.code);
      await threaded.close();
    })();
  `;
  const told = execFileSync(process.execPath, ["--input-type=commonjs", "-e", code, join(folder(), "required.kl")], { cwd: scratch, encoding: "utf8" });
  assert.equal(told, "1\ntrue invalid_key\n");
});

test("the lines for fetch handlers work: once, again, another body, no key, nobody", async () => {
  const [, code] = /## Fetch handlers\n[^]*?```js\n([^]*?)```/.exec(README);
  writeFileSync(join(scratch, "readme-fetch.mjs"), code.replace('"payments.kl"', JSON.stringify(join(folder(), "payments.kl"))));
  const { default: app } = await import(pathToFileURL(join(scratch, "readme-fetch.mjs")).href);
  const ask = async (body, own = {}) => {
    const headers = { authorization: "Bearer of-ada", "idempotency-key": '"key-1"', ...own };
    const { status, headers: told } = await app.fetch(new Request("https://pay.example/charges", { method: "POST", body, headers }));
    return [status, told.get("idempotent-replayed")];
  };
  assert.deepEqual(await ask('{"amount":5}'), [201, null]);
  assert.deepEqual(await ask('{ "amount": 5 }', { "content-type": "application/json" }), [422, null]);
  assert.deepEqual(await ask('{"amount":5}'), [201, "true"]);
  assert.deepEqual(await ask('{"amount":6}'), [422, null]);
  assert.deepEqual(await ask('{"amount":5}', { "idempotency-key": "" }), [400, null]);
  assert.deepEqual(await ask('{"amount":5}', { authorization: "" }), [401, null]);
  await app.fetch.idle();
});

/** What is loaded by `fetch` from beside the file is read from there. */
const FROM_FILES = `
import { readFileSync as readModule } from "node:fs";
globalThis.fetch = async (url) => new Response(readModule(new URL(url)), { headers: { "content-type": "application/wasm" } });
`;

/** How each program of the guide is run here; the suites of the other platforms run theirs. */
const HERE = {
  "": { words: [], code: (code) => code },
  test: { words: ["--test"], code: (code) => code },
  // The file that is meant, where Node has another for its name.
  memory: { words: [], code: (code) => FROM_FILES + code.replace("keyledger/memory", "./node_modules/keyledger/dist/memory.js") },
};
const ELSEWHERE = ["browser", "durable-object"];
/** What is no program: Deno's permissions are tried in Deno, the rest by tsc. */
const NO_PROGRAMS = ["sh deno", "jsonc tsconfig", "ts "];

/** Runs a program in a folder of the scratch project: twice, where it leaves a file to a second run. */
async function ran({ code, how }) {
  const hono = join(scratch, "node_modules/hono");
  if (!existsSync(hono)) symlinkSync(fileURLToPath(new URL("../../node_modules/hono", import.meta.url)), hono, "junction");
  const at = mkdtempSync(join(scratch, "guide-"));
  symlinkSync(join(scratch, "node_modules"), join(at, "node_modules"), "junction");
  writeFileSync(join(at, "program.mjs"), HERE[how].code(code));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  try {
    const run = () => promisify(execFile)(process.execPath, [...HERE[how].words, "program.mjs"], { cwd: at, env, timeout: 60_000 });
    await run();
    if (/\.kl"/.test(code)) await run();
  } finally {
    rmSync(at, { recursive: true });
  }
}

for (const program of programsOf(GUIDE).filter(({ how }) => !ELSEWHERE.includes(how))) {
  test(`the guide, line ${program.line}: ${program.heading}`, async () => {
    assert.ok(HERE[program.how], `${program.how} is no way to run a block`);
    await ran(program);
    // Under the name that it has, it is Node's own.
    if (program.how === "memory") await ran({ ...program, how: "" });
  });
}

test("there is no block in the guide that nobody runs", () => {
  const kinds = new Set(blocksOf(GUIDE).map(({ language, how }) => `${language} ${how}`));
  const run = [...Object.keys(HERE), ...ELSEWHERE, "continued"].map((how) => `js ${how}`);
  assert.deepEqual([...kinds].sort(), [...run, ...NO_PROGRAMS].sort());
  const fences = blocksOf(GUIDE).map(({ prints }) => (prints === undefined ? 2 : 4));
  assert.equal(fences.reduce((sum, one) => sum + one), GUIDE.match(/^```/gm).length);
  assert.ok(blocksOf(GUIDE).every(({ language, prints }) => prints === undefined || language === "ts"), "what else prints is not looked at");
});

test("a block of a text that is wrong is found", async () => {
  const [wrong, test, memory] = programsOf(
    "```js\nlet x = 1;\n```\n\n```js continued\nif (x === 1) throw x;\n```\n\n" +
      '```js test\nimport { test } from "node:test";\ntest("it", () => { throw 1; });\n```\n\n' +
      '```js memory\nimport { Fingerprint } from "keyledger/memory";\nFingerprint.ofJson({});\n```\n',
  );
  for (const one of [wrong, test, memory]) await assert.rejects(ran(one), { code: 1 });
});
