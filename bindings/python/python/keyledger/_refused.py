"""How blocks, runs and decorators hand on the decisions that are no claim (S9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from keyledger.errors import KeyledgerError, kind_of

if TYPE_CHECKING:
    from keyledger._native import Gone, InProgress, KeyId, Mismatch, Parked, Replay, Response

    Refusal = Replay | InProgress | Mismatch | Parked | Gone


def told_id(key_id: KeyId) -> str:
    """Which record it is, at the beginning of a message."""
    return f"{key_id.operation} of scope {key_id.scope!r}, key {key_id.key!r}"


class Refused(KeyledgerError):
    """The handler was not run, and there is no result to return.

    `decision` is the decision of `begin`; `key_id` the record it is about; `code` the decision's name, the same in every language;
    `retry_after_seconds` when to ask again with the same key, or None; `key_advice` is `"reuse"`, `"rotate"` or `"reconcile"`. The
    message names the record, and says what to do next.
    """

    code: str  # type: ignore[misc]

    def __init__(self, decision: Refusal, key_id: KeyId | None = None) -> None:
        self.decision = decision
        self.key_id = key_id
        self.code = decision.KIND  # pyright: ignore[reportIncompatibleVariableOverride]
        self.key_advice: str = decision.key_advice
        self.retry_after_seconds: float | None = getattr(decision, "retry_after_seconds", None)
        said = f"{decision.advice}; {_next(decision)}"
        super().__init__(said if key_id is None else f"{told_id(key_id)}: {said}")

    def __reduce__(self) -> tuple[Any, ...]:
        """To other processes the decision goes along, and which record it is about."""
        return type(self), (self.decision, self.key_id)


_NEXT = {
    "replay": "that is refused.decision.response, and there is no claim to enter",
    "mismatch": "where the calls are meant to be one, name with fingerprint= what both have in common",
    "parked": "then settle it with Ledger.resolve, the decorated function's resolve (or its recover, if the owner was lost), or the "
    "program keyledger",
    "gone": "retention= is for how long answers are kept",
}


def _next(decision: Refusal) -> str:
    """What the caller does now."""
    if decision.KIND == "in_progress":
        return f"in {decision.retry_after_seconds:.3g} s, or let wait= do so"
    return _NEXT[decision.KIND]


class ReplayedFailure(KeyledgerError):
    """An earlier run of this key ended in a final no. `response` is the one that was stored then; `key_id` the record it is about.

    The message names the record, and says what kind of response it is, without its words: those are for whoever may see them.
    """

    code: ClassVar[str] = "replayed_failure"

    def __init__(self, response: Response, key_id: KeyId | None = None) -> None:
        self.response = response
        self.key_id = key_id
        said = f"an earlier run of this key ended in a final no; its response is {kind_of(response)}"
        super().__init__(said if key_id is None else f"{told_id(key_id)}: {said}")

    def __reduce__(self) -> tuple[Any, ...]:
        """To other processes the response goes along, and which record it is about."""
        return type(self), (self.response, self.key_id)
