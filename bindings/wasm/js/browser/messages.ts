import type { LedgerOptions } from "../ledger.js";
import type { Asked, Told } from "../remote/calling.js";
import type { Call, Outcome, PlainError, Said } from "../remote/messages.js";
import type { Durability } from "../store.js";
import type { movable } from "./place.js";

/** What a page has its worker open. */
export interface Opening {
  readonly name: string;
  readonly options: LedgerOptions;
  readonly module: ReturnType<typeof movable>;
}

/** From a page to its worker. `hide`: the page is left, and may be shown again. */
export type FromPage =
  | ({ readonly kind: "open" } & Opening)
  | { readonly kind: "hide" }
  | { readonly kind: "show" }
  | Asked;

/** From a worker to its page. `lives`: while the worker does, it holds the Web Lock of that name. */
export type ToPage =
  | { readonly kind: "lives"; readonly sign: string }
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

const DURABILITIES: readonly unknown[] = ["persisted", "best_effort", "ephemeral"] satisfies Durability[];

/** Whoever is of the origin can say anything on the channel: what is none of these is nobody's message, and null here. */
export function betweenOf(said: unknown): Between | null {
  if (!isObject(said)) return null;
  const { kind, from, to, id } = said;
  if (kind === "who") return { kind };
  if (typeof from !== "string") return null;
  if (kind === "leaves" || (kind === "leads" && DURABILITIES.includes(said.durability))) return said as Between;
  const isWhole = typeof to === "string" && Number.isSafeInteger(id) && typeof kind === "string" && PARTS[kind]?.(said);
  return isWhole ? (said as Between) : null;
}

/** What each kind of message between two tabs has besides their names. */
const PARTS: { readonly [kind: string]: (said: Parts) => boolean } = {
  __proto__: null as never,
  call: ({ call }) => isObject(call) && typeof call.method === "string" && Array.isArray(call.words),
  cancel: () => true,
  said: ({ said }) => isObject(said) && ("progress" in said || isError(said.failed) || isQuestion(said.asks)),
  outcome: ({ outcome }) => isObject(outcome) && ("value" in outcome || "moved" in outcome || isError(outcome.error)),
};

type Parts = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Parts => typeof value === "object" && value !== null;
const isQuestion = (value: unknown) => isObject(value) && typeof value.name === "string" && isObject(value.request);
const isError = (value: unknown) => isObject(value) && typeof value.name === "string" && typeof value.message === "string";
