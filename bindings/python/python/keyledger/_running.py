"""Running a handler under a claim: in this thread, or in a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from weakref import ref

from keyledger import _current
from keyledger._heartbeat import Heartbeat
from keyledger._kept import RESULT, Asked, Kept
from keyledger._native import nobody_was_told
from keyledger._unbegun import NotRun

if TYPE_CHECKING:
    from keyledger._native import Claim
    from keyledger._settling import Ask, Course

_UNDER_WAY = "_keyledger_under_way"
"""The attribute of a loop that holds the handlers that run on it, whoever still waits for them: a loop alone does not keep its tasks
alive. With a loop that is closed and forgotten they go, too."""


class Within:
    """Inside, the claim is the current one, and its lease is renewed. Whoever is inside holds the claim."""

    __slots__ = ("_claim", "_heartbeat")

    def __init__(self, claim: Claim, *, heartbeat: bool, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._claim = ref(claim)
        self._heartbeat = Heartbeat.start(claim, loop) if heartbeat else None

    def __enter__(self) -> None:
        if (claim := self._claim()) is not None:
            _current.enter(claim)

    def __exit__(self, *error: object) -> None:
        if (claim := self._claim()) is not None:
            _current.leave(claim)
        if self._heartbeat is not None:
            self._heartbeat.stop()


def run_claimed(
    asked: Asked,
    handler: Callable[[], Any],
    course: Course,
    ask: Ask,
    *,
    heartbeat: bool,
    check: Callable[[Any], object] | None = None,
) -> Any:
    """Runs the handler, settles the claim by how it ended, and tells what is stored. The handler is a `partial`: see `Kept`.

    `check` raises `NotRun` for what is no result.
    """
    claim, ran = asked[RESULT].claim, Kept(handler)
    with Within(claim, heartbeat=heartbeat):
        try:
            asked.is_begun = True
            result = ran[RESULT]
            if check is not None:
                check(result)
            return course.returned(claim, result, ask)
        except BaseException as error:
            if RESULT in ran and not isinstance(error, NotRun):
                # A signal after the handler has returned: its outcome is stored all the same (S3).
                course.kept(claim, ran[RESULT], error)
                raise
            # A signal after it has raised comes with the next call of anything.
            try:
                return course.raised(claim, error, ask)
            except BaseException as then:
                if then is not error:
                    course.raised_still(claim, error, then)
                raise


async def run_claimed_async(
    asked: Asked,
    handler: Callable[[], Awaitable[Any]],
    course: Course,
    ask: Ask,
    *,
    heartbeat: bool,
    check: Callable[[Any], object] | None = None,
) -> Any:
    """The same in a task of its own, which runs on when the caller is cancelled (S3)."""
    claimed = _claimed(_Unbegun(asked), handler, course, ask, heartbeat=heartbeat, check=check)
    loop = asyncio.get_running_loop()
    # From here on it is that task which knows whether the handler has begun, whatever comes of this one.
    asked.is_begun = True
    task = loop.create_task(claimed)
    under_way: set[asyncio.Task[Any]] = loop.__dict__.setdefault(_UNDER_WAY, set())
    under_way.add(task)
    task.add_done_callback(under_way.discard)
    return await asyncio.shield(task)


class _Unbegun:
    """What was granted to a handler that has not begun. If it never does, since its loop ends before, the claim is released (section 4)."""

    __slots__ = ("asked", "is_begun")

    def __init__(self, asked: Asked) -> None:
        self.asked, self.is_begun = asked, False

    def __del__(self) -> None:
        decision = None if self.is_begun else self.asked.get(RESULT)
        if decision is not None:
            nobody_was_told(decision)


async def _claimed(
    unbegun: _Unbegun,
    handler: Callable[[], Awaitable[Any]],
    course: Course,
    ask: Ask,
    *,
    heartbeat: bool,
    check: Callable[[Any], object] | None,
) -> Any:
    asked = unbegun.asked
    claim = asked[RESULT].claim
    asked.is_begun = False
    with asked, Within(claim, heartbeat=heartbeat, loop=asyncio.get_running_loop()):
        try:
            unbegun.is_begun = asked.is_begun = True
            result = await handler()
        except BaseException as error:
            return await course.raised_async(claim, error, ask)
        try:
            if check is not None:
                check(result)
            return await course.returned_async(claim, result, ask)
        except NotRun as error:
            return await course.raised_async(claim, error, ask)
        except BaseException as interrupt:
            course.kept(claim, result, interrupt)
            raise
