// The blocks of README.md, run as they stand in the scratch project.

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { pathToFileURL } from "node:url";
import { folder, scratch } from "./kit.mjs";
import { server } from "./outbox-kit.mjs";

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
