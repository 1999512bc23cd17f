import { KeyledgerError } from "../errors.js";

interface Work {
  /** Leases nothing more, and gives up what is in flight. */
  readonly giveUp: () => void;
  isCutOff: boolean;
}

/** What a ledger's outboxes have under way: the drivers that work, and the drains. */
export class UnderWay {
  readonly #all = new Map<Promise<unknown>, Work>();

  /** Counts it until it has ended; throws `closed` where it was cut off. */
  async during<T>(promise: Promise<T>, giveUp: () => void): Promise<T> {
    const work: Work = { giveUp, isCutOff: false };
    this.#all.set(promise, work);
    try {
      const told = await promise;
      if (work.isCutOff) throw new KeyledgerError("closed", "the ledger was closed; open it again");
      return told;
    } finally {
      this.#all.delete(promise);
    }
  }

  get isNone(): boolean {
    return this.#all.size === 0;
  }

  /** The ledger is closed: nothing more is leased, and what is in flight is given up. */
  cutOff(): void {
    for (const work of this.#all.values()) {
      work.isCutOff = true;
      work.giveUp();
    }
  }

  /** The same; on return what was in flight is settled, as tries that may have taken effect. */
  async finish(): Promise<void> {
    while (!this.isNone) {
      this.cutOff();
      await Promise.allSettled(this.#all.keys());
    }
  }
}
