// Deno and Bun run every scenario and every vector.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

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
