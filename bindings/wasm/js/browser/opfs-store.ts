import { KeyledgerError } from "../errors.js";
import type { Durability, Store } from "../store.js";

/** What the types of pages lack: only workers have it. */
interface SyncHandle {
  getSize(): number;
  read(into: Uint8Array, options: { at: number }): number;
  write(bytes: Uint8Array, options: { at: number }): number;
  truncate(length: number): void;
  flush(): void;
  close(): void;
}
type FileOfWorker = FileSystemFileHandle & { createSyncAccessHandle(): Promise<SyncHandle> };

/** The folder of the origin's private file system that ledgers are in. */
const FOLDER = "keyledger";

/** How long to wait for a handle of a worker that has just gone, and how long between two tries. */
const PATIENCE_MS = 5_000;
const PAUSE_MS = 50;

/**
 * A file of the origin's private file system. Only a dedicated worker can have one, and while it has, no other can open the file.
 * What was synced outlives tab and browser; whether it outlives the browser's need for space, `durability` says.
 */
export class OpfsStore implements Store {
  readonly durability: Durability;
  readonly opensLater = true;
  readonly #name: string;
  #handle: SyncHandle;

  private constructor(name: string, handle: SyncHandle, durability: Durability) {
    this.#name = name;
    this.#handle = handle;
    this.durability = durability;
  }

  /** Opens the file, or makes it. Throws `already_open` where another worker keeps it. */
  static async open(name: string): Promise<OpfsStore> {
    const handle = await handleOf(name);
    const isPersisted = await navigator.storage.persisted();
    return new OpfsStore(name, handle, isPersisted ? "persisted" : "best_effort");
  }

  length(): number {
    return this.#handle.getSize();
  }
  read(offset: number, into: Uint8Array): void {
    for (let done = 0; done < into.length; ) {
      const count = this.#handle.read(into.subarray(done), { at: offset + done });
      if (count === 0) throw new RangeError("a read behind the end of the file");
      done += count;
    }
  }
  write(offset: number, bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      const count = this.#handle.write(bytes.subarray(done), { at: offset + done });
      if (count === 0) throw new Error("the browser has no room for it");
      done += count;
    }
  }
  setLength(length: number): void {
    this.#handle.truncate(length);
  }
  sync(): void {
    this.#handle.flush();
  }
  close(): void {
    this.#handle.close();
  }
  async open(): Promise<void> {
    this.#handle = await handleOf(this.#name);
  }
}

async function fileOf(name: string): Promise<FileOfWorker> {
  try {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle(FOLDER, { create: true });
    return (await folder.getFileHandle(name, { create: true })) as FileOfWorker;
  } catch (error) {
    if (error instanceof TypeError) throw new KeyledgerError("invalid_argument", `no name of a ledger: ${name}`);
    throw new KeyledgerError("unavailable", `this page has no files: ${(error as Error).message}`);
  }
}

async function handleOf(name: string): Promise<SyncHandle> {
  const file = await fileOf(name);
  if (typeof file.createSyncAccessHandle !== "function") {
    throw new KeyledgerError("unavailable", "only a dedicated worker can open a ledger's file; open it there, or in a page");
  }
  const giveUpAtMs = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await file.createSyncAccessHandle();
    } catch (error) {
      const isHeld = (error as DOMException).name === "NoModificationAllowedError";
      if (!isHeld) throw new KeyledgerError("unavailable", `the file of ${name} cannot be opened: ${(error as Error).message}`);
      if (performance.now() > giveUpAtMs) {
        throw new KeyledgerError("already_open", `another worker has the ledger ${name} open, and does not let go of it; one tab at a time can have it so, all of them by the page's own Ledger.open`);
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
