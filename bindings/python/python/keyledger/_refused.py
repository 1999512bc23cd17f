"""How blocks, runs and decorators hand on the decisions that are no claim (S9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from keyledger.errors import KeyledgerError

if TYPE_CHECKING:
    from keyledger._native import KeyId, Response


def told_id(key_id: KeyId) -> str:
    """Which record it is, at the beginning of a message."""
    return f"{key_id.operation} of scope {key_id.scope!r}, key {key_id.key!r}"


class Refused(KeyledgerError):
    """The handler was not run, and there is no result to return.

    `decision` is the decision of `begin`; `code` its name, the same in every language; `retry_after_seconds` when to ask again with
    the same key, or None; `key_advice` is `"reuse"`, `"rotate"` or `"reconcile"`; the message is one sentence of advice.
    """

    code: str  # type: ignore[misc]

    def __init__(self, decision: Any) -> None:
        self.decision = decision
        self.code = decision.KIND  # pyright: ignore[reportIncompatibleVariableOverride]
        self.key_advice: str = decision.key_advice
        self.retry_after_seconds: float | None = getattr(decision, "retry_after_seconds", None)
        super().__init__(decision.advice)

    def __reduce__(self) -> tuple[Any, ...]:
        """To other processes the decision goes along."""
        return type(self), (self.decision,)


class ReplayedFailure(KeyledgerError):
    """An earlier run of this key ended in a final no. `response` is the one that was stored then."""

    code: ClassVar[str] = "replayed_failure"

    def __init__(self, response: Response) -> None:
        self.response = response
        super().__init__("an earlier run of this key ended in a final no")

    def __reduce__(self) -> tuple[Any, ...]:
        """To other processes the response goes along."""
        return type(self), (self.response,)
