// What happened, as JSON in the form that scenarios expect.

import { shownEntry } from "./outbox-mail.mjs";
import { shownBytes, shownResponse } from "./values.mjs";
import { START_MS } from "./world.mjs";

/** What `call` returns, `"ok"` where that is nothing, or the error. */
export async function told(kit, call) {
  try {
    return (await call()) ?? "ok";
  } catch (error) {
    return failed(kit, error);
  }
}

/** The error of the ledger's; any other is thrown on. */
export function failed({ KeyledgerError }, error) {
  if (!(error instanceof KeyledgerError)) throw error;
  const { code, message, entry } = error;
  return { error: code, message, ...(entry && { entry: shownEntry(entry) }) };
}

/** An instant as scenarios count it: since their start. */
export const at = (wallMs) => wallMs - START_MS;

export const steps = (recorded) => recorded.map(({ name, value }) => [name, shownBytes(value)]);

export function claim(held) {
  const { scope, operation, key } = held.keyId;
  return {
    scope,
    op: operation,
    key,
    fence: held.fence,
    attempt: held.attempt,
    effect: held.effect,
    memo: shownBytes(held.memo),
    steps: steps(held.steps),
    first_granted_at_ms: at(held.firstGrantedAtMs),
    remaining_ms: held.remainingMs,
    is_lost: held.isLost,
  };
}

export function decision(decided) {
  switch (decided.kind) {
    case "acquired":
      return { decision: "acquired", ...claim(decided.claim) };
    case "replay":
      return {
        decision: "replay",
        outcome: decided.outcome,
        response: shownResponse(decided.response),
        settled_at_ms: at(decided.settledAtMs),
        expires_at_ms: at(decided.expiresAtMs),
      };
    case "in_progress":
      return { decision: "in_progress", running_for_ms: decided.runningForMs, retry_after_ms: decided.retryAfterMs };
    case "parked":
      return { decision: "parked", reason: decided.reason, since_ms: at(decided.sinceMs) };
    default:
      return { decision: decided.kind };
  }
}

export function record(view) {
  return {
    state: view.state,
    fence: view.fence,
    attempt: view.attempt,
    effect: view.effect,
    memo: shownBytes(view.memo),
    steps: steps(view.steps),
    first_granted_at_ms: at(view.firstGrantedAtMs),
    reason: view.parkedReason,
    audit: view.audit.map(({ who, note }) => ({ who, note })),
  };
}
