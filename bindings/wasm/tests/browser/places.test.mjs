// Where a browser does not let a ledger be: each is told by a code and says what to do. And what is elsewhere than the package has it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { launch, profile, serve } from "./stage.mjs";

const INSTALLED = join(process.env.KEYLEDGER_SCRATCH, "node_modules/keyledger");
const LIMIT = { timeout: 60_000 };
const typed = (type, text) => (request, response) => void response.setHeader("content-type", type).end(text);

/** Pages under a policy of their own. */
const under = (policy) => (request, response) =>
  void response.setHeader("content-security-policy", policy).setHeader("content-type", "text/html").end(readFileSync(new URL("page.html", import.meta.url)));

const SERVICE = `
  import { Ledger } from "/keyledger/dist/browser.js";
  import { Ledger as Direct } from "/keyledger/dist/browser/direct.js";
  onmessage = async ({ source }) => {
    const opened = [Ledger, Direct].map((each) => each.open("shop").catch(({ code, message }) => [code, message]));
    source.postMessage(await Promise.all(opened));
  };
`;
const OWN = `
  import { Ledger } from "/keyledger/dist/browser/direct.js";
  Ledger.open("mine").then(() => postMessage("open"), ({ code, message }) => postMessage([code, message]));
`;
let fetched = 0;
const server = await serve({
  "/tests/browser/no-wasm.html": under("script-src 'self' 'unsafe-inline'"),
  "/tests/browser/no-worker.html": under("worker-src 'none'"),
  "/service.mjs": typed("text/javascript", SERVICE),
  "/own.mjs": typed("text/javascript", OWN),
  "/page.wasm": typed("text/html", "<!doctype html>"),
  "/elsewhere/module.wasm": (request, response) => {
    fetched += 1;
    typed("application/wasm", readFileSync(join(INSTALLED, "dist/native/keyledger_bg.wasm")))(request, response);
  },
});
after(() => server.close());

async function opened(t, url = server.page, args) {
  const context = await launch(profile(), args);
  t.after(() => context.close().catch(() => undefined));
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForFunction(() => globalThis.tab);
  return page;
}
const refusal = (page, options) =>
  page.evaluate((options) => tab.keyledger.Ledger.open("shop", options).then(() => "open", ({ code, message }) => [code, message]), options);
const says = ([code, message], words) => (assert.equal(code, "unavailable"), assert.match(message, words));

test("a page that is not secure is told so", LIMIT, async (t) => {
  const { port } = new URL(server.origin);
  const page = await opened(t, `http://shop.test:${port}/tests/browser/page.html`, ["--host-resolver-rules=MAP shop.test 127.0.0.1"]);
  says(await refusal(page), /over https or on localhost/);
});

test("a policy that lets no module be compiled, or no worker run, is named", LIMIT, async (t) => {
  const page = await opened(t, `${server.origin}/tests/browser/no-wasm.html`);
  says(await refusal(page), /'wasm-unsafe-eval'/);
  await page.goto(`${server.origin}/tests/browser/no-worker.html`);
  await page.waitForFunction(() => globalThis.tab);
  says(await refusal(page), /worker-src/);
});

test("a service worker has no ledger, and is told where one is", LIMIT, async (t) => {
  const page = await opened(t);
  const told = await page.evaluate(async () => {
    const answer = new Promise((resolve) => (navigator.serviceWorker.onmessage = ({ data }) => resolve(data)));
    await navigator.serviceWorker.register("/service.mjs", { type: "module", scope: "/" });
    const { active } = await navigator.serviceWorker.ready;
    active.postMessage(null);
    return answer;
  });
  says(told[0], /open the ledger in a page/);
  says(told[1], /only a dedicated worker/);
});

test("the module can be elsewhere, for the page and its worker; where it is not, that is said, and the next try is a new one", LIMIT, async (t) => {
  const page = await opened(t);
  says(await refusal(page, { module: "/nowhere.wasm" }), /say where it is \(keyledger\/wasm\)/);
  says(await refusal(page, { module: "/page.wasm" }), /something else came in its place: .*optimizeDeps: \{ exclude: \["keyledger"\] \}/);
  assert.equal(await refusal(page, { module: "/elsewhere/module.wasm" }), "open");
  assert.equal(fetched, 2);
});

test("a worker whose script is not there is told of", LIMIT, async (t) => {
  const page = await opened(t);
  const told = await page.evaluate(() =>
    tab.keyledger.Ledger.open("shop", { worker: () => new Worker("/nowhere.js", { type: "module" }) }).catch(({ code, message }) => [code, message]),
  );
  says(told, /its script was not found.*optimizeDeps: \{ exclude: \["keyledger"\] \}/);
});

test("the second worker of one's own is told that all tabs have a ledger otherwise", LIMIT, async (t) => {
  const page = await opened(t);
  const start = () =>
    page.evaluate(() => new Promise((resolve) => ((globalThis.kept ??= []).push(new Worker("/own.mjs", { type: "module" })), (kept.at(-1).onmessage = ({ data }) => resolve(data)))));
  assert.equal(await start(), "open");
  const [code, message] = await start();
  assert.equal(code, "already_open");
  assert.match(message, /all of them by the page's own Ledger.open/);
});
