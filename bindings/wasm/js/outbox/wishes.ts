import { type Names, checkText, kindOf, onlyKnown, refused } from "../door.js";
import { type Fingerprint, taken } from "../operation.js";

/** What is wanted of a request. */
export interface Wishes {
  /** Whose request it is. */
  scope: string;
  /** What is asked for. */
  operation: string;
  /**
   * What the user wants ("pay cart 42"), so that asking again finds the same entry (O3). Give a purpose or a key: with neither,
   * enqueueing it again is another request.
   */
  purpose?: string;
  /** The caller's own key. Absent: a new UUIDv7. */
  key?: string;
  /** It must have been declared. Absent: `default`. */
  lane?: string;
  /** Of bytes and text; a request over HTTP has its own. */
  mediaType?: string;
  /**
   * What tells this request from another under the same key or purpose. Absent: its media type and bytes. Give one where equal requests
   * differ in their bytes, as those of a `FormData` do: each has another boundary.
   */
  fingerprint?: Fingerprint;
  /** It is cancelled unless it was sent by then: milliseconds since 1970-01-01 UTC. */
  sendByAtMs?: number;
  /** A new entry is wanted even if the purpose was answered before; without it another request for it is a `purpose_conflict`. */
  evenIfAnswered?: boolean;
}

const WISHES: Names<Wishes> = {
  scope: true,
  operation: true,
  purpose: true,
  key: true,
  lane: true,
  mediaType: true,
  fingerprint: true,
  sendByAtMs: true,
  evenIfAnswered: true,
};

/** @internal */
export function checkWishes(wishes: Wishes): void {
  if (typeof wishes !== "object" || wishes === null) throw refused("enqueue is told whose request it is, and what for: { scope, operation }");
  onlyKnown("enqueue", wishes, WISHES);
  checkText({ scope: wishes.scope, key: wishes.key ?? "" });
  if (wishes.fingerprint !== undefined) taken(wishes.fingerprint);
  for (const name of ["operation", "purpose", "lane", "mediaType"] as const) {
    const given: unknown = wishes[name];
    if (typeof given !== "string" && (name === "operation" || given != null)) throw refused(`the ${name} of a request is text; this is ${kindOf(given)}`);
  }
}
