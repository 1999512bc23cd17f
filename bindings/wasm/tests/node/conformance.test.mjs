// Every scenario of the core, in memory and on a file, and every vector.

import assert from "node:assert/strict";
import { copyFileSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runScenario } from "../conformance/steps.mjs";
import { runVectors } from "../conformance/vectors.mjs";
import { folder, kit } from "./kit.mjs";

const FOLDER = new URL("../../../conformance/", import.meta.url);
const HAS = new Set(["file", "negative_durations", "lone_surrogates"]);
const files = folder();
let made = 0;

function inMemory() {
  const store = new kit.MemoryStore();
  return { open: (options) => kit.Ledger.on(store, options) };
}

function onFile() {
  let path = join(files, `${(made += 1)}.kl`);
  return {
    open: (options) => kit.Ledger.open(path, options),
    copy: () => {
      const before = path;
      path = join(files, `${(made += 1)}.kl`);
      copyFileSync(before, path);
    },
    bytes: () => readFileSync(path),
  };
}

const read = (name) => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));
/** Scenarios of what JavaScript cannot even say. */
const left = [];
const names = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));

for (const name of names.sort()) {
  const loaded = read(name);
  for (const scenario of loaded.scenarios ?? []) {
    const needs = scenario.needs ?? [];
    if (needs.some((need) => !HAS.has(need))) {
      left.push(scenario.name);
      continue;
    }
    const places = needs.includes("file") ? { file: onFile } : { memory: inMemory, file: onFile };
    for (const [where, place] of Object.entries(places)) {
      test(`${name}: ${scenario.name} (${where}; ${scenario.rules})`, () =>
        runScenario(kit, loaded, scenario, place()),
      );
    }
  }
}

test("only what JavaScript cannot say is left out: text of bytes that are no UTF-8", () => {
  assert.deepEqual(left, ["text that is not UTF-8 is refused"]);
});

test("fingerprints and derived keys are those of every other language (F1 to F6, E3)", () => {
  assert.ok(runVectors(kit, read("vectors.json")) > 150);
});
