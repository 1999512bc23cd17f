// A real browser, a server for its pages, and what the pages have told that server.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const INSTALLED = join(process.env.KEYLEDGER_SCRATCH, "node_modules/keyledger");
const HERE = fileURLToPath(new URL(".", import.meta.url));
const CONFORMANCE = fileURLToPath(new URL("../../../conformance/", import.meta.url));
const PLACES = { "/keyledger/": INSTALLED, "/tests/": join(HERE, ".."), "/conformance/": CONFORMANCE };
const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".html": "text/html", ".json": "application/json", ".wasm": "application/wasm" };

/** Serves the installed package, the pages and `routes`; `told` has what pages have sent to `/told`, in order. */
export async function serve(routes = {}) {
  const told = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    if (pathname === "/told") {
      let text = "";
      for await (const chunk of request) text += chunk;
      told.push(JSON.parse(text));
      return void response.end("{}");
    }
    if (routes[pathname]) return void routes[pathname](request, response);
    const place = Object.keys(PLACES).find((prefix) => pathname.startsWith(prefix));
    try {
      const bytes = readFileSync(join(PLACES[place], pathname.slice(place.length)));
      response.setHeader("content-type", TYPES[extname(pathname)] ?? "text/plain").end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { origin, told, page: `${origin}/tests/browser/page.html`, close: () => server.close() };
}

const ARGUMENTS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync"],
];

/** A folder for a browser's files that is gone with this process. */
export function profile() {
  const made = mkdtempSync(join(tmpdir(), "keyledger-browser-"));
  process.on("exit", () => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A browser on a profile, with further arguments. */
export function launch(folder, more = []) {
  const executablePath = process.env.KEYLEDGER_CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launchPersistentContext(folder, { executablePath, headless: true, args: [...ARGUMENTS, ...more] });
}

/** A browser that ends with the test. */
export async function launched(t, folder = profile()) {
  const context = await launch(folder);
  t.after(() => context.close().catch(() => undefined));
  return context;
}

/** A page of `server` in it, which has what it needs and no ledger open yet. */
export async function paged(server, context) {
  const page = await context.newPage();
  await page.goto(server.page);
  await page.waitForFunction(() => globalThis.tab);
  return page;
}

/** Ends every process of the browser on a profile, as a power cut does. */
export async function kill(folder) {
  await once(spawn("pkill", ["-9", "-f", folder]), "exit");
}
