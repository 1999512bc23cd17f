// What tsc does not do: checks in the glue of the native half, and the form for `require`, which is one file, and its types; and the licences,
// which npm packs from beside package.json alone.
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

guardGlue("dist/native/keyledger.js");
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

/** The glue takes what is no text for text, and reads beyond the module's memory; of another's object it says so without a code. */
function guardGlue(path) {
  const glue = readFileSync(path, "utf8");
  if (glue.includes("noText")) return;
  const replaced = (text, before, after) => {
    if (!text.includes(before)) throw new Error(`the glue is not as it was: ${before}`);
    return text.replace(before, () => after);
  };
  const string = "function passStringToWasm0(arg, malloc, realloc) {\n";
  const guarded = replaced(glue, string, `${string}    if (typeof arg !== "string") throw noText(arg);\n`);
  const whole = replaced(guarded, "throw new Error(`expected instance of ${klass.name}`);", "throw noInstance(instance, klass);");
  const [types, rest] = [whole.slice(0, whole.indexOf("\n") + 1), whole.slice(whole.indexOf("\n") + 1)];
  writeFileSync(path, `${types}import { noInstance, noText } from "../door.js";\n${rest}`);
}
