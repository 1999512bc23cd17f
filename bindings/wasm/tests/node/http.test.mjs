// Every scenario of bindings/conformance/http through the wrapper for fetch handlers: by itself, and on a server with raw sockets.

import { readFileSync, readdirSync } from "node:fs";
import { after, test } from "node:test";
import { InProcess } from "../http/in-process.mjs";
import { isAboutSockets, scenariosOf } from "../http/scenarios.mjs";
import { Stage } from "../http/stage.mjs";
import { Served } from "./http-server.mjs";
import { kit } from "./kit.mjs";

const FOLDER = new URL("../../../conformance/http/", import.meta.url);
const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
const scenarios = files.flatMap((name) => scenariosOf(name.slice(0, -5), JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"))));

const server = await Served.start();
after(() => server.stop());

for (const scenario of scenarios) {
  test(`${scenario.name} (${scenario.rules}; fetch)`, () => new Stage(kit, scenario, new InProcess()).play());
  test(`${scenario.name} (${scenario.rules}; served)`, () => new Stage(kit, scenario, server).play());
}

test("there are scenarios that are about sockets", (t) => {
  t.assert?.ok(scenarios.filter(isAboutSockets).length >= 9);
});
