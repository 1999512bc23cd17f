// What tsc does not do: the form for `require`, which is one file.
import { copyFileSync } from "node:fs";
import { build } from "esbuild";

await build({
  entryPoints: ["dist/node.js"],
  outfile: "dist/node.cjs",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  banner: { js: 'const keyledgerUrl = require("node:url").pathToFileURL(__filename).href;' },
  define: { "import.meta.url": "keyledgerUrl" },
  logLevel: "warning",
});
copyFileSync("dist/node.d.ts", "dist/node.d.cts");
