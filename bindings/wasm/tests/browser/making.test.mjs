// How a ledger's file is made in a browser: what is at its place is a whole ledger, or is refused and left as it is (P5, I9).

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { launched, paged, serve } from "./stage.mjs";

const LIMIT = { timeout: 120_000 };
/** A worker of one's own: says when it has what it needs, and what came of opening the ledger that it is told. */
const OWN = `
  import { Ledger, load } from "/keyledger/dist/browser/direct.js";
  onmessage = ({ data }) => Ledger.open(data).then(() => postMessage("open"), ({ code }) => postMessage(code));
  await load();
  postMessage("loaded");
`;
const server = await serve({
  "/own.mjs": (request, response) => void response.setHeader("content-type", "text/javascript").end(OWN),
});
after(() => server.close());

/** A page that can look into the files of its origin. */
async function opened(t) {
  const page = await paged(server, await launched(t));
  await page.evaluate(() => {
    const folder = async (name) => (await navigator.storage.getDirectory()).getDirectoryHandle(name, { create: true });
    globalThis.files = {
      async write(where, name, bytes) {
        const file = await (await folder(where)).getFileHandle(name, { create: true });
        const stream = await file.createWritable();
        await stream.write(new Uint8Array(bytes));
        await stream.close();
      },
      /** Its first bytes, and how many there are; null: there is none. */
      async read(where, name) {
        try {
          const file = await (await (await folder(where)).getFileHandle(name)).getFile();
          return { size: file.size, head: [...new Uint8Array(await file.slice(0, 24).arrayBuffer())] };
        } catch {
          return null;
        }
      },
      async names(where) {
        const names = [];
        for await (const name of (await folder(where)).keys()) names.push(name);
        return names;
      },
      /** A worker that is ready to open a ledger. */
      async worker() {
        const worker = new Worker("/own.mjs", { type: "module" });
        const said = () => new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data)));
        await said();
        return { open: (name) => (worker.postMessage(name), said()), end: () => worker.terminate() };
      },
    };
  });
  return page;
}

const MAGIC = [..."keyledger"].map((letter) => letter.charCodeAt(0));
const CREATING = [...MAGIC, ...Array(7).fill(0), 0, 0, 0, 1, 0, 0, 0, 1, ...Array(4072).fill(1)];

test("what is empty or no ledger is refused, of a page and of a worker, and left as it is (I9)", LIMIT, async (t) => {
  const page = await opened(t);
  for (const [name, bytes, code] of [["empty", [], "wrong_format"], ["zeros", Array(4096).fill(0), "wrong_format"], ["words", MAGIC.toReversed(), "wrong_format"], ["begun", CREATING, "corrupt"]]) {
    const told = await page.evaluate(
      async ([name, bytes]) => {
        await files.write("keyledger", name, bytes);
        const ofPage = await tab.keyledger.Ledger.open(name).then(() => "open", ({ code }) => code);
        const ofWorker = await (await files.worker()).open(name);
        return [ofPage, ofWorker, (await files.read("keyledger", name)).size];
      },
      [name, bytes],
    );
    assert.deepEqual(told, [code, code, bytes.length], name);
  }
});

test("what a creation that was cut short has left behind is in nobody's way, and is gone with the next one (P5)", LIMIT, async (t) => {
  const page = await opened(t);
  const told = await page.evaluate(async () => {
    await files.write("keyledger unfinished", "shop", Array(100_000).fill(7));
    await tab.pay("k", []);
    return [await tab.stored(), await files.names("keyledger"), await files.names("keyledger unfinished")];
  });
  assert.deepEqual(told, [["k"], ["shop"], []]);
});

test("a worker that is ended while it makes a ledger leaves none at its place, or a whole one (P5)", LIMIT, async (t) => {
  const page = await opened(t);
  const found = await page.evaluate(async () => {
    const found = [];
    for (let at = 0; at < 20; at += 1) {
      const worker = await files.worker();
      const open = worker.open(`cut ${at}`);
      await Promise.race([open, new Promise((resolve) => setTimeout(resolve, at))]);
      worker.end();
      await new Promise((resolve) => setTimeout(resolve, 20));
      found.push(await files.read("keyledger", `cut ${at}`));
      const next = await files.worker();
      if ((await next.open(`cut ${at}`)) !== "open") found.push("cannot be opened again");
      next.end();
    }
    return found;
  });
  const isWhole = (file) => file === null || (file.size > 4096 && MAGIC.every((byte, at) => file.head[at] === byte) && file.head[23] === 2);
  assert.deepEqual(found.filter((file) => !isWhole(file)), []);
  assert.ok(found.includes(null), "none was cut short: the pauses are too long");
});

test("of two workers that make one ledger at once one has it, and the other is told so", LIMIT, async (t) => {
  const page = await opened(t);
  const told = await page.evaluate(async () => {
    const [one, two] = [await files.worker(), await files.worker()];
    return Promise.all([one.open("both"), two.open("both")]);
  });
  assert.deepEqual(told.sort(), ["already_open", "open"]);
});
