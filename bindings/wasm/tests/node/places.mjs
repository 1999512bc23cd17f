// Where a scenario of the core's opens its ledger: in memory, or in a file of `folder`.

import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kit } from "./kit.mjs";

/** The same bytes in a store for the next ledger: a store object belongs to one. */
function copyOf(store) {
  const [copy, bytes] = [new kit.MemoryStore(), new Uint8Array(store.length())];
  store.read(0, bytes);
  copy.write(0, bytes);
  return copy;
}

export function places(folder) {
  let made = 0;
  const newPath = () => join(folder, `${(made += 1)}.kl`);
  return {
    memory: () => {
      let store = new kit.MemoryStore();
      return { open: (options) => kit.Ledger.on((store = copyOf(store)), options) };
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
