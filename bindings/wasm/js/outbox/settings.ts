import { type Names, checkName, checkWords, onlyKnown } from "../door.js";

/** A lane: an ordering key among entries. The lane `default` is always there, and is unordered unless it is declared otherwise. */
export type Lane =
  | {
      name: string;
      /** First in, first out, one in flight at a time in each scope. */
      isOrdered: true;
      /** What a dead, unknown or held head does to those behind it. Absent: they wait until somebody has decided about it. */
      onStuckHead?: "block" | "skip";
    }
  | { name: string; isOrdered?: false };

/** How an outbox is opened. Settings hold for the object; lanes are stored. Absent: the contract's defaults. */
export interface OutboxSettings {
  /** Those that there are besides `default`. */
  lanes?: Lane[];
  /** How long one try lasts. Absent: 30 s. */
  leaseMs?: number;
  /** The longest wait after the first try, after any, and what multiplies it. Absent: 1 s, 5 min, 2. */
  backoff?: { baseMs: number; capMs: number; multiplier: number };
  /** When an entry is given up. Absent: after 20. */
  maxTries?: number;
  /** When an entry is given up. Absent: never. */
  maxAgeMs?: number;
  /** How long servers remember keys. Absent: 23 h. */
  resendWindowMs?: number;
  /** How long a purpose is answered with the entry that settled it. Absent: 24 h. */
  purposeRetentionMs?: number;
  /** How long settled entries stay. Absent: 7 days. */
  retentionMs?: number;
  /** The longest wait that a server can ask for. Absent: 1 h. */
  retryAfterMaxMs?: number;
  /** So many retries when it is full, and one more in each span. Absent: 100, 1 s. */
  retryBudget?: { retries: number; refillMs: number };
  /** How many unsettled entries there may be, and how many bytes their requests may have. Absent: 100,000; 64 MiB. */
  bounds?: { entries: number; bytes: number };
  /** Absent: 1 MiB. */
  maxRequestBytes?: number;
}

const LANE: Names<Extract<Lane, { isOrdered: true }>> = { name: true, isOrdered: true, onStuckHead: true };

const SETTINGS: Names<OutboxSettings> = {
  lanes: true,
  leaseMs: true,
  backoff: true,
  maxTries: true,
  maxAgeMs: true,
  resendWindowMs: true,
  purposeRetentionMs: true,
  retentionMs: true,
  retryAfterMaxMs: true,
  retryBudget: true,
  bounds: true,
  maxRequestBytes: true,
};

/** As the native half takes them. @internal */
export function wordsOf(settings: OutboxSettings): unknown[][] {
  onlyKnown("an outbox", settings, SETTINGS);
  const { lanes = [], backoff, retryBudget, bounds, ...numbers } = settings;
  for (const lane of lanes) {
    onlyKnown("a lane", lane, LANE);
    checkName(lane.name);
  }
  onlyKnown("backoff", backoff, { baseMs: true, capMs: true, multiplier: true });
  onlyKnown("retryBudget", retryBudget, { retries: true, refillMs: true });
  onlyKnown("bounds", bounds, { entries: true, bytes: true });
  const words: unknown[][] = lanes.map((lane) =>
    lane.isOrdered ? ["ordered", lane.name, lane.onStuckHead ?? "block"] : ["unordered", lane.name],
  );
  if (backoff) words.push(["backoff", backoff.baseMs, backoff.capMs, backoff.multiplier]);
  if (retryBudget) words.push(["retryBudget", retryBudget.retries, retryBudget.refillMs]);
  if (bounds) words.push(["bounds", bounds.entries, bounds.bytes]);
  checkWords(words);
  return [...words, ...Object.entries(numbers).filter(([, value]) => value !== undefined)];
}
