import type { Call, Outcome } from "../remote/messages.js";

/** What may be asked again of the next who leads, when the one before was lost in the middle of it: a second time does nothing new. */
const AGAIN: ReadonlySet<string> = new Set([
  ...["begin", "beginMany", "ask", "lookup", "inspect", "get", "scan", "stats", "check", "list", "page", "unlist"],
  ...["settle", "release", "park", "completeBatch", "heartbeat", "recordStep", "drop", "sweep", "compact", "newKey", "declare", "reopen"],
  ...["enqueue", "enqueueMany", "get", "request", "find", "page", "stats", "nextWakeup", "entryAfter", "changesAfter"].map(ofOutbox),
  ...["cancel", "resume", "keep", "rested", "drain", "credentials"].map(ofOutbox),
]);

/** What waits for others, and may as well be asked when the page is shown again. */
const PATIENT: ReadonlySet<string> = new Set(["entryAfter", "changesAfter", "keep"].map(ofOutbox));

function ofOutbox(call: string): string {
  return `outbox.${call}`;
}

const AMBIGUOUS = "the tab that led was lost in the middle of the call: nobody knows whether it was done";

interface Pending {
  readonly call: Call;
  /** Who was asked; null as long as nobody is there to ask. */
  to: string | null;
  wasLost: boolean;
  /** Nobody waits for it: it is not asked again. */
  isCancelled: boolean;
}

/** The calls of one page that have no outcome yet, and whom they were asked of. */
export class Calls {
  readonly #pending = new Map<number, Pending>();
  readonly #send: (to: string, id: number, call: Call) => void;
  readonly #tell: (id: number, outcome: Outcome) => void;
  #leader: string | null = null;

  constructor(send: (to: string, id: number, call: Call) => void, tell: (id: number, outcome: Outcome) => void) {
    this.#send = send;
    this.#tell = tell;
  }

  get leader(): string | null {
    return this.#leader;
  }
  /** Whether nothing is under way that could not wait. */
  get isIdle(): boolean {
    return [...this.#pending.values()].every(({ call }) => PATIENT.has(call.method));
  }

  /** Asks, now or as soon as somebody leads. */
  ask(id: number, call: Call): void {
    const pending = { call, to: null, wasLost: false, isCancelled: false };
    this.#pending.set(id, pending);
    this.#ask(id, pending);
  }

  #ask(id: number, pending: Pending): void {
    if (pending.isCancelled) return this.#drop(id);
    pending.to = this.#leader;
    if (this.#leader !== null) this.#send(this.#leader, id, pending.call);
  }

  /** The page waits no more. Whom that call was asked of, if anybody. */
  cancel(id: number): string | null {
    const pending = this.#pending.get(id);
    if (!pending) return null;
    pending.isCancelled = true;
    if (pending.to === null) this.#drop(id);
    return pending.to;
  }

  /** What was cancelled and is asked no more. Some of it is waited for all the same. */
  #drop(id: number): void {
    this.#pending.delete(id);
    this.#tell(id, { error: { code: null, name: "AbortError", message: "the call was cancelled" } });
  }

  /** Whom the call was asked of. */
  toOf(id: number): string | null {
    return this.#pending.get(id)?.to ?? null;
  }

  /** `leader` leads from now on: whatever another was asked and never answered is asked again, or is ambiguous. */
  follow(leader: string): void {
    if (this.#leader === leader) return;
    this.#leader = leader;
    for (const [id, pending] of this.#pending) {
      if (pending.to === leader) continue;
      const isLost = pending.to !== null;
      if (isLost && !AGAIN.has(pending.call.method)) {
        this.settle(id, { error: { code: "ambiguous", name: "KeyledgerError", message: AMBIGUOUS } });
        continue;
      }
      pending.wasLost ||= isLost;
      this.#ask(id, pending);
    }
  }

  /** `leader` has let go of the ledger: what it has not answered it has not done. */
  leave(leader: string): void {
    if (this.#leader !== leader) return;
    this.#leader = null;
    for (const [id, pending] of this.#pending) {
      if (pending.to !== leader) continue;
      pending.to = null;
      if (pending.isCancelled) this.#drop(id);
    }
  }

  /** What a call came to. */
  settle(id: number, outcome: Outcome): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    if ("moved" in outcome) {
      if (pending.to === this.#leader) this.#leader = null;
      this.#ask(id, pending);
      return;
    }
    this.#pending.delete(id);
    this.#tell(id, pending.wasLost ? afterLoss(outcome) : outcome);
  }
}

/** Whoever settles a second time is told that the claim is gone, and cannot know whether the first time has settled it. */
function afterLoss(outcome: Outcome): Outcome {
  const isClaim = "error" in outcome && ["claim_lost", "claim_settled"].includes(outcome.error.code ?? "");
  return isClaim ? { error: { ...outcome.error, code: "ambiguous", message: AMBIGUOUS } } : outcome;
}
