"""What happened, as JSON in the form that scenarios expect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyledger import Acquired, Claim, Entry, Gone, InProgress, KeyledgerError, Mismatch, Parked, RecordView, Replay

from .values import shown_bytes, shown_response, whole_ms
from .world import START_MS


def told(call: Callable[[], Any]) -> Any:
    """What `call` returns, `"ok"` where that is nothing, or the error."""
    try:
        value = call()
    except KeyledgerError as error:
        return failed(error)
    return "ok" if value is None else value


def failed(error: KeyledgerError) -> dict[str, Any]:
    told = {"error": error.code, "message": str(error)}
    conflicting: Entry | None = getattr(error, "entry", None)
    return told if conflicting is None else {**told, "entry": entry(conflicting)}


def at(wall_ms: int) -> int:
    """An instant as scenarios count it: since their start."""
    return wall_ms - START_MS


def steps(recorded: list[tuple[str, bytes]]) -> list[Any]:
    return [[name, shown_bytes(value)] for name, value in recorded]


def claim(held: Claim) -> dict[str, Any]:
    left = held.remaining_seconds
    return {
        "scope": held.key_id.scope,
        "op": held.key_id.operation,
        "key": held.key_id.key,
        "fence": held.fence,
        "attempt": held.attempt,
        "effect": held.effect,
        "memo": shown_bytes(held.memo),
        "steps": steps(held.steps),
        "first_granted_at_ms": at(held.first_granted_at_ms),
        "remaining_ms": None if left is None else whole_ms(left),
        "is_lost": held.is_lost,
    }


def decision(decided: Any) -> dict[str, Any]:
    match decided:
        case Acquired(granted):
            return {"decision": "acquired", **claim(granted)}
        case Replay():
            return {
                "decision": "replay",
                "outcome": decided.outcome,
                "response": shown_response(decided.response),
                "settled_at_ms": at(decided.settled_at_ms),
                "expires_at_ms": at(decided.expires_at_ms),
            }
        case InProgress():
            return {
                "decision": "in_progress",
                "running_for_ms": whole_ms(decided.running_for_seconds),
                "retry_after_ms": whole_ms(decided.retry_after_seconds),
            }
        case Mismatch():
            return {"decision": "mismatch"}
        case Parked(reason, since_ms):
            return {"decision": "parked", "reason": reason, "since_ms": at(since_ms)}
        case Gone():
            return {"decision": "gone"}
    raise AssertionError(decided)


def record(view: RecordView) -> dict[str, Any]:
    return {
        "state": view.state,
        "fence": view.fence,
        "attempt": view.attempt,
        "effect": view.effect,
        "memo": shown_bytes(view.memo),
        "steps": steps(view.steps),
        "first_granted_at_ms": at(view.first_granted_at_ms),
        "reason": view.parked_reason,
        "audit": [{"who": entry.who, "note": entry.note} for entry in view.audit],
    }


def entry(view: Entry) -> dict[str, Any]:
    def instant(wall_ms: int | None) -> int | None:
        return None if wall_ms is None else at(wall_ms)

    return {
        "id": view.id,
        "state": view.state,
        "reason": view.reason,
        "with_lane": view.is_held_with_lane if view.state == "held" else None,
        "scope": view.scope,
        "lane": view.lane,
        "operation": view.operation,
        "key": view.key,
        "purpose": view.purpose,
        "response": None if view.response is None else shown_response(view.response),
        "is_yes": view.is_yes,
        "tries": view.tries,
        "given_back": view.given_back,
        "errors": [one.error for one in view.errors],
        "may_have_taken_effect": view.may_have_taken_effect,
        "due_at_ms": instant(view.due_at_ms),
        "lease_end_at_ms": instant(view.lease_end_ms),
        "first_unknown_at_ms": instant(view.first_unknown_at_ms),
        "send_by_at_ms": instant(view.send_by_ms),
        "created_at_ms": instant(view.created_at_ms),
        "settled_at_ms": instant(view.settled_at_ms),
        "successor": view.successor,
        "audit": [{"outcome": one.outcome, "who": one.who, "note": one.note} for one in view.audit],
    }
