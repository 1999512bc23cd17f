import type { DrainProgress } from "../outbox/driver.js";
import type { EntryView } from "../outbox/view.js";
import type { Question } from "./credentials.js";

/** What is asked of the ledger where it lives. Everything in it can be cloned. */
export interface Call {
  readonly method: string;
  readonly words: readonly unknown[];
}

/** What a call came to. `moved`: the ledger lives elsewhere by now, and nothing was done. */
export type Outcome = { readonly value: unknown } | { readonly error: PlainError } | { readonly moved: true };

/** What a call tells before it ends: how far a drain is, what has failed and is done again later, and which credentials it needs. */
export type Said = { readonly progress: DrainProgress } | { readonly failed: PlainError } | { readonly asks: Question };

/** An error that can be cloned. */
export interface PlainError {
  readonly code: string | null;
  readonly name: string;
  readonly message: string;
  /** The entry that is in the way of a conflict. */
  readonly entry?: EntryView;
}

/** An operation as it is declared. */
export interface PlainOperation {
  readonly name: string;
  readonly effect: string;
  readonly settings: object;
}

/** A response as it is stored. */
export interface PlainResponse {
  readonly mediaType: string;
  readonly body: Uint8Array | null;
  readonly omitted: { readonly length: number; readonly sha256: Uint8Array } | null;
}

/** A claim, which stays with the ledger: its fence names it. */
export interface PlainClaim {
  readonly keyId: { readonly scope: string; readonly operation: string; readonly key: string };
  readonly fence: number;
  readonly attempt: number;
  readonly effect: string;
  readonly memo: Uint8Array;
  readonly firstGrantedAtMs: number;
  /** When it was granted: the claim counts on by itself. */
  readonly remainingMs: number | null;
  readonly steps: readonly { readonly name: string; readonly value: Uint8Array }[];
}

/** How a call is made. */
export interface CallOptions {
  /** Ends a call that waits, which then throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Whether the call is waited for to its own end, when the signal has ended it. */
  readonly endsThere?: boolean;
  /** Called with what the call tells before it ends. It does not throw. */
  readonly hears?: (said: Said) => void;
}

/** Whoever carries calls to the ledger, and answers back. */
export interface Carrier {
  /** Answers with the value, or throws the error. */
  call(method: string, words: readonly unknown[], options?: CallOptions): Promise<unknown>;
  /** Lets go of the ledger, as far as this side is concerned. */
  close(): Promise<void>;
}
