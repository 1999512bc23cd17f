import type { LedgerOptions } from "../ledger.js";
import type { Asked, Told } from "../remote/calling.js";
import type { Call, Outcome, PlainError, Said } from "../remote/messages.js";
import type { Durability } from "../store.js";

/** From a page to its worker. `hide`: the page is left, and may be shown again. */
export type FromPage =
  | { readonly kind: "open"; readonly name: string; readonly options: LedgerOptions }
  | { readonly kind: "hide" }
  | { readonly kind: "show" }
  | Asked;

/** From a worker to its page. */
export type ToPage =
  | { readonly kind: "opened"; readonly durability: Durability }
  | { readonly kind: "failed"; readonly error: PlainError }
  | Told;

/** Between the workers of an origin's tabs, on a channel that all of them hear. */
export type Between =
  | { readonly kind: "who" }
  | { readonly kind: "leads"; readonly from: string; readonly durability: Durability }
  | { readonly kind: "leaves"; readonly from: string }
  | { readonly kind: "call"; readonly to: string; readonly from: string; readonly id: number; readonly call: Call }
  | { readonly kind: "cancel"; readonly to: string; readonly from: string; readonly id: number }
  | { readonly kind: "said"; readonly to: string; readonly from: string; readonly id: number; readonly said: Said }
  | { readonly kind: "outcome"; readonly to: string; readonly from: string; readonly id: number; readonly outcome: Outcome };
