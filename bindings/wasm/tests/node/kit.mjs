// The installed package, as the scratch project has it.

import { createRequire } from "node:module";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const scratch = process.env.KEYLEDGER_SCRATCH;

/** Resolved from inside the scratch project: nothing of the sources can stand in for what is packed. */
export async function installed(name) {
  const folder = join(scratch, "node_modules", "keyledger");
  const manifest = createRequire(join(folder, "package.json"))("./package.json");
  const entry = manifest.exports[name];
  return import(pathToFileURL(join(folder, (entry.node?.import ?? entry.node ?? entry).default)).href);
}

export const kit = { ...(await installed(".")), ...(await installed("./testing")) };

/** A folder that is gone with the process. */
export function folder() {
  const made = mkdtempSync(join(tmpdir(), "keyledger-node-"));
  process.on("exit", () => rmSync(made, { recursive: true, force: true }));
  return made;
}
