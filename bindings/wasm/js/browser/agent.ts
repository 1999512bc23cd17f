import { hostOf } from "../host.js";
import { LedgerHandle, type LedgerOptions } from "../ledger.js";
import { Desk } from "../remote/desk.js";
import type { Call, Outcome, Said } from "../remote/messages.js";
import { plainError } from "../remote/plain.js";
import type { Durability } from "../store.js";
import { ended } from "../waiting.js";
import { Calls } from "./calls.js";
import { type Between, betweenOf, type FromPage, type ToPage } from "./messages.js";
import { OpfsStore } from "./opfs-store.js";
import { callSoon } from "./soon.js";

/**
 * What a tab has in its worker. One agent of all the tabs of an origin leads: it has the file, and answers for all. Which one does, a Web
 * Lock decides; whoever waits for it is the next.
 */
export class Agent {
  readonly #id = crypto.randomUUID();
  readonly #name: string;
  readonly #options: LedgerOptions;
  readonly #tell: (message: ToPage) => void;
  readonly #calls: Calls;
  #channel: BroadcastChannel | null = null;
  #desk: Desk | null = null;
  #durability: Durability = "best_effort";
  /** Ends what this agent holds and waits for: the lead, and the sign that it lives. */
  #life: AbortController | null = null;
  #lead: Promise<void> = Promise.resolve();
  /** Who leads is learned in the order in which it was told. */
  #learning: Promise<void> = Promise.resolve();
  #isOpened = false;

  constructor(name: string, options: LedgerOptions, tell: (message: ToPage) => void) {
    this.#name = name;
    this.#options = options;
    this.#tell = tell;
    this.#calls = new Calls(
      (to, id, call) => {
        if (to === this.#id) this.#ask(id, call);
        else this.#post({ kind: "call", to, from: this.#id, id, call });
      },
      (id, outcome) => tell({ kind: "outcome", id, outcome }),
    );
  }

  /** Asks the desk of this agent itself. */
  #ask(id: number, call: Call): void {
    const say = (said: Said) => this.#said(this.#id, id, said);
    void this.#desk?.answer(this.#id, id, call, say).then((outcome) => this.#calls.settle(id, outcome));
  }

  /** For the page, if it still waits for that of `from`. */
  #said(from: string, id: number, said: Said): void {
    if (this.#calls.toOf(id) === from) this.#tell({ kind: "said", id, said });
  }

  /** Takes part: shows that it lives, asks who leads, and stands in line for the lead. */
  show(): void {
    if (this.#life) return this.#lives();
    const life = (this.#life = new AbortController());
    void navigator.locks.request(signOf(this.#id), () => {
      this.#join(life.signal);
      return ended(life.signal);
    });
  }

  /** With its sign held: who leads takes one that is free for a tab that has gone. */
  #join(life: AbortSignal): void {
    if (life.aborted) return;
    this.#lives();
    this.#channel = new BroadcastChannel(`keyledger ${this.#name}`);
    this.#channel.onmessage = ({ data }) => {
      const message = betweenOf(data);
      if (message) this.#heard(message);
    };
    this.#lead = this.#standInLine(life).catch((error: unknown) => {
      if (!life.aborted) this.#failed(error);
    });
    this.#post({ kind: "who" });
  }

  #lives(): void {
    this.#tell({ kind: "lives", sign: signOf(this.#id) });
  }

  /** Lets go of everything, if no call of this page is under way. The claims of the page end their leases. */
  hide(): void {
    if (this.#calls.isIdle) void this.#withdraw();
  }

  async close(): Promise<void> {
    await this.#withdraw();
    this.#tell({ kind: "closed" });
  }

  async #withdraw(): Promise<void> {
    this.#life?.abort();
    this.#life = null;
    await this.#lead;
    if (this.#calls.leader !== null) this.#calls.leave(this.#calls.leader);
    this.#channel?.close();
    this.#channel = null;
  }

  from(message: FromPage): void {
    switch (message.kind) {
      case "call":
        return this.#calls.ask(message.id, message.call);
      case "cancel":
        return this.#cancel(message.id);
      case "hide":
        return this.hide();
      case "show":
        return this.show();
      case "close":
        return void this.close();
      default:
    }
  }

  /** Also where the page was told already, and had given up: what the call was granted is nobody's. */
  #cancel(id: number): void {
    const to = this.#calls.cancel(id) ?? this.#calls.leader;
    if (to === this.#id) this.#desk?.cancel(to, id);
    else if (to !== null) this.#post({ kind: "cancel", to, from: this.#id, id });
  }

  async #standInLine(life: AbortSignal): Promise<void> {
    await navigator.locks.request(leadOf(this.#name), { signal: life }, () => this.#leads(life));
  }

  /** Inside the lock: opens the file, answers for all, and lets go when this tab does. */
  async #leads(life: AbortSignal): Promise<void> {
    const store = await OpfsStore.open(this.#name);
    const ledger = new LedgerHandle(store, hostOf(callSoon), this.#options);
    const desk = (this.#desk = new Desk(ledger));
    try {
      this.#durability = store.durability;
      await navigator.locks.request(leadOf(this.#name, this.#id), async () => {
        const leads = { kind: "leads", from: this.#id, durability: this.#durability } as const;
        this.#post(leads);
        this.#learn(leads);
        await ended(life);
        await desk.finish();
      });
    } finally {
      this.#desk = null;
      ledger.closeSync();
      this.#post({ kind: "leaves", from: this.#id });
    }
  }

  /** Anybody can say who leads: it is so if the lock in the leader's name says the same. */
  #learn(message: Between & { kind: "leads" | "leaves" }): void {
    const life = this.#life;
    const learned = this.#learning.then(async () => {
      const leads = await isHeld(leadOf(this.#name, message.from));
      if (life === null || life !== this.#life) return;
      if (message.kind === "leads" && leads) this.#follow(message.from, message.durability);
      if (message.kind === "leaves" && !leads) this.#calls.leave(message.from);
    });
    this.#learning = learned.catch(() => undefined);
  }

  #follow(leader: string, durability: Durability): void {
    this.#calls.follow(leader);
    if (this.#isOpened) return;
    this.#isOpened = true;
    this.#tell({ kind: "opened", durability });
  }

  #failed(error: unknown): void {
    this.#tell({ kind: "failed", error: plainError(error) });
  }

  #heard(message: Between): void {
    switch (message.kind) {
      case "who":
        if (this.#desk?.isOpen) this.#post({ kind: "leads", from: this.#id, durability: this.#durability });
        return;
      case "leads":
      case "leaves":
        return this.#learn(message);
      case "call":
        if (message.to === this.#id) void this.#answer(message);
        return;
      case "cancel":
        if (message.to === this.#id) this.#desk?.cancel(message.from, message.id);
        return;
      case "said":
        if (message.to === this.#id) this.#said(message.from, message.id, message.said);
        return;
      case "outcome":
        if (message.to === this.#id && this.#calls.toOf(message.id) === message.from) this.#settle(message.id, message.outcome);
    }
  }

  /** Where the ledger has moved, somebody else says so by itself; where it has not, whoever leads has to be asked. */
  #settle(id: number, outcome: Outcome): void {
    this.#calls.settle(id, outcome);
    if ("moved" in outcome) this.#post({ kind: "who" });
  }

  async #answer({ from, id, call }: Between & { kind: "call" }): Promise<void> {
    const desk = this.#desk;
    if (desk) this.#watch(desk, from);
    const say = (said: Said) => this.#post({ kind: "said", to: from, from: this.#id, id, said });
    const outcome: Outcome = desk ? await desk.answer(from, id, call, say) : { moved: true };
    this.#post({ kind: "outcome", to: from, from: this.#id, id, outcome });
  }

  /** The sign of a tab is free when the tab is gone: what it had begun ends then. */
  #watch(desk: Desk, from: string): void {
    if (!this.#life || !desk.meets(from)) return;
    const gone = navigator.locks.request(signOf(from), { signal: this.#life.signal }, () => desk.gone(from));
    gone.catch(() => undefined);
  }

  #post(message: Between): void {
    this.#channel?.postMessage(message);
  }
}

const signOf = (id: string) => `keyledger tab ${id}`;

/** The lock that agents stand in line for; and the one that who has it holds in its own name. */
const leadOf = (name: string, id?: string) => (id === undefined ? `keyledger lead ${name}` : `keyledger leads ${id} ${name}`);

async function isHeld(name: string): Promise<boolean> {
  const { held = [] } = await navigator.locks.query();
  return held.some((lock) => lock.name === name);
}
