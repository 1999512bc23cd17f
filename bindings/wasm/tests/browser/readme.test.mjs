// The lines for browsers in README.md and docs/javascript.md, run as they stand.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { programOf } from "../node/texts.mjs";
import { launch, profile, serve } from "./stage.mjs";

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

const OF_ALL_TABS = /### The outbox of all tabs\n\n```js\n([^]*?)```/.exec(README)[1];

for (const [where, code, given] of [
  ["README", OF_ALL_TABS, { cookie: "session=ada" }],
  ["guide", programOf("browser"), { authorization: "Bearer of-ann" }],
]) {
  test(`the lines of the ${where} for the outbox of all tabs work, twice, and order once, with the credentials of whoever is signed in`, async (t) => {
    const seen = [];
    const orders = (request, response) => {
      const { "idempotency-key": key, cookie, authorization } = request.headers;
      seen.push([key, { cookie, authorization }]);
      response.writeHead(201).end("ordered");
    };
    const server = await serve({ "/orders": orders });
    after(() => server.close());
    const context = await launch(profile());
    t.after(() => context.close());
    const page = await context.newPage();
    for (let time = 0; time < 2; time += 1) {
      await page.goto(server.page);
      await page.evaluate(() => (document.cookie = "session=ada; path=/"));
      await page.addScriptTag({ type: "module", content: code });
      await page.waitForFunction(() => document.title === "ordered");
    }
    assert.deepEqual(seen, [[seen[0][0], { cookie: undefined, authorization: undefined, ...given }]]);
  });
}

test("the lines for browsers work, twice, and order once", async (t) => {
  const server = await serve();
  after(() => server.close());
  const context = await launch(profile());
  t.after(() => context.close());
  const page = await context.newPage();
  const [, code] = /## Browser\n\n```js\n([^]*?)```/.exec(README);
  for (const ordered of [["basket 7"], []]) {
    await page.goto(server.page);
    await page.evaluate(() => (globalThis.orders = []));
    await page.addScriptTag({ type: "module", content: code.replace("return `ordered", "globalThis.orders.push('basket 7'); return `ordered") });
    await page.waitForFunction(() => document.title === "ordered basket 7");
    assert.deepEqual(await page.evaluate(() => globalThis.orders), ordered);
  }
});
