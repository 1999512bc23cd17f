// What every language runs, in a browser.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, test } from "node:test";
import { launch, profile, serve } from "./stage.mjs";

const server = await serve();
after(() => server.close());

const FOLDER = new URL("../../../conformance/", import.meta.url);
const only = process.env.KEYLEDGER_SCENARIOS ?? "";
const names = readdirSync(FOLDER).filter((name) => /^(?!http|vectors).*\.json$/.test(name) && name.startsWith(only));

test("every scenario of the core passes in a worker of a browser, in memory and in a file, and every vector", async (t) => {
  const context = await launch(profile());
  t.after(() => context.close());
  const page = await context.newPage();
  page.on("console", (message) => console.log(message.text()));
  await page.goto(server.page);
  const told = await page.evaluate(
    (names) =>
      new Promise((resolve, reject) => {
        const worker = new Worker("/tests/browser/conformance-worker.mjs", { type: "module" });
        worker.onerror = (event) => reject(new Error(event.message));
        worker.onmessage = ({ data }) => (data === "ready" ? worker.postMessage(names) : resolve(data));
      }),
    names.sort(),
  );
  assert.deepEqual(told.failed, []);
  console.log(`${told.passed} scenarios and ${told.vectors} vectors; ${told.left} are of bytes that JavaScript has no text for`);
  assert.ok(told.passed > 600 && told.vectors > 150, JSON.stringify(told));
});
