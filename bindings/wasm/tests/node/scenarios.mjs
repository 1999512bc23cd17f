// The scenarios of the core's files, in memory and on a file, as tests.

import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { isSayable, needsFile } from "../conformance/sayable.mjs";
import { runScenario } from "../conformance/steps.mjs";
import { folder, kit } from "./kit.mjs";
import { places } from "./places.mjs";

const FOLDER = new URL("../../../conformance/", import.meta.url);

export const read = (name) => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));

/** Makes a test of each scenario of the files that are `meant`, and tells the names of those that JavaScript cannot even say. */
export function testScenarios(meant) {
  const { memory, file } = places(folder());
  const left = [];
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".json") && meant(name));
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
  return left;
}

/** The outbox's files: half of all. */
export const isOfTheOutbox = (name) => name.startsWith("outbox");
