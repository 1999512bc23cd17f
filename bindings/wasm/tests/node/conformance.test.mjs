// Every scenario of the core, in memory and on a file, and every vector.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { isSayable, needsFile } from "../conformance/sayable.mjs";
import { runScenario } from "../conformance/steps.mjs";
import { runVectors } from "../conformance/vectors.mjs";
import { folder, kit } from "./kit.mjs";
import { places } from "./places.mjs";

const FOLDER = new URL("../../../conformance/", import.meta.url);
const { memory, file } = places(folder());

const read = (name) => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));
/** Scenarios of what JavaScript cannot even say. */
const left = [];
const names = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));

for (const name of names.sort()) {
  const loaded = read(name);
  for (const scenario of loaded.scenarios ?? []) {
    if (!isSayable(scenario)) {
      left.push(scenario.name);
      continue;
    }
    for (const [where, place] of Object.entries(needsFile(scenario) ? { file } : { memory, file })) {
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
