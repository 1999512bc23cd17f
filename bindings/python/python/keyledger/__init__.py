"""keyledger: an operation asked for twice happens once."""

from __future__ import annotations

from keyledger import _native, errors
from keyledger._native import (
    Cancel,
    Changes,
    Decided,
    Delivery,
    DeliveryOutcome,
    Drained,
    DrainProgress,
    Enqueue,
    Enqueued,
    Entry,
    EntryPage,
    HttpAnswer,
    HttpRequest,
    KeyField,
    Lane,
    LaneState,
    OutboxStats,
    Report,
    Resumed,
    Stop,
    TryError,
    Turn,
)
from keyledger.driver import AsyncTransport, RunningDriver, Transport
from keyledger.outbox import Outbox

__all__ = [
    "AsyncTransport",
    "Cancel",
    "Changes",
    "Decided",
    "Delivery",
    "DeliveryOutcome",
    "DrainProgress",
    "Drained",
    "Enqueue",
    "Enqueued",
    "Entry",
    "EntryPage",
    "HttpAnswer",
    "HttpRequest",
    "KeyField",
    "Lane",
    "LaneState",
    "Outbox",
    "OutboxStats",
    "Report",
    "Resumed",
    "RunningDriver",
    "Stop",
    "Transport",
    "TryError",
    "Turn",
    "errors",
]

_native.register_errors(
    {
        error.code: error
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, errors.KeyledgerError)
    }
)
