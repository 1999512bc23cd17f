// A scratch project of each tool and runtime installs the tarball and runs three lines.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { GUIDE, blocksOf } from "../node/texts.mjs";

/** Where the tools are installed, and the projects are made. */
const PLACE = process.env.KEYLEDGER_PACKAGING;
const TARBALL = process.env.KEYLEDGER_TARBALL;

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

const LINES = `
const ledger = await Ledger.inMemory();
const answer = await ledger.run(Operation.repeatable("charge"), "tenant", "key", Fingerprint.ofJson({ amount: 1.5 }), () => "charged");
console.log(answer.text(), ledger.durability());
`;
const PROGRAM = `import { Fingerprint, Ledger, Operation } from "keyledger";${LINES}`;
const ON_FILE = PROGRAM.replace("Ledger.inMemory()", 'Ledger.open("payments.kl")');
// What a browser is given is the ledger that all tabs share, with its worker; memory is what can be run without a browser.
const FOR_PAGES = PROGRAM.replace('"keyledger";', '"keyledger/memory";\nimport { Ledger as OfAllTabs } from "keyledger";').replace(
  "console.log(",
  "if (OfAllTabs !== Ledger) console.log(",
);
const IN_MEMORY = "charged ephemeral\n";
const IN_FILE = "charged persisted\n";

const tool = (name) => join(PLACE, "node_modules", ".bin", name);
const run = (folder, program, args, options = {}) =>
  execFileSync(program, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], timeout: 120_000, ...options });

/** A project with the package installed, and these files. */
function project(name, files) {
  const folder = join(PLACE, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const manifest = { name: `scratch-${name}`, private: true, type: name === "node-cjs" ? "commonjs" : "module" };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  run(folder, "npm", ["install", "--offline", "--no-save", "--no-audit", "--no-fund", "--silent", TARBALL], { shell: process.platform === "win32" });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  return folder;
}

/** Runs what a bundler wrote for browsers; `fetch` takes what it asks for from the folder that would be served. */
function served(folder, file) {
  const fetching = `
    import { readFileSync } from "node:fs";
    globalThis.fetch = async (url) => new Response(readFileSync(new URL(url)), { headers: { "content-type": "application/wasm" } });
    await import(${JSON.stringify(pathToFileURL(join(folder, file)).href)});
  `;
  return run(folder, process.execPath, ["--input-type=module", "-e", fetching]);
}

before(() => assert.ok(PLACE && TARBALL, "run by `cargo xtask wasm`, which makes the tarball and installs the tools"));

test("Node, by import", () => {
  assert.equal(run(project("node-esm", { "main.js": ON_FILE }), process.execPath, ["main.js"]), IN_FILE);
});

test("Node, by require", () => {
  const program = `const { Fingerprint, Ledger, Operation } = require("keyledger"); (async () => {${LINES}})();`;
  assert.equal(run(project("node-cjs", { "main.js": program }), process.execPath, ["main.js"]), IN_MEMORY);
});

test("the lowest TypeScript that the guide names, with the guide's lines and settings", () => {
  const [, lowest] = /TypeScript (\d+\.\d+) and later/.exec(GUIDE);
  const [tsc, manifest] = ["bin/tsc", "package.json"].map((name) => join(PLACE, "node_modules/typescript-lowest", name));
  assert.ok(JSON.parse(readFileSync(manifest, "utf8")).version.startsWith(`${lowest}.`));
  const blocks = blocksOf(GUIDE);
  const settings = blocks.find(({ how }) => how === "tsconfig").code;
  const programs = blocks.filter(({ language }) => language === "ts").map(({ code }, at) => [`lines-${at}.ts`, code]);
  assert.ok(programs.length > 0 && blocks.every(({ language, how }) => language !== "ts" || how !== "continued"));
  // Types of other packages, as Node's, have lowest versions of their own.
  const folder = project("typescript", { "tsconfig.json": settings.replace('"strict"', '"types": [], "strict"'), ...Object.fromEntries(programs) });
  run(folder, process.execPath, [tsc, "--noEmit"]);
});

test("Bun", () => {
  assert.equal(run(project("bun", { "main.js": ON_FILE }), tool("bun"), ["run", "main.js"]), IN_FILE);
});

test("Deno", () => {
  const env = { ...process.env, DENO_NO_UPDATE_CHECK: "1" };
  assert.equal(run(project("deno", { "main.js": ON_FILE }), tool("deno"), ["run", "--allow-all", "main.js"], { env }), IN_FILE);
});

test("esbuild, for browsers, with the module beside the bundle", async () => {
  const folder = project("esbuild", { "main.js": FOR_PAGES });
  run(folder, tool("esbuild"), ["main.js", "--bundle", "--format=esm", "--outfile=out/main.js", "--log-level=warning"]);
  cpSync(join(folder, "node_modules/keyledger/dist/native/keyledger_bg.wasm"), join(folder, "out/keyledger_bg.wasm"));
  assert.equal(served(folder, "out/main.js"), IN_MEMORY);
});

test("Vite, for browsers", () => {
  const html = '<script type="module" src="./main.js"></script>';
  // Without its preloading, which asks for a document before anything else.
  const config = 'export default { base: "./", logLevel: "error", build: { modulePreload: false } };';
  const folder = project("vite", { "main.js": FOR_PAGES, "index.html": html, "vite.config.js": config });
  run(folder, tool("vite"), ["build"]);
  const [bundle] = readdirSync(join(folder, "dist/assets")).filter((name) => name.endsWith(".js"));
  assert.equal(served(folder, join("dist/assets", bundle)), IN_MEMORY);
});

/** Whether Vite's server for development has the worker of all tabs where a page looks for it. */
async function servesWorker(folder, vite, optimizeDeps) {
  const { createServer } = await import(pathToFileURL(join(PLACE, "node_modules", vite, "dist/node/index.js")).href);
  const settings = { root: folder, configFile: false, logLevel: "silent", cacheDir: "cache", optimizeDeps: { ...optimizeDeps, force: true } };
  const server = await createServer({ ...settings, server: { host: "127.0.0.1", port: 0, ws: false } });
  try {
    await server.listen();
    const at = (path, base = server.resolvedUrls.local[0]) => new URL(path, base).href;
    const read = async (url) => {
      const answer = await fetch(url);
      return answer.ok ? answer.text() : "";
    };
    const script = at(/"([^"]*keyledger[^"]*)"/.exec(await read(at("main.js")))[1]);
    const worker = await read(at(/new Worker\([^"']*new URL\([^"']*["']([^"']+)/.exec(await read(script))[1], script));
    return /\bonmessage = /.test(worker);
  } finally {
    await server.close();
  }
}

test("Vite, while developing: 8 finds the worker, and 7 where the package is not optimized, as the README has it", async () => {
  const [, words] = /`optimizeDeps: \{ exclude: (\[.*?\]) \}`/.exec(README);
  const folder = project("vite-dev", { "main.js": 'import { Ledger } from "keyledger";\nawait Ledger.open("shop");', "index.html": '<script type="module" src="./main.js"></script>' });
  assert.ok(await servesWorker(folder, "vite", {}));
  assert.ok(await servesWorker(folder, "vite-7", { exclude: JSON.parse(words) }));
  assert.ok(!(await servesWorker(folder, "vite-7", {})), "the README says too much");
});

test("Vite, for a worker of one's own, in the form that it has workers in by default", () => {
  const files = {
    "main.js": 'new Worker(new URL("./mine.js", import.meta.url), { type: "module" });',
    "mine.js": 'import { Ledger } from "keyledger/worker"; onmessage = async () => postMessage((await Ledger.open("shop")).durability());',
    "index.html": '<script type="module" src="./main.js"></script>',
    "vite.config.js": 'export default { logLevel: "error" };',
  };
  const folder = project("vite-worker", files);
  run(folder, tool("vite"), ["build"]);
  assert.ok(readdirSync(join(folder, "dist/assets")).some((name) => name.startsWith("mine")));
});

test("esbuild, for browsers, with the worker's script of keyledger/browser-worker", () => {
  const page = 'import { Ledger } from "keyledger";\nawait Ledger.open("shop", { worker: () => new Worker("/worker.js"), module: "/keyledger_bg.wasm" });';
  const folder = project("esbuild-worker", { "main.js": page, "worker.js": 'import "keyledger/browser-worker";' });
  for (const [name, format] of [["main", "esm"], ["worker", "iife"]]) {
    run(folder, tool("esbuild"), [`${name}.js`, "--bundle", `--format=${format}`, `--outfile=out/${name}.js`, "--log-level=error"]);
  }
  assert.match(readFileSync(join(folder, "out/worker.js"), "utf8"), /onmessage/);
});

test("TypeScript, resolving as bundlers do: pages and workers have `open`, and a condition says that it is another platform", () => {
  const settings = ["--noEmit", "--strict", "--module", "preserve", "--moduleResolution", "bundler", "--target", "es2022"];
  const files = {
    "page.ts": `import { Ledger } from "keyledger";
      const ledger = await Ledger.open("shop", { persist: false });
      await ledger.outbox().driver("user-7", { credentials: "same-origin" }).start().stop();`,
    "worker.ts": 'import { Ledger } from "keyledger/worker"; (await Ledger.open("shop")).sweepSync(100);',
    "memory.ts": 'import { Ledger } from "keyledger/memory"; (await Ledger.inMemory()).snapshot();',
    "server.ts": 'import { Ledger } from "keyledger"; Ledger.openSync("payments.kl").closeSync();',
  };
  const folder = project("bundler-types", files);
  const tsc = (...more) => run(folder, process.execPath, [TSC, ...settings, "--lib", "es2022,dom,dom.iterable,esnext.disposable", ...more]);
  tsc("page.ts", "worker.ts", "memory.ts");
  tsc("--customConditions", "node", "server.ts");
});

test("webpack, for browsers", () => {
  const config = `
    import webpack from "webpack";
    const settings = {
      mode: "production", target: "web", entry: "./main.js", experiments: { outputModule: true }, performance: false,
      output: { path: process.cwd() + "/out", filename: "main.js", module: true, publicPath: "auto" },
    };
    webpack(settings, (error, stats) => {
      if (!error && !stats.hasErrors()) return;
      console.error(error ?? stats.toString());
      process.exitCode = 1;
    });
  `;
  const folder = project("webpack", { "main.js": FOR_PAGES, "build.js": config });
  run(folder, process.execPath, ["build.js"]);
  assert.equal(served(folder, "out/main.js"), IN_MEMORY);
});

test("Express, with the guide's lines for Node's server: mounted routers are two operations, and behind express.json() nothing runs (H17)", () => {
  const { code } = blocksOf(GUIDE).find(({ code }) => code.includes("function listener("));
  const [lines] = code.split("\nconst ledger");
  const program = `${lines}
    import express from "express";
    const handler = idempotent((request) => new Response(new URL(request.url).pathname), { ledger: await Ledger.inMemory(), key: "required", effect: "repeatable", scope: () => "ann" });
    const app = express();
    for (const name of ["a", "b"]) app.use("/" + name, express.Router().post("/charges", listener(handler)));
    app.post("/late", express.json(), listener(handler));
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    for (const path of ["/a/charges", "/b/charges", "/a/charges", "/late"]) {
      const headers = { "idempotency-key": '"key-1"', "content-type": "application/json" };
      const response = await fetch("http://127.0.0.1:" + server.address().port + path, { method: "POST", headers, body: "{}" });
      const text = await response.text();
      console.log(response.status, response.headers.get("idempotent-replayed"), response.ok ? text : JSON.parse(text).type.split("#")[1]);
    }
    server.close();
    server.closeAllConnections();
  `;
  const told = run(project("express", { "main.js": program }), process.execPath, ["main.js"]);
  assert.equal(told, "200 null /a/charges\n200 null /b/charges\n200 true /a/charges\n500 null body-consumed\n");
});

test("workerd, with the module as an import", () => {
  const worker = PROGRAM.replace(LINES, `export default { async test() {${LINES}} };`);
  const config = `
    using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (services = [(name = "main", worker = (
      compatibilityDate = "2026-01-01",
      modules = [
        (name = "main.js", esModule = embed "out/main.js"),
        (name = "keyledger_bg.wasm", wasm = embed "out/keyledger_bg.wasm"),
      ],
    ))]);
  `;
  const folder = project("workerd", { "main.js": worker, "config.capnp": config });
  const bundle = ["--bundle", "--format=esm", "--conditions=workerd", "--loader:.wasm=copy", "--asset-names=[name]"];
  run(folder, tool("esbuild"), ["main.js", "--outfile=out/main.js", "--log-level=warning", ...bundle]);
  assert.equal(run(folder, tool("workerd"), ["test", "config.capnp"]), IN_MEMORY);
});
