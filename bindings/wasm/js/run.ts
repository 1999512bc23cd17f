import type { Decision } from "./decision.js";
import { checkFunction, kindOf, onlyKnown, refused } from "./door.js";
import { KeyledgerError } from "./errors.js";
import { settlementOfError } from "./native/keyledger.js";
import type { Effect } from "./operation.js";
import { RUN_OPTIONS, type RunOptions } from "./options.js";
import { type Answer, StoredResponse } from "./response.js";
import { atOnce } from "./telling.js";
import { codeOf, isA, wordsOf } from "./thrown.js";

/** What an error of a handler means: by the record's effect, it surely did not happen, or a final no with its response. */
export type ErrorMeans = "by_effect" | "not_done" | { final: Answer } | { unknown: string };

type Refusal = Exclude<Decision, { kind: "acquired" | "replay" }>;

const KEY_ADVICE = { in_progress: "reuse", mismatch: "rotate", parked: "reconcile", gone: "reconcile" } as const;

/** What `Refused` says of each: why, or what to do. */
function wordsFor(decision: Refusal): string {
  switch (decision.kind) {
    case "in_progress":
      return `the same key again in ${decision.retryAfterMs} ms`;
    case "mismatch":
      return "this key was used for another request; take a new one for a new operation";
    case "parked":
      return `nobody knows whether it happened: ${decision.reason}`;
    case "gone":
      return "settled so long ago that its answer is gone";
  }
}

/** The handler was not run, and there is no answer to replay (S9). Its message names the decision, and why or when to ask again. */
export class Refused extends Error {
  override readonly name = "Refused";
  /** What `begin` answered. */
  readonly decision: Refusal;
  /** The decision's kind: the same in every language. */
  readonly code: Refusal["kind"];
  /** What to do with the key: the same again later, another one, or find out first whether it happened. */
  readonly keyAdvice: "reuse" | "rotate" | "reconcile";
  /** When to ask again with the same key; null: that would tell nothing new. */
  readonly retryAfterMs: number | null;

  constructor(decision: Refusal) {
    super(`the operation was not run: ${decision.kind}; ${wordsFor(decision)}`);
    this.decision = decision;
    this.code = decision.kind;
    this.keyAdvice = KEY_ADVICE[decision.kind];
    this.retryAfterMs = decision.kind === "in_progress" ? decision.retryAfterMs : null;
  }
}

/** An earlier run ended in a final no; `response` is the answer that was given then. */
export class ReplayedFailure extends Error {
  override readonly name = "ReplayedFailure";
  /** The answer that was given then. */
  readonly response: StoredResponse;

  constructor(response: StoredResponse) {
    super("an earlier run of this key ended in a final no");
    this.response = response;
  }
}

/** What a claim is here: a ledger of this thread has it, or one that is elsewhere. */
interface Settles {
  readonly effect: Effect;
  readonly isSettled: boolean;
  isIdle(): Promise<void>;
  complete(answer: Answer): Promise<void>;
  fail(answer: Answer): Promise<void>;
  release(): Promise<void>;
  park(reason: string): Promise<void>;
}

/** Said before a key is spent on it. @internal */
export function checkRun(handler: unknown, options: RunOptions): void {
  onlyKnown("run", options, RUN_OPTIONS);
  if (typeof handler !== "function") throw refused(`run takes what runs the operation, a function of the claim; this is ${kindOf(handler)}`);
  if (options.means !== undefined) checkFunction("means", options.means);
}

type Ask = () => Decision<unknown> | Promise<Decision<unknown>>;

/** Runs `handler` if the claim is granted, settles with what it returns, and returns that; or the stored answer. */
export async function runDecided<C extends Settles>(
  decision: Decision<C>,
  handler: (claim: C) => Promise<Answer> | Answer,
  ask: Ask,
  means: (error: unknown) => ErrorMeans = () => "by_effect",
): Promise<StoredResponse> {
  if (decision.kind !== "acquired") return answerOf(decision);
  const { claim } = decision;
  let answer: Answer;
  try {
    answer = await handler(claim);
  } catch (error) {
    return settleError(claim, ...understood(means, error), ask);
  }
  return settleSuccess(claim, answer, ask);
}

/** The stored answer, or the refusal as an error. */
export function answerOf(decision: Decision<unknown>): StoredResponse {
  if (decision.kind === "replay") {
    if (decision.outcome === "failed") throw new ReplayedFailure(decision.response);
    return decision.response;
  }
  if (decision.kind === "acquired") throw new TypeError("a claim was granted");
  throw new Refused(decision);
}

const isCode = (error: unknown, ...codes: string[]) => codes.includes(codeOf(error) ?? "");

/** Settles with what the handler answered; where the claim was settled or lost meanwhile, that counts. */
async function settleSuccess(claim: Settles, answer: Answer, ask: Ask): Promise<StoredResponse> {
  await claim.isIdle();
  if (claim.isSettled) return answerOf(await ask());
  try {
    const response = StoredResponse.of(answer);
    await claim.complete(response);
    return response;
  } catch (error) {
    if (isCode(error, "claim_lost", "claim_settled")) return answerOf(await ask());
    if (isCode(error, "ambiguous")) return answerIfStored(ask, error);
    throw await parkedIfNotStorable(claim, error);
  }
}

/** After a settlement of which nobody knows whether it was stored. */
async function answerIfStored(ask: Ask, ambiguous: unknown): Promise<StoredResponse> {
  const stored = await Promise.resolve().then(ask).catch(() => undefined);
  if (stored?.kind !== "replay") throw ambiguous;
  return answerOf(stored);
}

/** Settles as the error says, and throws it; or tells what was stored meanwhile (I2, S9). */
async function settleError(
  claim: Settles,
  means: ErrorMeans,
  raised: unknown,
  ask: Ask,
): Promise<StoredResponse> {
  await claim.isIdle();
  if (claim.isSettled) {
    const stored = await ask();
    if (stored.kind === "replay") return answerOf(stored);
    throw raised;
  }
  try {
    await settleAs(claim, means);
  } catch (error) {
    if (isCode(error, "claim_lost")) return answerOf(await ask());
    throw because(await parkedIfNotStorable(claim, error), raised);
  }
  throw raised;
}

async function settleAs(claim: Settles, means: ErrorMeans): Promise<void> {
  if (typeof means === "string") {
    const [verb, reason] = settlementOfError(means, claim.effect);
    return verb === "park" ? claim.park(reason ?? "") : claim.release();
  }
  return "final" in means ? claim.fail(means.final) : claim.park(means.unknown);
}

/** What `means` says of an error. Where it throws, or says no word of ours, the effect decides, and why is thrown instead of the error. */
function understood(means: (error: unknown) => ErrorMeans, raised: unknown): [means: ErrorMeans, raised: unknown] {
  try {
    const told = atOnce(means(raised), "means");
    if (told === "by_effect" || told === "not_done") return [told, raised];
    const isObject = typeof told === "object" && told !== null;
    if (isObject && ("final" in told || typeof told.unknown === "string")) return [told, raised];
    const words = '"by_effect", "not_done", { final: answer } or { unknown: reason }';
    throw refused(`means says ${words}; this is ${kindOf(told)}`);
  } catch (error) {
    const why = isCode(error, "invalid_argument") ? error : refused(`means: ${whyOf(error)}`);
    return ["by_effect", because(why, raised)];
  }
}

const because = (error: unknown, raised: unknown) =>
  isA(error, KeyledgerError) && !("cause" in error) ? Object.assign(error, { cause: raised }) : error;
const whyOf = (error: unknown) => (isA(error, Error) ? wordsOf(error) : kindOf(error));

/** S4: an outcome that cannot be stored releases nothing. That is one that is refused, and not a ledger that can store nothing now. */
async function parkedIfNotStorable(claim: Settles, error: unknown): Promise<unknown> {
  if (!isA(error, KeyledgerError) || isCode(error, "too_large", "invalid_argument")) {
    await claim.park(`its outcome could not be stored: ${whyOf(error).slice(0, 200)}`).catch(() => undefined);
  }
  return error;
}
