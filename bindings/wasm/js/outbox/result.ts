import { KeyledgerError } from "../errors.js";
import type { StoredResponse } from "../response.js";
import type { EntryView } from "./view.js";

/** Whether nothing more comes of an entry by itself. @internal */
export const hasEnded = (entry: EntryView) => entry.isSettled || entry.state === "unknown" || entry.state === "held";

/** The answer of an entry that was answered with a yes; else the error that says how it stands. @internal */
export function resultOf(entry: EntryView): StoredResponse {
  const { id, state, response, reason } = entry;
  if (entry.isYes && response) return response;
  const held = entry.isHeldWithLane ? `is held with its lane (${reason}); resume its scope` : `is held (${reason}); resume it`;
  switch (state) {
    case "answered":
      throw new KeyledgerError("answered_no", `entry ${id} was answered with a no; its response says why`, entry);
    case "dead":
      throw new KeyledgerError("entry_dead", `entry ${id} was given up: ${reason}`, entry);
    case "cancelled":
      throw new KeyledgerError("entry_cancelled", `entry ${id} was cancelled; it took no effect`, entry);
    case "unknown": {
      const why = `nobody knows whether entry ${id} took effect (${reason}); find out, then resolve it`;
      throw new KeyledgerError("entry_unknown", why, entry);
    }
    case "held":
      throw new KeyledgerError("entry_held", `entry ${id} ${held}`, entry);
    default:
      throw new KeyledgerError("no_result_yet", `entry ${id} is ${state}; wait longer, or ask again later`, entry);
  }
}
