// Where a scenario of the core's opens its ledger: in memory, or in a file of `folder`.

import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kit } from "./kit.mjs";

export function places(folder) {
  let made = 0;
  const newPath = () => join(folder, `${(made += 1)}.kl`);
  return {
    memory: () => {
      const store = new kit.MemoryStore();
      return { open: (options) => kit.Ledger.on(store, options) };
    },
    file: () => {
      let path = newPath();
      return {
        open: (options) => kit.Ledger.open(path, options),
        copy: () => {
          const before = path;
          path = newPath();
          copyFileSync(before, path);
        },
        bytes: () => readFileSync(path),
      };
    },
  };
}
