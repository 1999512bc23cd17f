import { type Names, refused } from "../door.js";
import { hasNoBody, isStatus, readable } from "../http/answer.js";
import { httpOfStored } from "../http/route.js";
import type { StoredResponse } from "../response.js";
import type { EntryState, EntryView } from "./view.js";

/** How long to wait, and what ends the wait. */
export interface WaitOptions {
  /** Absent: as long as it takes. */
  timeoutMs?: number;
  /** Ends the wait, which then throws the signal's reason. */
  signal?: AbortSignal;
}

/** @internal */
export const WAIT_OPTIONS: Names<WaitOptions> = { timeoutMs: true, signal: true };

/** @internal */
export const CHANGES_OF_OPTIONS: Names<Pick<WaitOptions, "signal">> = { signal: true };

/** @internal */
export const CHANGES_OPTIONS: Names<{ after: number; signal: AbortSignal }> = { after: true, signal: true };

/** Who can wait for what comes of an entry. */
interface Waiting {
  result(id: number, options?: WaitOptions): Promise<StoredResponse>;
}

export interface Entry extends EntryView {}

/** An entry as it was when it was read. `result` waits for what comes of it, in this process or a later one. */
export class Entry {
  readonly #outbox: Waiting;

  /** @internal */
  constructor(view: EntryView, outbox: Waiting) {
    Object.assign(this, view);
    this.#outbox = outbox;
  }

  /** The final answer as one over HTTP, with the body as it came; null: there is none. */
  get httpAnswer(): Response | null {
    return this.response && httpAnswer(this.response);
  }

  /**
   * Waits for what comes of it, and returns the response of a yes. Any later process can ask: `outbox.get(id)?.result()`. Nothing is
   * sent by this: a driver does that, here or elsewhere.
   *
   * @throws `KeyledgerError` with `entry` as it is then: `answered_no` (with `response`), `entry_dead`, `entry_cancelled`; as soon as a
   * person is needed `entry_unknown` or `entry_held`; when the time is up `no_result_yet`. `not_found`: it was swept.
   */
  async result(options?: WaitOptions): Promise<StoredResponse> {
    return this.#outbox.result(this.id, options);
  }
  /** The same as an answer over HTTP, with the body as it came; for a request that was sent over HTTP. */
  async httpResult(options?: WaitOptions): Promise<Response> {
    return httpAnswer(await this.result(options));
  }
}

/**
 * What the ledger keeps of an answer over HTTP, as a `Response`; of a body that was over the limit there is nothing.
 *
 * @throws `invalid_argument` for a status that no `Response` can have: another language may have stored it, and `httpOfStored` tells it.
 */
export function httpAnswer(stored: StoredResponse): Response {
  const { status, headers, body } = httpOfStored(stored);
  if (!isStatus(status)) throw refused(`no Response can have the status ${status} that was stored; httpOfStored tells it as a value`);
  const isEmpty = !body?.length || hasNoBody(status, "GET");
  return new Response(isEmpty ? null : (body as Uint8Array<ArrayBuffer>), { status, headers: readable(headers) });
}

/** Which entries `list` shows. */
export interface EntryFilter {
  scope?: string;
  lane?: string;
  operation?: string;
  state?: EntryState;
  /** Enqueued at least so long ago. */
  olderThanMs?: number;
  pageSize?: number;
}

/** @internal */
export const ENTRY_FILTER: Names<EntryFilter> = { scope: true, lane: true, operation: true, state: true, olderThanMs: true, pageSize: true };

/** How many entries are in each state. */
export type EntryCounts = Readonly<Record<EntryState, number>>;

/** A lane of a scope that is held or paused. */
export interface LaneState {
  readonly scope: string;
  readonly lane: string;
  /** Why it is held. */
  readonly heldReason: string | null;
  readonly heldSinceMs: number | null;
  readonly pausedUntilMs: number | null;
}

/** How an outbox stands. */
export interface OutboxStats {
  readonly counts: EntryCounts;
  readonly unsettled: number;
  /** How many bytes the requests of unsettled entries have together. */
  readonly unsettledBytes: number;
  /** Retries that the budget lets out now. */
  readonly budget: number;
  /** Lanes that are held or paused. */
  readonly lanes: readonly LaneState[];
  readonly heldLanes: number;
  /** The number of the last change: where `changes` goes on after everything that is there. */
  readonly lastChange: number;
}
