import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { kindOf, refused } from "./door.js";
import { KeyledgerError } from "./errors.js";
import type { Durability, Store } from "./store.js";
import { PAGE_BYTES, refuseNoLedger, wrong } from "./whole.js";

/** How the file is kept from others. */
export type Locking = "flock" | "none";

const ADVICE = "let one process have it (with cluster or pm2: the primary), or close it there";

/** How often a path may change under the opener, and how many left-over temporary files are passed over, before giving up. */
const ATTEMPTS_MAX = 16;
const TEMPORARY_NAMES_MAX = 1000;

/**
 * A file. While it is open, no other process can open it, whatever language it is written in. One that is not there is made under a
 * temporary name, and has its own as soon as a ledger is on it (P5).
 */
export class FileStore implements Store {
  readonly durability: Durability = "persisted";
  readonly #path: string;
  readonly #locking: Locking;
  #fd: number | null;
  /** Its name until it is a whole ledger. */
  #temporary: string | null = null;
  #isBeaten = false;

  /** @param locking `none` only where something else sees to it that nobody opens the file twice: two writers damage it. */
  constructor(path: string | URL, locking: Locking = "flock") {
    checkLocking(locking);
    const name = pathOf(path);
    this.#path = name;
    this.#locking = locking;
    if (isThere(name)) {
      this.#fd = opened(name, locking);
    } else {
      refuseDangling(name);
      [this.#temporary, this.#fd] = made(name, locking);
    }
  }

  /** Opens the file that is at the path, and makes none. */
  open(): void {
    this.#fd ??= opened(this.#path, this.#locking);
  }

  /** The path leads to this file: a new one gets its name. @internal */
  named(): void {
    if (this.#temporary === null) {
      if (!isAt(this.#path, this.#held)) throw new KeyledgerError("unavailable", "another file is at the path by now");
      return;
    }
    try {
      linkSync(this.#temporary, this.#path);
    } catch (error) {
      this.#isBeaten = codeOf(error) === "EEXIST";
      throw this.#isBeaten ? new KeyledgerError("unavailable", "another has made this ledger meanwhile; open it again") : unnamed(error);
    } finally {
      this.#removeTemporary();
    }
    syncFolder(this.#path);
  }

  /** Whether another was first to make a ledger at the path. @internal */
  get isBeaten(): boolean {
    return this.#isBeaten;
  }

  get #held(): number {
    if (this.#fd === null) throw new KeyledgerError("closed", "the file is closed; open the ledger again");
    return this.#fd;
  }

  length(): number {
    return fstatSync(this.#held).size;
  }
  read(offset: number, into: Uint8Array): void {
    if (readInto(this.#held, offset, into) < into.length) throw new RangeError("a read behind the end of the file");
  }
  write(offset: number, bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#held, bytes, done, bytes.length - done, offset + done);
    }
  }
  setLength(length: number): void {
    ftruncateSync(this.#held, length);
  }
  sync(): void {
    fdatasyncSync(this.#held);
  }
  close(): void {
    const fd = this.#fd;
    this.#fd = null;
    if (fd !== null) closeSync(fd);
    this.#removeTemporary();
  }

  #removeTemporary(): void {
    if (this.#temporary !== null) rmSync(this.#temporary, { force: true });
    this.#temporary = null;
  }
}

/** @internal */
export function checkLocking(locking: unknown): void {
  if (locking === "flock" || locking === "none") return;
  throw refused(`locking is "flock" or "none"; not ${typeof locking === "string" ? JSON.stringify(locking) : kindOf(locking)}`);
}

/** Of what was given: an empty one would be that of the folder. @internal */
export function pathOf(given: unknown): string {
  if (typeof given === "string" && given !== "") return given;
  const what = "a ledger's file is told by its path, or by a file: URL";
  if (typeof given !== "object" || given === null || !("href" in given)) throw refused(`${what}; this is ${given === "" ? "empty" : kindOf(given)}`);
  try {
    return fileURLToPath(given as URL);
  } catch (error) {
    throw refused(`${what}: ${(error as Error).message}`);
  }
}

/** A new file beside the path, locked: nobody opens it by that name. */
function made(path: string, locking: Locking): [temporary: string, fd: number] {
  for (let at = 0; at < TEMPORARY_NAMES_MAX; at++) {
    const temporary = join(dirname(path), `.${basename(path)}.${process.pid}-${at}.new`);
    try {
      const fd = openSync(temporary, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
      return [temporary, orClosed(fd, () => locked(fd, locking, temporary), () => rmSync(temporary, { force: true }))];
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error instanceof KeyledgerError ? error : unavailable(error, "; its folder must exist: make it first");
    }
  }
  throw new KeyledgerError("unavailable", "the folder is full of unfinished ledgers; remove what ends in .new");
}

/** The file at the path, locked, if a ledger can be in it: nothing is made, and nothing is changed. */
function opened(path: string, locking: Locking): number {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    if (!statOf(path).isFile()) throw wrong(path, "what is there is not a file");
    const fd = orUnavailable(() => openSync(path, constants.O_RDWR));
    const isIt = orClosed(fd, () => {
      locked(fd, locking, path);
      // It may have been replaced between opening and locking: then the lock is on one that nobody can find.
      if (!isAt(path, fd)) return false;
      refuseUnfinished(path, fd);
      syncFolder(path);
      return true;
    });
    if (isIt) return fd;
    closeSync(fd);
  }
  throw new KeyledgerError("unavailable", "the file is being replaced again and again");
}

/** I9: what is no ledger that is whole is not taken for a new one. */
function refuseUnfinished(path: string, fd: number): void {
  const { size } = fstatSync(fd);
  const page = new Uint8Array(Math.min(size, PAGE_BYTES));
  refuseNoLedger(path, size, page.subarray(0, readInto(fd, 0, page)));
}

/** How many bytes there were. */
function readInto(fd: number, offset: number, into: Uint8Array): number {
  for (let done = 0; done < into.length; ) {
    const count = readSync(fd, into, done, into.length - done, offset + done);
    if (count === 0) return done;
    done += count;
  }
  return into.length;
}

/** Makes the names in the folder durable: also for who only opens, since the one who made the file may not have come so far. */
function syncFolder(path: string): void {
  // Windows keeps names in a log of its own and has no call for this.
  if (process.platform === "win32") return;
  try {
    const folder = openSync(dirname(path), constants.O_RDONLY);
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch (error) {
    // A folder that may be passed through but not read cannot be synced by us.
    if (codeOf(error) !== "EACCES") throw unavailable(error);
  }
}

const statOf = (path: string) => orUnavailable(() => statSync(path, { bigint: true }));

/** Whether the path leads to the open file. Throws `unavailable` where it leads nowhere. */
function isAt(path: string, fd: number): boolean {
  const [here, there] = [fstatSync(fd, { bigint: true }), statOf(path)];
  return here.ino === there.ino && here.dev === there.dev;
}

function isThere(path: string): boolean {
  return orUnavailable(() => statSync(path, { throwIfNoEntry: false })) !== undefined;
}

/** A name that is taken by a link to nothing: no file can be put in its place, and none is behind it. */
function refuseDangling(path: string): void {
  const entry = orUnavailable(() => lstatSync(path, { throwIfNoEntry: false }));
  if (entry?.isSymbolicLink()) throw new KeyledgerError("unavailable", `${path} is a symbolic link to a file that is not there`);
}

function orUnavailable<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw unavailable(error);
  }
}

/** The answer of `use`, or what it throws once the file is closed. */
function orClosed<T>(fd: number, use: () => T, cleared = () => {}): T {
  try {
    return use();
  } catch (error) {
    closeSync(fd);
    cleared();
    throw error;
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

function unavailable(error: unknown, instead = ""): KeyledgerError {
  const mayNot = codeOf(error) === "EACCES" ? "; this process must be allowed to read and write there" : instead;
  return new KeyledgerError("unavailable", `not available right now: ${(error as Error).message}${mayNot}`);
}

/** Node has no other call that gives a name and fails where it is taken. */
function unnamed(error: unknown): KeyledgerError {
  const why = `the new ledger cannot be put in place, which takes a hard link: ${(error as Error).message}`;
  return new KeyledgerError("unavailable", `${why}; make it on a file system that has them`);
}

/** Deno wants leave to read all of the environment where none is given, and hands it on all the same. */
const ENVIRONMENT = "Deno" in globalThis ? { env: {} } : {};

const MISSING = "the program flock (of util-linux) is not there; install it";
const FORBIDDEN =
  "this process may not run the program flock; let it (Deno: --allow-run=flock --allow-env=NODE_V8_COVERAGE, and all of --allow-run where LD_LIBRARY_PATH or the like is set; Node: --allow-child-process)";

/** Node has no call for it: the program `flock` locks what it inherits, and the lock stays with the open file. */
function locked(fd: number, locking: Locking, path: string): number {
  if (locking === "none") return fd;
  const ran = flock(fd);
  if (ran?.status === 0) return fd;
  if (ran?.status === 1) throw new KeyledgerError("already_open", `another process or handle has ${path} open; ${ADVICE}`);
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
