"""Calls whose results are kept in the same instant: a signal finds them not made yet, under way, or made."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from keyledger._native import Acquired, Claim
from keyledger.errors import KeyledgerError

if TYPE_CHECKING:
    from typing_extensions import Self

RESULT: Final = "result"


class Kept(defaultdict[str, Any]):
    """`kept[RESULT]` makes the call, and holds what it returned from the instant in which it returned.

    Python looks for signals between bytecodes. A dict that asks for its missing value and stores it does both in C, so there is no
    bytecode between them; `x = call()` has one. The call has to be one without a bytecode of its own: a `functools.partial`, no lambda.
    """

    __slots__ = ()

    def __init__(self, call: Callable[[], Any]) -> None:
        super().__init__(call)


class Asked(Kept):
    """What `begin` answers, or the claim itself, as a block.

    Left by an error before the handler has begun, it releases what was granted: that surely did not happen.
    """

    __slots__ = ("is_begun",)

    def __init__(self, begin: Callable[[], Any]) -> None:
        super().__init__(begin)
        self.is_begun = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is not None and not self.is_begun:
            granted: Any = self.get(RESULT)
            if granted.__class__ is Acquired:
                granted = granted.claim
            if granted.__class__ is Claim:
                with contextlib.suppress(KeyledgerError):
                    granted.release()
