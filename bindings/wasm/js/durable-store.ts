import { KeyledgerError } from "./errors.js";
import type { Durability, Store } from "./store.js";

/** A row of the table that the ledger is in. Billing counts rows that are written, whatever their length. */
const PAGE_BYTES = 4096;
/** Where the length is, among the pages. */
const LENGTH = -1;

const CREATE = "CREATE TABLE IF NOT EXISTS keyledger_pages (page INTEGER PRIMARY KEY, bytes BLOB NOT NULL)";
const PUT = "INSERT INTO keyledger_pages VALUES (?, ?) ON CONFLICT (page) DO UPDATE SET bytes = excluded.bytes";
const READ = "SELECT page, bytes FROM keyledger_pages WHERE page BETWEEN ? AND ?";
const CUT = "DELETE FROM keyledger_pages WHERE page >= ?";

/** What the store needs of a Durable Object's `ctx.storage`. */
export interface DurableStorage {
  readonly sql: { exec(query: string, ...bindings: unknown[]): { toArray(): Record<string, unknown>[] } };
  transactionSync<T>(closure: () => T): T;
}

interface PageRow {
  page: number;
  bytes: ArrayBuffer;
}

/** Which objects have a ledger open on their storage. */
const HELD = new WeakSet<DurableStorage>();

/**
 * The storage of a Durable Object with SQLite: pages of the ledger are rows of a table of its own. What one sync writes is stored as a
 * whole or not at all, and the platform lets no word of it out before it is.
 *
 * Not to be used inside `transactionSync` of the caller's: what that takes back the ledger would still believe.
 */
export class DurableStore implements Store {
  readonly durability: Durability = "persisted";
  readonly #storage: DurableStorage;
  /** What was written since the last sync. */
  readonly #dirty = new Map<number, Uint8Array>();
  #length = 0;
  #storedLength = 0;

  /** @param storage `ctx.storage` of an object whose class is in `new_sqlite_classes`. */
  constructor(storage: DurableStorage) {
    this.#storage = storage;
    this.open();
  }

  open(): void {
    if (HELD.has(this.#storage)) {
      throw new KeyledgerError("already_open", "this object has a ledger open on its storage already; keep that one in a field of the object");
    }
    try {
      this.#exec(CREATE);
      const [row] = this.#pages(LENGTH, LENGTH);
      this.#storedLength = row ? new DataView(row.bytes).getFloat64(0) : 0;
    } catch (error) {
      const why = `the object has no storage with SQLite (new_sqlite_classes): ${(error as Error).message}`;
      throw new KeyledgerError("unavailable", why);
    }
    this.#length = this.#storedLength;
    this.#dirty.clear();
    HELD.add(this.#storage);
  }

  length(): number {
    return this.#length;
  }

  read(offset: number, into: Uint8Array): void {
    if (offset + into.length > this.#length) throw new RangeError("a read behind the end");
    into.fill(0);
    const [first, last] = pagesOf(offset, into.length);
    for (const { page, bytes } of this.#pages(first, last)) lay(new Uint8Array(bytes), page, into, offset);
    for (let page = first; page <= last; page++) {
      const dirty = this.#dirty.get(page);
      if (dirty) lay(dirty, page, into, offset);
    }
  }

  write(offset: number, bytes: Uint8Array): void {
    this.#length = Math.max(this.#length, offset + bytes.length);
    const [first, last] = pagesOf(offset, bytes.length);
    for (let page = first; page <= last; page++) {
      const start = page * PAGE_BYTES;
      const from = Math.max(offset, start);
      const to = Math.min(offset + bytes.length, start + PAGE_BYTES);
      const whole = to - from === PAGE_BYTES ? new Uint8Array(PAGE_BYTES) : this.#page(page);
      whole.set(bytes.subarray(from - offset, to - offset), from - start);
      this.#dirty.set(page, whole);
    }
  }

  setLength(length: number): void {
    if (length < this.#length) this.#cut(length);
    this.#length = length;
  }

  sync(): void {
    if (this.#dirty.size === 0 && this.#length === this.#storedLength) return;
    this.#storage.transactionSync(() => {
      for (const [page, bytes] of this.#dirty) this.#exec(PUT, page, bytes);
      if (this.#length !== this.#storedLength) this.#exec(PUT, LENGTH, eightBytes(this.#length));
    });
    this.#storedLength = this.#length;
    this.#dirty.clear();
  }

  close(): void {
    HELD.delete(this.#storage);
  }

  /** Zeros behind the new end: a page that is partly behind it, and rows that are wholly. */
  #cut(length: number): void {
    const kept = Math.ceil(length / PAGE_BYTES);
    for (const page of this.#dirty.keys()) if (page >= kept) this.#dirty.delete(page);
    this.#exec(CUT, kept);
    if (length % PAGE_BYTES === 0) return;
    const last = this.#page(kept - 1);
    last.fill(0, length % PAGE_BYTES);
    this.#dirty.set(kept - 1, last);
  }

  #page(page: number): Uint8Array {
    const dirty = this.#dirty.get(page);
    if (dirty) return dirty;
    const [row] = this.#pages(page, page);
    return row ? new Uint8Array(row.bytes) : new Uint8Array(PAGE_BYTES);
  }

  #pages(first: number, last: number): PageRow[] {
    return this.#exec(READ, first, last) as unknown as PageRow[];
  }

  #exec(query: string, ...bindings: unknown[]): Record<string, unknown>[] {
    return this.#storage.sql.exec(query, ...bindings).toArray();
  }
}

function pagesOf(offset: number, length: number): [first: number, last: number] {
  return [Math.floor(offset / PAGE_BYTES), Math.floor((offset + length - 1) / PAGE_BYTES)];
}

/** Lays what `into`, which begins at `offset`, has of a page. */
function lay(bytes: Uint8Array, page: number, into: Uint8Array, offset: number): void {
  const at = page * PAGE_BYTES - offset;
  const from = Math.max(0, -at);
  const to = Math.min(bytes.length, into.length - at);
  if (from < to) into.set(bytes.subarray(from, to), at + from);
}

function eightBytes(number: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, number);
  return bytes;
}
