/** What is under way on one claim. Calls follow one another: what is asked for while a settlement is under way waits for its end. */
export class Turns {
  #settling: Promise<void> | undefined;
  #underWay: Promise<unknown> = Promise.resolve();
  readonly #steps = new Map<string, Promise<void>>();

  get areSettling(): boolean {
    return this.#settling !== undefined;
  }

  /** Calls at once, where no settlement is under way. */
  async call<T>(call: () => Promise<T>): Promise<T> {
    while (this.#settling) await this.#settling;
    return this.#noted(call());
  }

  /** The same for a settlement. */
  async settle<T>(call: () => Promise<T>): Promise<T> {
    while (this.#settling) await this.#settling;
    const settled = call();
    const over = () => void (this.#settling = undefined);
    this.#settling = settled.then(over, over);
    return this.#noted(settled);
  }

  /** Runs a step. Of two of one name the second waits for the first. */
  async step<T>(name: string, run: () => Promise<T>): Promise<T> {
    for (let other; (other = this.#steps.get(name)); ) await other;
    const step = run();
    const over = () => void this.#steps.delete(name);
    this.#steps.set(name, step.then(over, over));
    return step;
  }

  /** Is fulfilled when no call is under way. What a step does before it is recorded is no call. */
  async areOver(): Promise<void> {
    for (let last; last !== this.#underWay; ) await (last = this.#underWay);
  }

  #noted<T>(call: Promise<T>): Promise<T> {
    this.#underWay = Promise.allSettled([this.#underWay, call]);
    return call;
  }
}
