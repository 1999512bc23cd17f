// Deno and Bun run every scenario and every vector; Deno's permissions are those of the guide.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { scratch } from "../node/kit.mjs";
import { GUIDE, blocksOf } from "../node/texts.mjs";

const RUNNER = fileURLToPath(new URL("everything.mjs", import.meta.url));
const TOOLS = join(process.env.KEYLEDGER_PACKAGING, "node_modules/.bin");

for (const [name, words] of Object.entries({ deno: ["run", "--quiet", "--allow-all"], bun: [] })) {
  test(`${name} runs every scenario`, () => {
    const { stdout, stderr, status } = spawnSync(join(TOOLS, name), [...words, RUNNER], { encoding: "utf8", maxBuffer: 1 << 26 });
    const [, said] = /^told (.*)$/m.exec(stdout) ?? [];
    assert.ok(said, `${name} has ended with ${status}: ${stderr}`);
    const { core, http, vectors, failed } = JSON.parse(said);
    assert.deepEqual(failed, []);
    console.log(`${name}: ${core} scenarios of the core, ${http} of HTTP, ${vectors} vectors`);
    assert.ok(core > 400 && http > 150 && vectors > 150);
  });
}

test("Deno opens a file with the permissions of the guide, and is told which of them is missing", () => {
  const [{ code }] = blocksOf(GUIDE).filter(({ how }) => how === "deno");
  const words = code.trim().split(/ +/);
  assert.equal(words.shift(), "deno");
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  assert.ok(readme.includes(`\`${words.slice(1, -1).join(" ")}\``), "the README has the same");
  const program = 'import { Ledger } from "keyledger"; try { const ledger = await Ledger.open("deno.kl"); await ledger.close(); console.log("opened"); }';
  writeFileSync(join(scratch, words.at(-1)), `${program} catch (error) { console.log(error.code, error.message); }`);
  // cargo sets LD_LIBRARY_PATH; Deno lets nobody run a single program with what changes which libraries are loaded.
  const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(LD|DYLD)_/.test(name)));
  const said = (without, more = {}) => {
    const allowed = words.filter((word) => !word.startsWith(`--allow-${without}`));
    const env = { ...own, DENO_NO_UPDATE_CHECK: "1", ...more };
    return spawnSync(join(TOOLS, "deno"), ["run", "--no-prompt", ...allowed.slice(1)], { cwd: scratch, env, encoding: "utf8" }).stdout;
  };
  assert.equal(said("nothing"), "opened\n");
  assert.match(said("nothing", { LD_LIBRARY_PATH: "/usr/lib" }), /^unavailable .* all of --allow-run where LD_LIBRARY_PATH or the like is set;/);
  for (const without of ["run", "env"]) assert.match(said(without), /^unavailable .* may not run the program flock; .*--allow-run=flock --allow-env=NODE_V8_COVERAGE/);
});
