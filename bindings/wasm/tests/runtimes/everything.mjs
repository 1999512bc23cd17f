// Every scenario and every vector, in whatever runtime runs this: Deno and Bun. Prints how many ran, and those that failed.

import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isSayable, needsFile } from "../conformance/sayable.mjs";
import { runScenario } from "../conformance/steps.mjs";
import { runVectors } from "../conformance/vectors.mjs";
import { InProcess } from "../http/in-process.mjs";
import { scenariosOf } from "../http/scenarios.mjs";
import { Stage } from "../http/stage.mjs";
import { kit } from "../node/kit.mjs";
import { places } from "../node/places.mjs";

const FOLDER = new URL("../../../conformance/", import.meta.url);
const files = mkdtempSync(join(tmpdir(), "keyledger-runtime-"));
const { memory, file } = places(files);
const told = { core: 0, http: 0, vectors: 0, failed: [] };

const read = (name) => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));
const namesOf = (folder) => readdirSync(new URL(folder, FOLDER)).filter((name) => name.endsWith(".json"));

async function tried(name, act) {
  try {
    await act();
  } catch (error) {
    told.failed.push(`${name}: ${error.stack ?? error}`);
  }
}

for (const name of namesOf(".")) {
  const loaded = read(name);
  for (const scenario of loaded.scenarios ?? []) {
    if (!isSayable(scenario)) continue;
    told.core += 1;
    // One place for each: that both are right everywhere, Node's own tests show.
    await tried(scenario.name, () => runScenario(kit, loaded, scenario, needsFile(scenario) ? file() : memory()));
  }
}
for (const name of namesOf("http/")) {
  for (const scenario of scenariosOf(name, read(`http/${name}`))) {
    told.http += 1;
    await tried(scenario.name, () => new Stage(kit, scenario, new InProcess()).play());
  }
}
await tried("vectors", () => (told.vectors = runVectors(kit, read("vectors.json"))));

rmSync(files, { recursive: true });
console.log(`told ${JSON.stringify(told)}`);
