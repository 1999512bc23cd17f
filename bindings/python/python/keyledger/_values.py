"""Small values of the package that are Python's own."""

from __future__ import annotations

from datetime import timedelta
from enum import Enum
from typing import Any, Literal, TypeAlias

from keyledger._native import Acquired, Fingerprint, Gone, InProgress, Mismatch, Parked, Replay, Response

Span: TypeAlias = float | timedelta
"""A length of time: seconds, or a timedelta."""

Answer: TypeAlias = Response | str | bytes
"""What a handler answers with: text and bytes are made a response by `Response.of_text` and `Response.of_bytes`."""

Decision: TypeAlias = Acquired | Replay | InProgress | Mismatch | Parked | Gone
"""What `begin` answers."""


EffectName: TypeAlias = Literal["in_ledger", "repeatable", "at_most_once"]
"""An effect as text."""


class Effect(str, Enum):
    """What kind of side effects an operation has. It decides what may happen when its owner is lost (contract section 3).

    Their values, `"in_ledger"`, `"repeatable"` and `"at_most_once"`, may be said instead.
    """

    IN_LEDGER = "in_ledger"
    """All effects are rows of this ledger file, written in the transaction that completes the claim. Owner lost: runs again."""

    REPEATABLE = "repeatable"
    """The effects are elsewhere, and whoever performs them takes a key and deduplicates. Owner lost: runs again with the same keys."""

    AT_MOST_ONCE = "at_most_once"
    """Nobody can tell whether it happened: mail, a legacy API. Owner lost: parked for a person."""


def fingerprint(value: Any) -> Fingerprint:
    """The fingerprint of a JSON value: `Fingerprint.of_json`.

    Raises `InvalidArgument` for what JSON cannot hold.

    Example:
        assert keyledger.fingerprint({"a": 1, "b": 2}) == keyledger.fingerprint({"b": 2, "a": 1})

    """
    return Fingerprint.of_json(value)
