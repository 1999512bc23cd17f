import type { AnyOutbox } from "./any.js";
import { checkFunction, checkName, checkRange, kindOf, refused } from "./door.js";
import { KeyledgerError } from "./errors.js";
import { NativeBatch } from "./native/keyledger.js";
import type { KeyId } from "./operation.js";
import type { Outgoing } from "./outbox/http.js";
import type { Enqueued, Outbox } from "./outbox/outbox.js";
import type { Wishes } from "./outbox/wishes.js";
import type { RemoteOutbox } from "./remote/outbox.js";
import { type Answer, type Bytes, StoredResponse, isBytes, toBytes } from "./response.js";
import type { NativeClosure } from "./store.js";
import { atOnce } from "./telling.js";

/** A row of the caller's own. */
export type Row = [key: Uint8Array, value: Uint8Array];

/** What a closure of a transaction may return. It runs inside the commit, and cannot wait: a promise is none of it. */
export type AtOnce<T> = T extends PromiseLike<unknown> ? never : T;

/** One that waits would go on after its transaction has ended. */
const CLOSURE = "a closure of a transaction, which runs inside the commit,";

/** A verb, and the table or the parts of a key id. */
const NAMES_MAX = 4;

type Call = (words: unknown[]) => unknown;

const orNull = (bytes: Bytes | null | undefined) => (bytes == null ? null : toBytes(bytes));

/** The bytes as they are now: a batch is a value. */
const copied = (bytes: Bytes) => toBytes(bytes).slice();

/** What is no plain object is told of when the batch is applied. */
const shallow = <T>(given: T): T => (given != null && Object.getPrototypeOf(given) === Object.prototype ? { ...given } : given);

function kept(request: Outgoing): Outgoing {
  if (isBytes(request)) return request.slice();
  const copy = shallow(request);
  return copy !== request && typeof copy === "object" && "body" in copy && isBytes(copy.body) ? { ...copy, body: copy.body.slice() } : copy;
}

/** The caller's own tables, inside a transaction. It is good until the closure that has it returns. */
export class Transaction {
  readonly #call: Call;
  #isOver = false;

  private constructor(call: Call) {
    this.#call = (words) => {
      if (this.#isOver) throw refused("the transaction is over: it is good until the closure that has it returns");
      words.slice(0, NAMES_MAX).forEach(checkName);
      return call(words);
    };
  }

  /** @internal */
  static plain<T>(f: (tx: Transaction) => T): NativeClosure {
    checkFunction("what runs inside a transaction", f);
    return { run: (call) => Transaction.#during(call, f) };
  }
  static #during<T>(call: Call, f: (tx: Transaction) => T): T {
    const tx = new Transaction(call);
    try {
      return atOnce(f(tx), CLOSURE);
    } finally {
      tx.#isOver = true;
    }
  }
  /** @internal */
  static answering(f: (tx: Transaction) => Answer): NativeClosure {
    checkFunction("what runs inside a transaction", f);
    return {
      run: (call) => {
        const { mediaType, body } = StoredResponse.of(Transaction.#during(call, f));
        return [mediaType, body ?? new Uint8Array()];
      },
    };
  }

  get(table: string, key: Bytes): Uint8Array | null {
    return this.#call(["get", table, toBytes(key)]) as Uint8Array | null;
  }
  scan(table: string, range: { from?: Bytes; to?: Bytes | null; limit: number }): Row[] {
    checkRange(range);
    return this.#call(["scan", table, toBytes(range.from ?? ""), orNull(range.to), range.limit]) as Row[];
  }
  put(table: string, key: Bytes, value: Bytes): void {
    this.#call(["put", table, toBytes(key), toBytes(value)]);
  }
  delete(table: string, key: Bytes): void {
    this.#call(["delete", table, toBytes(key)]);
  }
  /** Throws `unique_violation` where there is a row. */
  insertUnique(table: string, key: Bytes, value: Bytes): void {
    this.#call(["insertUnique", table, toBytes(key), toBytes(value)]);
  }
  /** Throws `compare_failed` where the row is not `expected`; null is no row. */
  compareAndSet(table: string, key: Bytes, expected: Bytes | null, value: Bytes | null): void {
    this.#call(["compareAndSet", table, toBytes(key), orNull(expected), orNull(value)]);
  }
  /** A request to be sent once this transaction is on disk: with the business change, or not at all. */
  enqueue(outbox: Outbox, request: Outgoing, wishes: Wishes): Enqueued {
    return outbox.enqueued(this.#call(["enqueue", outbox.asked(request, wishes)]));
  }
  /** Settles another claim in the same transaction. */
  complete(claim: { readonly keyId: KeyId; readonly fence: number }, answer: Answer): void {
    const { scope, operation, key } = claim.keyId;
    const { mediaType, body } = StoredResponse.of(answer);
    this.#call(["complete", scope, operation, key, claim.fence, mediaType, body ?? new Uint8Array()]);
  }
}

/** One change of a batch: what is done to which row, and with what. */
export type Change =
  | readonly [verb: "put" | "insertUnique", table: string, key: Uint8Array, value: Uint8Array]
  | readonly [verb: "delete", table: string, key: Uint8Array]
  | readonly [verb: "compareAndSet", table: string, key: Uint8Array, expected: Uint8Array | null, value: Uint8Array | null];

/** A request in a batch. */
type Enqueueing = readonly [verb: "enqueue", outbox: Outbox | RemoteOutbox, request: Outgoing, wishes: Wishes];

/** @internal */
export const anothers = () => new KeyledgerError("invalid_argument", "the outbox is another ledger's; use the one of this ledger");

/** One that lives elsewhere is no outbox of a ledger of this thread. */
function ofThisThread(outbox: Outbox | RemoteOutbox): Outbox {
  if ("asked" in outbox) return outbox;
  throw anothers();
}

/** Changes of rows, and requests to be sent, as a value: all of them are made, or none. */
export class Batch {
  readonly #all: (Change | Enqueueing)[] = [];

  /** For another thread. @internal */
  get changes(): readonly (Change | Enqueueing)[] {
    return this.#all;
  }

  /** @internal */
  static of(changes: readonly (Change | Enqueueing)[]): Batch {
    const batch = new Batch();
    batch.#all.push(...changes);
    return batch;
  }

  put(table: string, key: Bytes, value: Bytes): this {
    return this.#with("put", table, copied(key), copied(value));
  }
  delete(table: string, key: Bytes): this {
    return this.#with("delete", table, copied(key));
  }
  insertUnique(table: string, key: Bytes, value: Bytes): this {
    return this.#with("insertUnique", table, copied(key), copied(value));
  }
  /** A request to be sent once the batch is on disk. The outbox is one of the ledger that is given the batch, wherever that ledger lives. */
  enqueue(outbox: AnyOutbox, request: Outgoing, wishes: Wishes): this {
    return this.#with("enqueue", outbox as Outbox | RemoteOutbox, kept(request), shallow(wishes));
  }
  compareAndSet(table: string, key: Bytes, expected: Bytes | null, value: Bytes | null): this {
    return this.#with("compareAndSet", table, copied(key), orNull(expected)?.slice() ?? null, orNull(value)?.slice() ?? null);
  }
  #with(...change: Change | Enqueueing): this {
    this.#all.push(change);
    return this;
  }

  /** @internal */
  applyTo(tx: Transaction): void {
    for (const one of this.#all) {
      if (one[0] === "enqueue") {
        const [, outbox, request, wishes] = one;
        tx.enqueue(ofThisThread(outbox), request, wishes);
        continue;
      }
      const [verb, table, key, first = null, second = null] = one;
      if (verb === "delete") tx.delete(table, key);
      else if (verb === "compareAndSet") tx.compareAndSet(table, key, first, second);
      else tx[verb](table, key, first as Uint8Array);
    }
  }

  /** @internal */
  get native(): NativeBatch {
    const native = new NativeBatch();
    for (const one of this.#all) {
      if (one[0] === "enqueue") {
        const [, outbox, request, wishes] = one;
        native.enqueue(ofThisThread(outbox).asked(request, wishes));
        continue;
      }
      const [verb, table, key, first, second] = one;
      if (verb === "put") native.put(table, key, first);
      else if (verb === "insertUnique") native.insertUnique(table, key, first);
      else if (verb === "delete") native.delete(table, key);
      else native.compareAndSet(table, key, first ?? undefined, second ?? undefined);
    }
    return native;
  }
}

/** What is none would be told of by its members. @internal */
export function batchOf(given: Batch): Batch {
  if (given instanceof Batch) return given;
  throw refused(`rows and requests are given as a Batch; this is ${kindOf(given)}`);
}
