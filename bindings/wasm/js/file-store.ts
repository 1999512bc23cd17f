import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { closeSync, constants, fdatasyncSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { KeyledgerError } from "./errors.js";
import type { Durability, Store } from "./store.js";

/** How the file is kept from others. */
export type Locking = "flock" | "none";

const ADVICE =
  "another process or handle has this ledger open; let one process have it (with cluster or pm2: the primary), or close it there";

/** A file. While it is open, no other process can open it, whatever language it is written in. */
export class FileStore implements Store {
  readonly durability: Durability = "persisted";
  readonly #path: string;
  readonly #locking: Locking;
  #fd = -1;

  /** @param locking `none` only where something else sees to it that nobody opens the file twice: two writers damage it. */
  constructor(path: string, locking: Locking = "flock") {
    this.#path = path;
    this.#locking = locking;
    this.open();
  }

  open(): void {
    const fd = opened(this.#path);
    try {
      if (this.#locking === "flock") lock(fd);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    this.#fd = fd;
  }

  length(): number {
    return fstatSync(this.#fd).size;
  }
  read(offset: number, into: Uint8Array): void {
    for (let done = 0; done < into.length; ) {
      const count = readSync(this.#fd, into, done, into.length - done, offset + done);
      if (count === 0) throw new RangeError("a read behind the end of the file");
      done += count;
    }
  }
  write(offset: number, bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#fd, bytes, done, bytes.length - done, offset + done);
    }
  }
  setLength(length: number): void {
    ftruncateSync(this.#fd, length);
  }
  sync(): void {
    fdatasyncSync(this.#fd);
  }
  close(): void {
    closeSync(this.#fd);
  }
}

/** Makes the file where there is none, and its name durable. */
function opened(path: string): number {
  try {
    return openSync(path, constants.O_RDWR);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw unavailable(error);
  }
  try {
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    const folder = openSync(dirname(path), constants.O_RDONLY);
    fsyncSync(folder);
    closeSync(folder);
    return fd;
  } catch (error) {
    throw unavailable(error);
  }
}

function unavailable(error: unknown): KeyledgerError {
  return new KeyledgerError("unavailable", `not available right now: ${(error as Error).message}`);
}

/** Deno wants leave to read all of the environment where none is given, and hands it on all the same. */
const ENVIRONMENT = "Deno" in globalThis ? { env: {} } : {};

const MISSING = "the program flock (of util-linux) is not there; install it";
const FORBIDDEN =
  "this process may not run the program flock; let it (Deno: --allow-run=flock --allow-env=NODE_V8_COVERAGE; Node: --allow-child-process)";

/** Node has no call for it: the program `flock` locks what it inherits, and the lock stays with the open file. */
function lock(fd: number): void {
  const ran = flock(fd);
  if (ran?.status === 0) return;
  if (ran?.status === 1) throw new KeyledgerError("already_open", ADVICE);
  const why = `the file cannot be locked: ${whyNot(ran)}, or say locking: "none" if nobody else opens the file`;
  throw new KeyledgerError("unavailable", why);
}

/** Null: this process may not run a program. */
function flock(fd: number): SpawnSyncReturns<Buffer> | null {
  try {
    return spawnSync("flock", ["-x", "-n", "3"], { stdio: ["ignore", "ignore", "ignore", fd], ...ENVIRONMENT });
  } catch {
    return null;
  }
}

function whyNot(ran: SpawnSyncReturns<Buffer> | null): string {
  if (ran?.error) return (ran.error as NodeJS.ErrnoException).code === "ENOENT" ? MISSING : `the program flock does not run (${ran.error.message})`;
  // Where Deno does not let it run, it tells nothing at all.
  return typeof ran?.status === "number" ? `the program flock has ended with ${ran.status}; put the file elsewhere` : FORBIDDEN;
}
