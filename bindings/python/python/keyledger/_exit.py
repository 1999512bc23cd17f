"""What runs on threads of its own is stopped before the interpreter shuts down, since it calls Python."""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from collections.abc import Callable
from typing import Protocol

from keyledger._native import nobody_inside, shut_gate


class _Stopped(Protocol):
    def stop(self) -> None:
        """End its threads, and wait until they have."""
        ...


_running: weakref.WeakSet[_Stopped] = weakref.WeakSet()
_ends: list[Callable[[], None]] = []
_over: list[bool] = []


def stop_at_exit(running: _Stopped) -> None:
    """At the latest when the process exits, `running` is stopped."""
    _running.add(running)


def before_exit(end: Callable[[], None]) -> Callable[[], None]:
    """Calls `end` when the process exits."""
    _ends.append(end)
    return end


@before_exit
def _stop_running() -> None:
    for running in list(_running):
        running.stop()


def is_over() -> bool:
    """Whether the process exits, and nothing of Python's runs on other threads any more.

    A daemon thread may stop with a lock in its hand then: whoever sees this waits for no lock, and starts no thread.
    """
    return bool(_over) or sys.is_finalizing()


@atexit.register
def _end() -> None:
    raised: BaseException | None = None
    for end in _ends:
        try:
            end()
        except BaseException as error:
            raised = error
    _over.append(True)
    shut_gate()
    if raised is not None:
        raise raised


def _in_a_forked_child() -> None:
    """None of its parent's threads is there (P3)."""
    _running.clear()
    nobody_inside()


os.register_at_fork(after_in_child=_in_a_forked_child)
