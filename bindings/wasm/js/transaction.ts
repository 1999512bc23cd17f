import { NativeBatch } from "./native/keyledger.js";
import type { KeyId } from "./operation.js";
import { type Answer, type Bytes, StoredResponse, toBytes } from "./response.js";
import type { NativeClosure } from "./store.js";

/** A row of the caller's own. */
export type Row = [key: Uint8Array, value: Uint8Array];

type Call = (words: unknown[]) => unknown;

const orNull = (bytes: Bytes | null | undefined) => (bytes == null ? null : toBytes(bytes));

/** The caller's own tables, inside a transaction. It is good until the closure that has it returns. */
export class Transaction {
  readonly #call: Call;

  private constructor(call: Call) {
    this.#call = call;
  }

  /** @internal */
  static plain<T>(f: (tx: Transaction) => T): NativeClosure {
    return { run: (call) => settled(f(new Transaction(call))) };
  }
  /** @internal */
  static answering(f: (tx: Transaction) => Answer): NativeClosure {
    return {
      run: (call) => {
        const { mediaType, body } = StoredResponse.of(settled(f(new Transaction(call))));
        return [mediaType, body ?? new Uint8Array()];
      },
    };
  }

  get(table: string, key: Bytes): Uint8Array | null {
    return this.#call(["get", table, toBytes(key)]) as Uint8Array | null;
  }
  scan(table: string, range: { from?: Bytes; to?: Bytes | null; limit: number }): Row[] {
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
  /** Settles another claim in the same transaction. */
  complete(claim: { readonly keyId: KeyId; readonly fence: number }, answer: Answer): void {
    const { scope, operation, key } = claim.keyId;
    const { mediaType, body } = StoredResponse.of(answer);
    this.#call(["complete", scope, operation, key, claim.fence, mediaType, body ?? new Uint8Array()]);
  }
}

/** A closure that waits would go on after its transaction has ended. */
function settled<T>(value: T): T {
  if (value instanceof Promise) throw new TypeError("a closure of a transaction cannot wait: it runs inside the commit");
  return value;
}

/** Changes of rows as a value: all of them are made, or none. */
export class Batch {
  /** @internal */
  readonly native = new NativeBatch();

  put(table: string, key: Bytes, value: Bytes): this {
    this.native.put(table, toBytes(key), toBytes(value));
    return this;
  }
  delete(table: string, key: Bytes): this {
    this.native.delete(table, toBytes(key));
    return this;
  }
  insertUnique(table: string, key: Bytes, value: Bytes): this {
    this.native.insertUnique(table, toBytes(key), toBytes(value));
    return this;
  }
  compareAndSet(table: string, key: Bytes, expected: Bytes | null, value: Bytes | null): this {
    this.native.compareAndSet(table, toBytes(key), orNull(expected) ?? undefined, orNull(value) ?? undefined);
    return this;
  }
}
