import type { Claim } from "./claim.js";
import type { Decision } from "./decision.js";
import { KeyledgerError } from "./errors.js";
import { settlementOfError } from "./native/keyledger.js";
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

/** The stored answer, or the refusal as an error. */
export function answerOf(decision: Decision): StoredResponse {
  if (decision.kind === "replay") {
    if (decision.outcome === "failed") throw new ReplayedFailure(decision.response);
    return decision.response;
  }
  if (decision.kind === "acquired") throw new TypeError("a claim was granted");
  throw new Refused(decision);
}

const isCode = (error: unknown, code: string) => error instanceof KeyledgerError && error.code === code;

/** Settles with what the handler answered; where the claim was settled or lost meanwhile, that counts. */
export async function settleSuccess(claim: Claim, answer: Answer, ask: () => Decision): Promise<StoredResponse> {
  if (claim.isSettled) return answerOf(ask());
  const response = StoredResponse.of(answer);
  try {
    await claim.complete(response);
    return response;
  } catch (error) {
    if (isCode(error, "claim_lost")) return answerOf(ask());
    throw await parkedIfTooLarge(claim, error);
  }
}

/** Settles as the error says, and throws it; or tells what was stored meanwhile (I2, S9). */
export async function settleError(
  claim: Claim,
  means: ErrorMeans,
  raised: unknown,
  ask: () => Decision,
): Promise<StoredResponse> {
  if (claim.isSettled) {
    const stored = ask();
    if (stored.kind === "replay") return answerOf(stored);
    throw raised;
  }
  try {
    await settleAs(claim, means);
  } catch (error) {
    if (isCode(error, "claim_lost")) return answerOf(ask());
    throw await parkedIfTooLarge(claim, error);
  }
  throw raised;
}

async function settleAs(claim: Claim, means: ErrorMeans): Promise<void> {
  if (typeof means === "string") {
    const [verb, reason] = settlementOfError(means, claim.effect);
    return verb === "park" ? claim.park(reason ?? "") : claim.release();
  }
  return "final" in means ? claim.fail(means.final) : claim.park(means.unknown);
}

/** S4: an outcome that cannot be stored releases nothing. */
async function parkedIfTooLarge(claim: Claim, error: unknown): Promise<unknown> {
  if (isCode(error, "too_large")) {
    await claim.park(`its outcome could not be stored: ${(error as Error).message}`).catch(() => undefined);
  }
  return error;
}
