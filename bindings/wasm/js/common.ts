export type { AnyClaim, AnyDriver, AnyLedger, AnyOutbox, Awaitable } from "./any.js";
export { Claim, type Step } from "./claim.js";
export type { Acquired, Decision, Gone, InProgress, Mismatch, Parked, Replay } from "./decision.js";
export { type ErrorCode, KeyledgerError } from "./errors.js";
export {
  type Case,
  type ClaimedHandler,
  type HttpAnswer,
  type HttpStored,
  type IdempotentHandler,
  type IdempotentOptions,
  type Keep,
  type RouteSettings,
  httpOfStored,
  idempotent,
  storedHttp,
} from "./http/fetch.js";
export { LedgerHandle, type LedgerOptions, type Resolution, type Settlement } from "./ledger.js";
export { MemoryStore } from "./memory-store.js";
export {
  type Effect,
  Fingerprint,
  type FingerprintedRequest,
  type KeyId,
  type Members,
  Operation,
  type OperationSettings,
  deriveKey,
  deriveKeyFor,
} from "./operation.js";
export type { Begin, BeginOptions, CompactOptions, ForgetOptions, RunOptions } from "./options.js";
export type { Cancel, Enqueued, EntryResolution, Outbox, Resumed, Turn } from "./outbox/outbox.js";
export type { Wishes } from "./outbox/wishes.js";
export { Delivery, DeliveryOutcome, type OutcomeKind, Report } from "./outbox/delivery.js";
export type { AnyTransport, DrainOptions, DrainProgress, Drained, Driver, DriverOptions, StopOptions, Transport } from "./outbox/driver.js";
export {
  type Entry,
  type EntryCounts,
  type EntryFilter,
  type LaneState,
  type OutboxStats,
  type WaitOptions,
  httpAnswer,
} from "./outbox/entry.js";
export { type FetchSettings, FetchTransport, NotNow, type PlainFetchSettings, type ReceivedAnswer, type SentRequest, SignedOut } from "./outbox/fetch.js";
export type { Decided, EntryState, EntryView, TryError } from "./outbox/view.js";
export { HttpRequest, type HttpRequestParts, type HttpSettings, type Outgoing } from "./outbox/http.js";
export type { Lane, OutboxSettings } from "./outbox/settings.js";
export type { FileCheck, Filter, Forgotten, RecordView, StateName, Stats, Swept } from "./records.js";
export { type Answer, type Bytes, StoredResponse } from "./response.js";
export { type ErrorMeans, Refused, ReplayedFailure } from "./run.js";
export { singleScope } from "./native/keyledger.js";
export type { Clock, Durability, Host, Store } from "./store.js";
export { type AtOnce, Batch, type Row, Transaction } from "./transaction.js";
