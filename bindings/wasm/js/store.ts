import { KeyledgerError } from "./errors.js";

/** What a store promises of what was synced. */
export type Durability = "persisted" | "best_effort" | "ephemeral";

/**
 * What a platform brings: a growing array of bytes that can be synced. Every method is synchronous, and throws when it cannot do its
 * work. A store object belongs to one ledger, once: whoever gives it to a second one is told `already_open`, or `closed`.
 */
export interface Store {
  /** What a crash, a full disk or a browser in need of space may do to what was synced. */
  readonly durability: Durability;
  /** How many bytes there are. */
  length(): number;
  /** Fills `into` with the bytes from `offset` on; there are as many. */
  read(offset: number, into: Uint8Array): void;
  /** Writes the bytes at `offset`. They are copied, or written, before this returns. */
  write(offset: number, bytes: Uint8Array): void;
  /** Cuts, or grows with zeros. */
  setLength(length: number): void;
  /** On return all that was written is where a crash does not reach it, as far as `durability` says. */
  sync(): void;
  /** Lets go of the store and of its lock. */
  close(): void;
  /** Takes hold again after `close`: for `resume` and `reopen`. */
  open(): void | Promise<void>;
  /** Whether `open` returns a promise. Such a store stays open over `reopen`, and has no `resumeSync`. */
  readonly opensLater?: boolean;
  /** All of it as one value, where the store can tell it. */
  snapshot?(): Uint8Array;
  /** Called when there is a whole ledger on it, and before that is read anew: others have to find it where this store is. @internal */
  named?(): void;
}

/** Where the time comes from. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  wallMs(): number;
  /** Milliseconds since some instant; never falls. */
  monotonicMs(): number;
  /** How long to really wait for `ms` of this clock to pass. Absent: so long. A clock that only moves when a test moves it answers with a moment. */
  sleepMs?(ms: number): number;
}

/** What WebAssembly has not by itself. */
export interface Host extends Clock {
  /** Fills with random bytes. */
  fillRandom(bytes: Uint8Array): void;
  /** Has `commit` called soon, not from inside this call. All that is queued until then shares one sync. */
  callSoon(commit: () => void): void;
  /** Calls `wake` once, when the time has passed; what it returns is for `callOff`. */
  callAfter(ms: number, wake: () => void): unknown;
  /** Calls that off. */
  callOff(timer: unknown): void;
  sleepMs(ms: number): number;
}

export type { NativeTransport } from "./outbox/driver.js";

/** A closure that runs inside a transaction. `call` is good until it returns. */
export interface NativeClosure {
  run(call: (words: unknown[]) => unknown): unknown;
}

/** Who has, or has had, a store. */
const HOLDERS = new WeakMap<Store, GuardedStore>();

const closed = () => new KeyledgerError("closed", "the ledger is closed; open it again");

const gone = () => {
  throw closed();
};
/** What is left of a store that is closed for good. */
const GONE: Store = { durability: "ephemeral", length: gone, read: gone, write: gone, setLength: gone, sync: gone, close: gone, open: gone };

/** A store that refuses everything when its ledger is closed, so that a handle which nobody has any more can do nothing to a file. */
export class GuardedStore implements Store {
  #store: Store;
  readonly durability: Durability;
  #isHeld = true;
  #isKept = false;
  #isOver = false;

  constructor(store: Store) {
    const holder = HOLDERS.get(store);
    if (holder) throw holder.#isOver ? closed() : new KeyledgerError("already_open", "another ledger has this store; give each its own");
    HOLDERS.set(store, this);
    this.#store = store;
    this.durability = store.durability;
  }

  /** False while its ledger is suspended, and when it is closed. */
  get isHeld(): boolean {
    return this.#isHeld;
  }
  get #open(): Store {
    if (this.#isOver) throw closed();
    if (!this.#isHeld) throw new KeyledgerError("suspended", "the ledger is suspended; call resume first");
    return this.#store;
  }
  named(): void {
    this.#store.named?.();
  }

  /** Whoever opens a store anew asks for its length first. */
  length(): number {
    this.open();
    return this.#store.length();
  }
  read(offset: number, into: Uint8Array): void {
    this.#open.read(offset, into);
  }
  write(offset: number, bytes: Uint8Array): void {
    this.#open.write(offset, bytes);
  }
  setLength(length: number): void {
    this.#open.setLength(length);
  }
  sync(): void {
    this.#open.sync();
  }
  close(): void {
    if (!this.#isHeld || this.#isKept) return;
    this.#isHeld = false;
    this.#store.close();
  }
  open(): void {
    if (this.#mayOpen()) {
      if (this.#store.opensLater) throw new KeyledgerError("invalid_argument", "this store cannot be opened at once; await resume()");
      void this.#store.open();
      this.#isHeld = true;
    }
  }
  async openLater(): Promise<void> {
    if (this.#mayOpen()) {
      await this.#store.open();
      this.#isHeld = true;
    }
  }
  #mayOpen(): boolean {
    if (this.#isOver) throw closed();
    return !this.#isHeld;
  }
  /** Runs `reopen`, which closes and opens; a store that cannot be opened at once stays open meanwhile. */
  over(reopen: () => void): void {
    if (this.#isHeld) this.named();
    this.#isKept = this.#store.opensLater ?? false;
    try {
      reopen();
    } finally {
      this.#isKept = false;
    }
  }
  snapshot(): Uint8Array {
    const told = this.#open.snapshot?.();
    if (told === undefined) throw new KeyledgerError("invalid_argument", "only a ledger in memory has a snapshot; copy its file instead");
    return told;
  }
  /** Closes for good. */
  end(): void {
    this.#isOver = true;
    this.close();
    // A handle that lives on has nothing of it: in memory a store is megabytes.
    this.#store = GONE;
  }
}
