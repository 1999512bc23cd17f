import { KeyledgerError } from "../errors.js";
import { hostOf } from "../host.js";
import { LedgerHandle } from "../ledger.js";
import type { Durability, Store } from "../store.js";
import { PAGE_BYTES, refuseNoLedger } from "../whole.js";
import { callSoon } from "./soon.js";

/** What the types of pages lack: only workers have it. */
interface SyncHandle {
  getSize(): number;
  read(into: Uint8Array, options: { at: number }): number;
  write(bytes: Uint8Array, options: { at: number }): number;
  truncate(length: number): void;
  flush(): void;
  close(): void;
}
type FileOfWorker = FileSystemFileHandle & {
  createSyncAccessHandle(): Promise<SyncHandle>;
  move(folder: FileSystemDirectoryHandle, name: string): Promise<void>;
};

/** The folder of the origin's private file system that ledgers are in, and the one where they are made. */
const FOLDER = "keyledger";
const UNFINISHED = "keyledger unfinished";

/** Where a file cannot be moved it is made in its place, and an empty one is taken for a creation that was cut short. */
const CAN_MOVE = "move" in (globalThis.FileSystemFileHandle?.prototype ?? {});

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

  /** @internal */
  constructor(name: string, handle: SyncHandle, durability: Durability) {
    this.#name = name;
    this.#handle = handle;
    this.durability = durability;
  }

  /** Opens the file, or makes it, once the module is loaded (`load`). Throws `already_open` where another worker keeps it. */
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
    this.#handle = await openedIn(await folderOf(FOLDER), this.#name);
  }
}

/** The file of that name, open; made before, if there is none. */
async function handleOf(name: string): Promise<SyncHandle> {
  const folder = await folderOf(FOLDER);
  if ((await fileIn(folder, name)) === null) await navigator.locks.request(`keyledger makes ${name}`, () => make(folder, name));
  return openedIn(folder, name);
}

/** The file of that name, open, if a ledger can be in it: nothing is made, and nothing is changed. */
async function openedIn(folder: FileSystemDirectoryHandle, name: string): Promise<SyncHandle> {
  const file = await fileIn(folder, name);
  if (file === null) throw new KeyledgerError("unavailable", `the file of ${name} is gone: the data of this site were removed`);
  const handle = await heldOf(file, name);
  if (!CAN_MOVE) return handle;
  try {
    const page = new Uint8Array(PAGE_BYTES);
    refuseNoLedger(name, handle.getSize(), page.subarray(0, handle.read(page, { at: 0 })));
    return handle;
  } catch (error) {
    handle.close();
    throw error;
  }
}

/** Makes a whole ledger under another roof, and moves it in (P5). What a creation that was cut short has left there is begun anew. */
async function make(folder: FileSystemDirectoryHandle, name: string): Promise<void> {
  if ((await fileIn(folder, name)) !== null) return;
  if (!CAN_MOVE) return void (await folder.getFileHandle(name, { create: true }));
  const file = (await (await folderOf(UNFINISHED)).getFileHandle(name, { create: true })) as FileOfWorker;
  const handle = await heldOf(file, name);
  handle.truncate(0);
  new LedgerHandle(new OpfsStore(name, handle, "best_effort"), hostOf(callSoon)).closeSync();
  await file.move(folder, name);
}

async function folderOf(name: string): Promise<FileSystemDirectoryHandle> {
  try {
    return await (await navigator.storage.getDirectory()).getDirectoryHandle(name, { create: true });
  } catch (error) {
    throw new KeyledgerError("unavailable", `this page has no files: ${(error as Error).message}`);
  }
}

/** The file of that name, or null. */
async function fileIn(folder: FileSystemDirectoryHandle, name: string): Promise<FileOfWorker | null> {
  try {
    return (await folder.getFileHandle(name)) as FileOfWorker;
  } catch (error) {
    if ((error as DOMException).name === "NotFoundError") return null;
    if (error instanceof TypeError) throw new KeyledgerError("invalid_argument", `no name of a ledger: ${name}`);
    throw new KeyledgerError("unavailable", `the file of ${name} cannot be opened: ${(error as Error).message}`);
  }
}

/** Waits a while for who has it. */
async function heldOf(file: FileOfWorker, name: string): Promise<SyncHandle> {
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
