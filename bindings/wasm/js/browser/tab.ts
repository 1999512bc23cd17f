import { KeyledgerError } from "../errors.js";
import type { LedgerOptions } from "../ledger.js";
import type { Carrier, Outcome } from "../remote/messages.js";
import { errorOf } from "../remote/plain.js";
import type { Durability } from "../store.js";
import type { FromPage, ToPage } from "./messages.js";

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The page's side of its worker. */
export class Tab implements Carrier {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #life = new AbortController();
  readonly opened: Promise<Durability>;
  #opening!: { resolve: (durability: Durability) => void; reject: (error: unknown) => void };
  #isClosed = false;
  #onClosed = () => {};
  #calls = 0;

  constructor(worker: Worker, name: string, options: LedgerOptions) {
    this.#worker = worker;
    this.opened = new Promise((resolve, reject) => (this.#opening = { resolve, reject }));
    worker.onmessage = ({ data }: MessageEvent<ToPage>) => this.#told(data);
    worker.onerror = (event) => this.#end(new KeyledgerError("unavailable", `the worker of the ledger does not run: ${event.message}`));
    this.#post({ kind: "open", name, options });
    this.#listen();
  }

  /** A page that is left or frozen may come back; until then another tab has to be able to lead. */
  #listen(): void {
    const { signal } = this.#life;
    const hide = () => this.#post({ kind: "hide" });
    const show = () => this.#post({ kind: "show" });
    addEventListener("pagehide", hide, { signal });
    addEventListener("pageshow", show, { signal });
    if (typeof document === "undefined") return;
    document.addEventListener("freeze", hide, { signal });
    document.addEventListener("resume", show, { signal });
  }

  call(method: string, words: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new KeyledgerError("closed", "the ledger is closed"));
    const id = (this.#calls += 1);
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.#post({ kind: "cancel", id });
        this.#take(id)?.reject(signal?.reason);
      };
      signal?.addEventListener("abort", cancel, { once: true });
      const stop = () => signal?.removeEventListener("abort", cancel);
      this.#waiting.set(id, {
        resolve: (value) => (stop(), resolve(value)),
        reject: (error) => (stop(), reject(error)),
      });
      this.#post({ kind: "call", id, call: { method, words } });
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    const closed = new Promise<void>((resolve) => (this.#onClosed = resolve));
    this.#post({ kind: "close" });
    this.#isClosed = true;
    await closed;
    this.#end(new KeyledgerError("closed", "the ledger is closed"));
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #told(message: ToPage): void {
    switch (message.kind) {
      case "opened":
        return this.#opening.resolve(message.durability);
      case "failed":
        return this.#end(errorOf(message.error));
      case "closed":
        return this.#onClosed();
      case "outcome": {
        const waiting = this.#take(message.id);
        const { outcome } = message;
        if (!waiting) this.#giveBack(outcome);
        else if ("value" in outcome) waiting.resolve(outcome.value);
        else if ("error" in outcome) waiting.reject(errorOf(outcome.error));
      }
    }
  }

  /** A claim that came too late for a caller who has given up. */
  #giveBack(outcome: Outcome): void {
    const decision = "value" in outcome ? (outcome.value as { kind?: string; claim?: { fence: number } } | null) : null;
    if (decision?.kind === "acquired") this.call("drop", [decision.claim?.fence]).catch(() => undefined);
  }

  /** Nothing comes from the worker any more. */
  #end(error: unknown): void {
    this.#isClosed = true;
    this.#life.abort();
    this.#worker.terminate();
    this.#opening.reject(error);
    this.opened.catch(() => undefined);
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(error);
    this.#onClosed();
  }

  #post(message: FromPage): void {
    this.#worker.postMessage(message);
  }
}
