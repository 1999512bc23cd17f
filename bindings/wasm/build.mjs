// What tsc does not do: checks in the glue of the native half, and the form for `require`, and its types; and the licences,
// which npm packs from beside package.json alone.
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

guardGlue("dist/native/keyledger.js");
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

/** The glue takes what is no text for text, or half a surrogate pair for another character, and reads beyond the module's memory; of another's object it says so without a code, and of a module that is not loaded by a name of its own. */
function guardGlue(path) {
  const glue = readFileSync(path, "utf8");
  if (glue.includes("noText")) return;
  const replaced = (text, before, after) => {
    if (!text.includes(before)) throw new Error(`the glue is not as it was: ${before}`);
    return text.replace(before, () => after);
  };
  const string = "function passStringToWasm0(arg, malloc, realloc) {\n";
  const typed = replaced(glue, string, `${string}    if (typeof arg !== "string") throw noText(arg);\n`);
  // Where not all of it is ASCII: what is looked at for that already is quick to look at.
  const others = "    if (offset !== len) {\n        if (offset !== 0) {\n            arg = arg.slice(offset);";
  const refusal = "        if (!arg.isWellFormed()) {\n            wasm.__wbindgen_free(ptr, len, 1);\n            throw noText(arg);\n        }\n";
  const guarded = replaced(typed, others, others.replace("\n", () => `\n${refusal}`));
  // What tells of something that was done is stored all the same: an answer's media type, a reason to park, the message of an error.
  const wellFormed = 'passStringToWasm0(typeof $1 === "string" ? $1.toWellFormed() : $1,';
  const answered = guarded.replace(/passStringToWasm0\((ret|text|error|media_type),/g, wellFormed);
  const whole = replaced(answered, "throw new Error(`expected instance of ${klass.name}`);", "throw noInstance(instance, klass);");
  const declared = replaced(whole, "let wasmModule, wasmInstance, wasm;", "let wasmModule, wasmInstance, wasm = new Proxy({}, { get: () => { throw noModule(); } });");
  const unloaded = declared.replaceAll("if (wasm !== undefined) return wasm;", "if (wasmInstance !== undefined) return wasm;");
  const [types, rest] = [unloaded.slice(0, unloaded.indexOf("\n") + 1), unloaded.slice(unloaded.indexOf("\n") + 1)];
  writeFileSync(path, `${types}import { noInstance, noModule, noText } from "../door.js";\n${rest}`);
}
