// The blocks of README.md, run as they stand in the scratch project.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scratch } from "./kit.mjs";

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

test("the lines for Node work, twice, and charge once", () => {
  const [, code] = /## Node\n\n```js\n([^]*?)```/.exec(README);
  writeFileSync(join(scratch, "readme.mjs"), code);
  rmSync(join(scratch, "payments.kl"), { force: true });
  const run = () => execFileSync(process.execPath, ["readme.mjs"], { cwd: scratch, encoding: "utf8" });
  assert.equal(run(), "{ charged: 1200 }\n");
  assert.equal(run(), "{ charged: 1200 }\n");
});

test("the package is the same by require", () => {
  const code = 'const { Ledger } = require("keyledger"); Ledger.inMemorySync().closeSync(); console.log("closed");';
  assert.equal(execFileSync(process.execPath, ["-e", code], { cwd: scratch, encoding: "utf8" }), "closed\n");
});
