"""Running a handler under a claim: in this thread, or in a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from weakref import ref

from keyledger import _current
from keyledger._heartbeat import Heartbeat

if TYPE_CHECKING:
    from keyledger._native import Claim
    from keyledger._settling import Ask, Course

_UNTOLD: Any = object()

_under_way: set[asyncio.Task[Any]] = set()
"""Handlers that run on, whoever still waits for them: a loop alone does not keep its tasks alive."""


class Within:
    """Inside, the claim is the current one, and its lease is renewed. Whoever is inside holds the claim."""

    __slots__ = ("_claim", "_heartbeat")

    def __init__(self, claim: Claim, *, heartbeat: bool) -> None:
        self._claim = ref(claim)
        self._heartbeat = Heartbeat.start(claim) if heartbeat else None

    def __enter__(self) -> None:
        if (claim := self._claim()) is not None:
            _current.enter(claim)

    def __exit__(self, *error: object) -> None:
        if (claim := self._claim()) is not None:
            _current.leave(claim)
        if self._heartbeat is not None:
            self._heartbeat.stop()


def run_claimed(claim: Claim, handler: Callable[[], Any], course: Course, ask: Ask, *, heartbeat: bool) -> Any:
    """Runs the handler, settles the claim by how it ended, and tells what is stored."""
    result = _UNTOLD
    with Within(claim, heartbeat=heartbeat):
        try:
            result = handler()
        except BaseException as error:
            return course.raised(claim, error, ask)
        try:
            return course.returned(claim, result, ask)
        except Exception:
            raise
        except BaseException:
            # Interrupted after the handler has returned: its outcome is stored all the same (S3).
            course.kept(claim, result)
            raise


async def run_claimed_async(
    claim: Claim, handler: Callable[[], Awaitable[Any]], course: Course, ask: Ask, *, heartbeat: bool
) -> Any:
    """The same in a task of its own, which runs on when the caller is cancelled (S3)."""
    task = asyncio.get_running_loop().create_task(_claimed(claim, handler, course, ask, heartbeat=heartbeat))
    _under_way.add(task)
    task.add_done_callback(_under_way.discard)
    return await asyncio.shield(task)


async def _claimed(
    claim: Claim, handler: Callable[[], Awaitable[Any]], course: Course, ask: Ask, *, heartbeat: bool
) -> Any:
    with Within(claim, heartbeat=heartbeat):
        try:
            result = await handler()
        except BaseException as error:
            return await course.raised_async(claim, error, ask)
        return await course.returned_async(claim, result, ask)
