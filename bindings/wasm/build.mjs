// What tsc does not do: the form for `require`, and its types; and the licences, which npm packs from beside package.json alone.
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const sources = readdirSync("dist", { recursive: true }).filter((name) => name.endsWith(".js") && !/^(browser|workerd|durable|memory\.|cjs|thread.worker)/.test(name));
const isPlaced = (name) => readFileSync(join("dist", name), "utf8").includes("import.meta");
/** One file each, as in the form for `import`: what two entries share is there once, and its classes are the same. */
const required = (names, more) =>
  build({
    entryPoints: names.map((name) => join("dist", name)),
    outdir: "dist/cjs",
    outbase: "dist",
    platform: "node",
    format: "cjs",
    target: "node20",
    logLevel: "warning",
    ...more,
  });
await required(sources.filter((name) => !isPlaced(name)));
// The module, and the worker of a thread, are where the form for `import` has them.
const url = 'const keyledgerUrl = require("node:url").pathToFileURL(__filename.replace(/^(.*[\\/]dist)[\\/]cjs(?=[\\/])/s, "$1")).href;';
await required(sources.filter(isPlaced), { banner: { js: url }, define: { "import.meta.url": "keyledgerUrl" } });

// The same types, of a folder whose files are CommonJS.
const types = readdirSync("dist", { recursive: true }).filter((name) => name.endsWith(".d.ts"));
for (const name of types) cpSync(join("dist", name), join("dist/cjs", name));
writeFileSync("dist/cjs/package.json", '{ "type": "commonjs" }\n');

for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) cpSync(join("../..", name), name);
