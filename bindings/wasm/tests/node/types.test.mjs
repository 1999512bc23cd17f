// What TypeScript makes of the package, strictly: tests/types is compiled against the installed one.

import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { scratch } from "./kit.mjs";

const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const LIBRARIES = "es2024,esnext.disposable,dom,dom.iterable,dom.asynciterable";
const WORDS = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--lib", LIBRARIES];

test("what is written by the types compiles, and what leaves out scope, effect or key does not (H3)", () => {
  cpSync(new URL("../types", import.meta.url), join(scratch, "types"), { recursive: true });
  execFileSync(process.execPath, [TSC, ...WORDS, join(scratch, "types/fetch.ts")], { cwd: scratch, stdio: "inherit" });
});
