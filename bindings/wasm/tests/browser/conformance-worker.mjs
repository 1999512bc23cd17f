// Every scenario and every vector, in a worker of a browser: in memory, and in files of the origin's.

import * as core from "/keyledger/dist/browser/direct.js";
import * as testing from "/keyledger/dist/testing.js";
import { isSayable, needsFile } from "/tests/conformance/sayable.mjs";
import { runScenario } from "/tests/conformance/steps.mjs";
import { runVectors } from "/tests/conformance/vectors.mjs";

const kit = { ...core, ...testing };
const { Ledger, MemoryStore, OpfsStore } = kit;
let made = 0;

function inMemory() {
  let store = new MemoryStore();
  return {
    open: async (options) => {
      const bytes = bytesOf(store);
      store = new MemoryStore();
      store.write(0, bytes);
      return Ledger.on(store, options);
    },
  };
}

function bytesOf(store) {
  const bytes = new Uint8Array(store.length());
  store.read(0, bytes);
  return bytes;
}

/** A file of the origin's. Where it is copied, the copy is what the next `open` opens. */
function onFile() {
  let name = `${(made += 1)}.kl`;
  let store;
  return {
    open: async (options) => {
      store = await OpfsStore.open(name);
      return Ledger.on(store, options);
    },
    copy: async () => {
      const bytes = bytesOf(store);
      name = `${(made += 1)}.kl`;
      const copy = await OpfsStore.open(name);
      copy.write(0, bytes);
      copy.setLength(bytes.length);
      copy.sync();
      copy.close();
    },
    bytes: () => bytesOf(store),
  };
}

const read = async (name) => (await fetch(`/conformance/${name}`)).json();

async function run(names) {
  await core.load();
  const told = { passed: 0, left: 0, failed: [] };
  for (const name of names) {
    const loaded = await read(name);
    for (const scenario of loaded.scenarios ?? []) {
      if (!isSayable(scenario)) {
        told.left += 1;
        continue;
      }
      for (const place of needsFile(scenario) ? [onFile] : [inMemory, onFile]) {
        try {
          await runScenario(kit, loaded, scenario, place());
          told.passed += 1;
        } catch (error) {
          told.failed.push(`${name}: ${scenario.name} (${place.name}): ${error.message}`);
        }
      }
    }
  }
  told.vectors = runVectors(kit, await read("vectors.json"));
  return told;
}

onmessage = async ({ data }) => postMessage(await run(data).catch((error) => ({ failed: [String(error.stack)] })));
postMessage("ready");
