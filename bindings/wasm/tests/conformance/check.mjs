// What steps throw.

import { difference } from "./compare.mjs";

/** What happened is not what was expected. */
export class Differs extends Error {}

/** An error of the scenario's own. */
export class Raised extends Error {
  constructor(text, kind = "other") {
    super(text);
    this.kind = kind;
  }
}

export function check(world, expected, happened) {
  const where = difference(expected, happened, { fences: world.fences, entries: world.mail.entries });
  if (!where) return;
  throw new Differs(`expected ${JSON.stringify(expected)}\n   found ${JSON.stringify(happened)}\n      at ${where}`);
}
