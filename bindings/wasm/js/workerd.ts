// Workers have the module as an import, and may not compile one.
import module from "./native/keyledger_bg.wasm";
import { load } from "./memory.js";

export * from "./memory.js";

await load(module);
