// What a scenario runs in: a ledger, its clock, and the claims and fences that have names.

import { Mail } from "./outbox-mail.mjs";
import { operationName, toKey, toOperation, toScope } from "./values.mjs";

/** Where the wall clock stands when a scenario starts: far enough from zero for it to go back. */
export const START_MS = 1_000_000_000_000;

export class World {
  /**
   * @param kit The package's names, with `ManualClock`.
   * @param place `open(options)` opens its ledger; where it has a file, `copy()` makes the next `open` open a copy of it, and `bytes()` reads it.
   */
  constructor(kit, loaded, scenario, place) {
    this.kit = kit;
    this.place = place;
    this.clock = new kit.ManualClock(START_MS);
    this.options = scenario.options ?? {};
    this.operations = { ...loaded.operations, ...scenario.operations };
    this.mail = new Mail(loaded, scenario);
    this.claims = new Map();
    this.fences = new Map();
    // Claims that no step names: kept, because dropping one ends its lease (S2).
    this.unnamed = [];
    this.ran = false;
  }

  async start() {
    const { max_response_bytes: maxResponseBytes } = this.options;
    this.ledger = await this.place.open({ clock: this.clock, maxResponseBytes });
    this.mail.open(this.ledger);
  }

  /** A new process on the same file, after the old one has closed it. */
  async restart() {
    await this.ledger.close();
    await this.start();
  }

  /** A new process on what the old one has left, which had no time to close. */
  async kill() {
    await this.place.copy();
    await this.restart();
  }

  operation(alias) {
    return toOperation(this.kit, this.operations[alias], alias);
  }

  operationName(alias) {
    return operationName(this.operations[alias], alias);
  }

  keyId(step) {
    return { scope: toScope(this.kit, step.scope), operation: this.operationName(step.op), key: toKey(step.key) };
  }

  keep(name, op, claim) {
    if (name === undefined) return void this.unnamed.push(claim);
    this.fences.set(name, claim.fence);
    this.claims.set(name, { keyId: claim.keyId, op, claim });
  }

  claim(name) {
    const { claim } = this.claims.get(name);
    if (claim === null) throw new Error(`the claim ${name} is used up`);
    return claim;
  }
}
