import { NativeFingerprint, NativeOperation, deriveKey as nativeDeriveKey, deriveKeyOf } from "./native/keyledger.js";
import { type Names, checkId, checkNumbers, kindOf, listed, onlyKnown, refused } from "./door.js";
import type { KeyledgerError } from "./errors.js";
import { type Bytes, jsonText, toBytes } from "./response.js";

/** Where the effect of an operation is. */
export type Effect = "in_ledger" | "repeatable" | "at_most_once";

/** What an operation is declared with, besides its name and effect. Absent: the contract's defaults. */
export interface OperationSettings {
  /** How long a claim lasts without a heartbeat, and so how long a key stays in progress once its owner was killed. Absent: 30 s. */
  leaseMs?: number;
  /** How long an answer is told again. Absent: 24 h. */
  retentionMs?: number;
  /** How long after that it is remembered that it was done: the decision is `gone`, and nothing runs. Absent: 7 days. */
  tombstoneMs?: number;
  /** Repeatable: how long whoever is called knows a derived key. An attempt whose lease would end later is not granted: the key is parked (E4). Absent: 24 h. */
  rememberedForMs?: number;
  /** Repeatable: how often the operation is granted before its key is parked (E4). Absent: 20. */
  maxAttempts?: number;
}

const SETTINGS: Names<OperationSettings> = { leaseMs: true, retentionMs: true, tombstoneMs: true, rememberedForMs: true, maxAttempts: true };

/**
 * What is being done, declared once. Throws `invalid_argument` for a setting that it cannot have and `invalid_key` for a name; in a page,
 * before its module is loaded, some of them only at its first use.
 */
export class Operation {
  /** What it is called, in every process that does it. */
  readonly name: string;
  /** Where its effect is, which decides what becomes of a key whose owner was lost. */
  readonly effect: Effect;
  /** @internal */
  readonly settings: OperationSettings;
  #native: NativeOperation | undefined;

  constructor(name: string, effect: Effect, settings: OperationSettings = {}) {
    onlyKnown("an operation", settings, SETTINGS);
    this.name = name;
    this.effect = effect;
    this.settings = { ...settings };
    checkNumbers("an operation", this.settings);
    try {
      void this.native;
    } catch (error) {
      // A declaration may stand before the module is loaded.
      if ((error as KeyledgerError).code !== "unavailable") throw error;
    }
  }

  /**
   * All that it does is rows of this ledger, stored by `completeWith` or `completeBatch` in one commit with the answer. It runs again when its owner was lost or it raised an error:
   * nothing was stored. A transaction in another database is not this.
   */
  static inLedger(name: string, settings?: OperationSettings): Operation {
    return new Operation(name, "in_ledger", settings);
  }
  /**
   * What it does is elsewhere, and whoever does it takes a key (`claim.deriveKey`) and does nothing twice under one key. It runs again, under the same derived keys,
   * when its owner was lost or it raised an error; parked where that is too late, or too often (E4).
   */
  static repeatable(name: string, settings?: OperationSettings): Operation {
    return new Operation(name, "repeatable", settings);
  }
  /**
   * What it does is elsewhere, and nobody there tells a repetition (mail, an old API). When its owner was lost or it raised an error, its key is parked, until somebody finds
   * out what happened.
   */
  static atMostOnce(name: string, settings?: OperationSettings): Operation {
    return new Operation(name, "at_most_once", settings);
  }

  /** Made when it is declared; before the module is loaded, when it is first used. @internal */
  get native(): NativeOperation {
    const { leaseMs, retentionMs, tombstoneMs, rememberedForMs, maxAttempts } = this.settings;
    this.#native ??= new NativeOperation(
      this.name,
      this.effect,
      leaseMs,
      retentionMs,
      tombstoneMs,
      rememberedForMs,
      maxAttempts,
    );
    return this.#native;
  }

  /** How long a claim's lease is. */
  get leaseMs(): number {
    return this.native.leaseMs;
  }
}

/** What was declared; else `invalid_argument`. @internal */
export function declared(operation: Operation): Operation {
  if (operation instanceof Operation) return operation;
  throw refused(`an operation is declared, with Operation.repeatable("name"), atMostOnce or inLedger; this is ${kindOf(operation)}`);
}

/** Which members of a JSON body count, as JSON pointers (F4). */
export interface Members {
  /** Those that do not count: whatever differs in them is the same request. */
  leaveOut?: string[];
  /** The only ones that count. */
  only?: string[];
}

/** An HTTP request as it was received. */
export interface FingerprintedRequest extends Members {
  method: string;
  path: string;
  /** What follows the question mark, as it came. */
  query?: string;
  contentType?: string | null;
  body?: Bytes;
}

const MEMBERS: Names<Members> = { leaveOut: true, only: true };
const REQUEST: Names<FingerprintedRequest> = { ...MEMBERS, method: true, path: true, query: true, contentType: true, body: true };

function checkMembers(members: Members): void {
  for (const name of ["leaveOut", "only"] as const) {
    const pointers = members[name];
    const other = pointers && listed(name, pointers).find((pointer: unknown) => typeof pointer !== "string");
    if (other !== undefined) throw refused(`${name} has JSON pointers, which are text; this is ${kindOf(other)}`);
  }
}

/** The hash of a request, or said on purpose: unchecked (section 8). A ledger of this package has to be open, or have been. */
export class Fingerprint {
  /** @internal */
  readonly native: NativeFingerprint;

  private constructor(native: NativeFingerprint) {
    this.native = native;
  }

  /** Nothing is compared: every request under the key is taken for the first one, and told its answer. */
  static unchecked(): Fingerprint {
    return new Fingerprint(NativeFingerprint.unchecked());
  }
  /** The one whose `hex` is this; undefined is the one that is unchecked. @internal */
  static ofHex(hex: string | undefined): Fingerprint {
    return hex === undefined ? Fingerprint.unchecked() : new Fingerprint(NativeFingerprint.ofHex(hex));
  }
  /** Of byte strings (F2). */
  static ofBytes(...parts: Bytes[]): Fingerprint {
    return new Fingerprint(NativeFingerprint.ofBytes(parts.map(toBytes)));
  }
  /** Of JSON text (F1): what it says counts, not how it is written. */
  static ofJsonText(text: Bytes, members: Members = {}): Fingerprint {
    onlyKnown("a fingerprint", members, MEMBERS);
    checkMembers(members);
    return new Fingerprint(NativeFingerprint.ofJsonText(toBytes(text), members.leaveOut, members.only));
  }
  /** Of a value, through its JSON text. */
  static ofJson(value: unknown, members?: Members): Fingerprint {
    return Fingerprint.ofJsonText(jsonOf(value), members);
  }
  /** Of an HTTP request (F3). */
  static ofHttp(request: FingerprintedRequest): Fingerprint {
    onlyKnown("a request", request, REQUEST);
    checkMembers(request);
    const { method, path, query = "", contentType, body = "", leaveOut, only } = request;
    const native = NativeFingerprint.ofHttp(method, path, query, contentType, toBytes(body), leaveOut, only);
    return new Fingerprint(native);
  }

  /** 64 hexadecimal digits; undefined for the one that is unchecked. */
  get hex(): string | undefined {
    return this.native.hex;
  }
}

/** A fingerprint; else `invalid_argument`: there is no default for it. @internal */
export function taken(fingerprint: Fingerprint): Fingerprint {
  if (fingerprint instanceof Fingerprint) return fingerprint;
  throw refused(`a fingerprint is made of the request, as by Fingerprint.ofJson(request), or is Fingerprint.unchecked(); this is ${kindOf(fingerprint)}`);
}

/** What two values of JavaScript's have in common that JSON has no words for, it would tell as one. */
function jsonOf(value: unknown): string {
  const text = jsonText(value, function (name, member) {
    return sayable(this[name], member, Array.isArray(this));
  });
  if (text === undefined) throw refused(`${kindOf(value)} is nothing that JSON can hold`);
  return /\d{16}/.test(text) ? withDoubles(text) : text;
}

/** What `JSON.stringify` would make `{}`, `null` or nothing of. A member that is undefined is one that is not there. */
function sayable(before: unknown, member: unknown, isElement: boolean): unknown {
  const number = member instanceof Number ? Number(member) : member;
  if (typeof number === "number" && !Number.isFinite(number)) throw refused(`${number} is no number of JSON`);
  const isInvalidDate = before instanceof Date && member === null;
  const isNothing = member === undefined && isElement;
  const isStrange = typeof member === "object" && member !== null && !SAYABLE.has(Object.prototype.toString.call(member));
  if (isInvalidDate || isNothing || isStrange || ["bigint", "function", "symbol"].includes(typeof member)) {
    throw refused(`JSON cannot hold ${isInvalidDate ? "an invalid date" : kindOf(member)}`);
  }
  return member;
}

const SAYABLE: ReadonlySet<string> = new Set(["Object", "Array", "Number", "String", "Boolean"].map((name) => `[object ${name}]`));

/** Every number of JavaScript's is a double. Text has to say so where it is long: `e0` after what looks like an exact integer. */
function withDoubles(text: string): string {
  let [told, at] = ["", 0];
  while (at < text.length) {
    const quote = text.indexOf('"', at);
    const end = quote < 0 ? text.length : endOfString(text, quote);
    const between = text.slice(at, quote < 0 ? text.length : quote);
    told += between.replace(/\d{16,}(?![\d.eE])/g, "$&e0") + (quote < 0 ? "" : text.slice(quote, end));
    at = end;
  }
  return told;
}

/** Behind the quotation mark that ends the string which begins at `from`. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); ; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
}

/** A key made of a namespace and parts: equal in every language and on every machine (F6). */
export function deriveKey(namespace: string, ...parts: Bytes[]): string {
  return nativeDeriveKey(namespace, parts.map(toBytes));
}

/** Whose record it is. */
export interface KeyId {
  /** Whose key it is. */
  readonly scope: string;
  /** The name of the operation. */
  readonly operation: string;
  /** The key. */
  readonly key: string;
}

/** A key for a call that an operation makes (E3). */
export function deriveKeyFor(id: KeyId, name: string): string {
  checkId(id);
  return deriveKeyOf(id.scope, id.operation, id.key, name);
}
