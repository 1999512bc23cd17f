import { kindOf, refused } from "./door.js";
import type { Settlement } from "./ledger.js";
import { type Answer, StoredResponse } from "./response.js";

const NOTHING = new Uint8Array();
const SETTLEMENTS: Readonly<Record<Settlement, true>> = { complete: true, fail: true, release: true, park: true };

/** No other word says what becomes of a claim. */
export function checkSettlement(verb: unknown): void {
  if (typeof verb === "string" && Object.hasOwn(SETTLEMENTS, verb)) return;
  throw refused(`there is no settlement ${typeof verb === "string" ? verb : `that is ${kindOf(verb)}`}`);
}

/** What a settlement needs besides its verb: an answer, for `park` a reason, for `release` nothing. */
export function settledWith(verb: Settlement, with_: Answer | undefined): [text: string, body: Uint8Array] {
  checkSettlement(verb);
  if (verb === "release") return ["", NOTHING];
  if (verb === "park" && typeof with_ === "string") return [with_, NOTHING];
  if (verb === "park") throw refused(`the reason to park is text; this is ${kindOf(with_)}`);
  const { mediaType, body } = StoredResponse.of(with_ as Answer);
  return [mediaType, body ?? NOTHING];
}
