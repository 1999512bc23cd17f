import type { Clock } from "./store.js";

/** A clock that moves when it is told to. */
export class ManualClock implements Clock {
  #wallMs: number;
  #monotonicMs = 1;

  constructor(wallMs: number) {
    this.#wallMs = wallMs;
  }
  wallMs(): number {
    return this.#wallMs;
  }
  monotonicMs(): number {
    return this.#monotonicMs;
  }
  /** Moves both clocks. */
  advance(ms: number): void {
    this.#wallMs += ms;
    this.#monotonicMs += ms;
  }
  /** Moves the wall clock alone. */
  jumpWall(byMs: number): void {
    this.#wallMs += byMs;
  }
}
