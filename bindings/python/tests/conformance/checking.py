"""What all kinds of steps share: the errors that end one, and the comparison with what was expected."""

from __future__ import annotations

from typing import Any

from .compare import difference
from .world import World

Step = dict[str, Any]


class Differs(Exception):
    """What happened inside a closure or handler is not what was expected."""


class Raised(Exception):
    """An error of the scenario's own."""


def check(world: World, expected: Any, happened: Any) -> None:
    where = difference(expected, happened, world.names)
    if where:
        raise Differs(f"expected {expected!r}\n   found {happened!r}\n      at {where}")
