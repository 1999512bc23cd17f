// What tsc does not do: the form for `require`, which is one file, and its types; and the licences, which npm packs from beside package.json alone.
import { cpSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

await build({
  entryPoints: ["dist/node.js"],
  outfile: "dist/cjs/node.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  banner: {
    js: 'const keyledgerUrl = require("node:url").pathToFileURL(require("node:path").join(__dirname, "..", "node.js")).href;',
  },
  define: { "import.meta.url": "keyledgerUrl" },
  logLevel: "warning",
});

// The same types, of a folder whose files are CommonJS.
const types = readdirSync("dist", { recursive: true }).filter((name) => name.endsWith(".d.ts"));
for (const name of types) cpSync(join("dist", name), join("dist/cjs", name));
writeFileSync("dist/cjs/package.json", '{ "type": "commonjs" }\n');

for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) cpSync(join("../..", name), name);
