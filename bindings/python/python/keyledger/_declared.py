"""What functions say of the operations of one ledger: two of one name answer for each other, so that they have one effect."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

from keyledger._native import Operation


class _Said(NamedTuple):
    effect: str
    name: str
    function: ref[Any]


_said: WeakKeyDictionary[Any, dict[str, _Said]] = WeakKeyDictionary()
"""By ledger, or by the function that returns one, and by the operation's name."""


def declare(ledger: Any, operation: Operation, function: Any) -> None:
    """Notes that `function`, which is decorated, is of `operation`. One that is defined again, as a notebook does, takes its own place.

    Raises:
        TypeError: another function of the same ledger says that the operation has another effect.

    """
    name = f"{getattr(function, '__module__', None)}.{getattr(function, '__qualname__', repr(function))}"
    try:
        said = _said.setdefault(ledger, {})
    except TypeError:
        return  # What returns the ledger is no object that can be remembered.
    before = said.get(operation.name)
    if (
        before is not None
        and before.effect != operation.effect
        and before.name != name
        and before.function() is not None
    ):
        raise TypeError(
            f"{name} says that operation {operation.name!r} is {operation.effect}, and {before.name} that it is {before.effect}: functions of "
            "one operation answer for each other; give one of them another name, or both the same effect"
        )
    said[operation.name] = _Said(operation.effect, name, ref(function))
