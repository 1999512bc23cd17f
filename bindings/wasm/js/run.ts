import type { Decision } from "./decision.js";
import { kindOf, refused } from "./door.js";
import { KeyledgerError } from "./errors.js";
import { settlementOfError } from "./native/keyledger.js";
import type { Effect } from "./operation.js";
import { type Answer, StoredResponse } from "./response.js";

/** What an error of a handler means: by the record's effect, it surely did not happen, or a final no with its response. */
export type ErrorMeans = "by_effect" | "not_done" | { final: Answer } | { unknown: string };

/** The handler was not run, and there is no answer to replay (S9). */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly decision: Exclude<Decision, { kind: "acquired" | "replay" }>;

  constructor(decision: Exclude<Decision, { kind: "acquired" | "replay" }>) {
    super(`the operation was not run: ${decision.kind}`);
    this.decision = decision;
  }
}

/** An earlier run ended in a final no; `response` is the answer that was given then. */
export class ReplayedFailure extends Error {
  override readonly name = "ReplayedFailure";
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
  complete(answer: Answer): Promise<void>;
  fail(answer: Answer): Promise<void>;
  release(): Promise<void>;
  park(reason: string): Promise<void>;
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
    return settleError(claim, ...understood(means(error), error), ask);
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

const isCode = (error: unknown, code: string) => error instanceof KeyledgerError && error.code === code;

/** Settles with what the handler answered, and what is no answer as an error; where the claim was settled or lost meanwhile, that counts. */
export async function settleSuccess(claim: Settles, answer: Answer, ask: Ask): Promise<StoredResponse> {
  if (claim.isSettled) return answerOf(await ask());
  let response: StoredResponse;
  try {
    response = StoredResponse.of(answer);
  } catch (error) {
    // The handler has run to its end: whether that can be done again, only the effect says.
    return settleError(claim, "by_effect", error, ask);
  }
  try {
    await claim.complete(response);
    return response;
  } catch (error) {
    if (isCode(error, "claim_lost")) return answerOf(await ask());
    if (isCode(error, "ambiguous")) return answerIfStored(ask, error);
    throw await parkedIfTooLarge(claim, error);
  }
}

/** After a settlement of which nobody knows whether it was stored. */
async function answerIfStored(ask: Ask, ambiguous: unknown): Promise<StoredResponse> {
  const stored = await Promise.resolve().then(ask).catch(() => undefined);
  if (stored?.kind !== "replay") throw ambiguous;
  return answerOf(stored);
}

/** Settles as the error says, and throws it; or tells what was stored meanwhile (I2, S9). */
export async function settleError(
  claim: Settles,
  means: ErrorMeans,
  raised: unknown,
  ask: Ask,
): Promise<StoredResponse> {
  if (claim.isSettled) {
    const stored = await ask();
    if (stored.kind === "replay") return answerOf(stored);
    throw raised;
  }
  try {
    await settleAs(claim, means);
  } catch (error) {
    if (isCode(error, "claim_lost")) return answerOf(await ask());
    throw await parkedIfTooLarge(claim, error);
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

/** What says nothing that can be stored settles by the effect, and is thrown instead of what the handler threw. */
function understood(means: ErrorMeans, raised: unknown): [means: ErrorMeans, raised: unknown] {
  if (means === "by_effect" || means === "not_done" || typeof (means as { unknown?: unknown } | null)?.unknown === "string") return [means, raised];
  try {
    if (typeof means === "object" && means !== null && "final" in means) return [{ final: StoredResponse.of(means.final) }, raised];
    const words = '"by_effect", "not_done", { final: answer } or { unknown: reason }';
    throw refused(`means says ${words}; this is ${kindOf(means)}`);
  } catch (error) {
    return ["by_effect", Object.assign(error as Error, { cause: raised })];
  }
}

/** S4: an outcome that cannot be stored releases nothing. */
async function parkedIfTooLarge(claim: Settles, error: unknown): Promise<unknown> {
  if (isCode(error, "too_large")) {
    await claim.park(`its outcome could not be stored: ${(error as Error).message}`).catch(() => undefined);
  }
  return error;
}
