"""keyledger: an operation asked for twice happens once."""

from __future__ import annotations

from keyledger import _native, errors
from keyledger._codec import Codec, JsonCodec, ResultNotStored, stored_body
from keyledger._current import current_claim
from keyledger._native import (
    Acquired,
    Cancel,
    Changes,
    Claim,
    Decided,
    Delivery,
    DeliveryOutcome,
    Drained,
    DrainProgress,
    Enqueue,
    Enqueued,
    Entry,
    EntryPage,
    Fingerprint,
    Gone,
    HttpAnswer,
    HttpRequest,
    InProgress,
    KeyField,
    Lane,
    LaneState,
    Mismatch,
    Operation,
    OutboxStats,
    Parked,
    Replay,
    Report,
    Response,
    Resumed,
    Stop,
    TryError,
    Turn,
    derive_key,
)
from keyledger._parts import SINGLE
from keyledger.driver import AsyncTransport, RunningDriver, Transport
from keyledger.idempotent import idempotent
from keyledger.ledger import Ledger
from keyledger.outbox import Outbox
from keyledger.refused import Refused, ReplayedFailure

__all__ = [
    "SINGLE",
    "Acquired",
    "AsyncTransport",
    "Cancel",
    "Changes",
    "Claim",
    "Codec",
    "Decided",
    "Delivery",
    "DeliveryOutcome",
    "DrainProgress",
    "Drained",
    "Enqueue",
    "Enqueued",
    "Entry",
    "EntryPage",
    "Fingerprint",
    "Gone",
    "HttpAnswer",
    "HttpRequest",
    "InProgress",
    "JsonCodec",
    "KeyField",
    "Lane",
    "LaneState",
    "Ledger",
    "Mismatch",
    "Operation",
    "Outbox",
    "OutboxStats",
    "Parked",
    "Refused",
    "Replay",
    "ReplayedFailure",
    "Report",
    "Response",
    "ResultNotStored",
    "Resumed",
    "RunningDriver",
    "Stop",
    "Transport",
    "TryError",
    "Turn",
    "current_claim",
    "derive_key",
    "errors",
    "idempotent",
    "stored_body",
]

_native.register_errors(
    {
        error.code: error
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, errors.KeyledgerError)
    }
)
