"""Heartbeats while a handler runs: a daemon thread for each ledger, for as long as it has claims to renew."""

from __future__ import annotations

import _thread
import contextlib
import math
import os
import threading
import time
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING
from weakref import ref

from keyledger._exit import is_over
from keyledger._kept import RESULT, Kept
from keyledger.errors import ClaimLost, ClaimSettled, Closed, Forked, KeyledgerError

if TYPE_CHECKING:
    import asyncio

    from keyledger._native import Claim

_ENDS = (ClaimLost, ClaimSettled, Closed, Forked)
_IDLE_SECONDS = 10.0
_LONGEST_SECONDS = 3600.0
_BEATS_IN_A_LEASE = 3


class _Beat:
    """One claim, and when its lease is to be renewed next. What nobody else holds any more is let go, and has no more beats."""

    __slots__ = ("claim", "due", "every", "loop")

    def __init__(self, claim: Claim, loop: asyncio.AbstractEventLoop | None) -> None:
        self.claim = ref(claim)
        self.loop = None if loop is None else ref(loop)
        self.every = claim.lease_seconds / _BEATS_IN_A_LEASE
        self.due = time.monotonic() + self.every

    def beat(self) -> bool:
        """Whether there is a lease to renew again. What cannot be stored now is tried again at the next beat."""
        self.due = time.monotonic() + self.every
        claim = self.claim()
        if claim is None:
            return False
        if self._can_never_go_on():
            claim.drop()
            return False
        try:
            claim.heartbeat()
        except _ENDS:
            return False
        except KeyledgerError:
            return True
        return True

    def _can_never_go_on(self) -> bool:
        """Its handler waits on a loop that is closed (S2)."""
        if self.loop is None:
            return False
        loop = self.loop()
        return loop is None or loop.is_closed()


class _Heart:
    """The beats of one ledger, and the thread that sees to them.

    It has no lock: a signal's error could leave one with the main thread for ever. Each step of `add` is one call of C, whole or not made,
    and each half sees what the other does next: `add` looks whether the thread waits after it has put its beat, the thread looks for beats
    after it has said that it waits no more.
    """

    def __init__(self) -> None:
        self._beats: dict[int, _Beat] = {}
        self._woken: SimpleQueue[None] = SimpleQueue()
        self._wakes_at = math.inf
        self._thread = Kept(partial(_thread.start_new_thread, self._begin, ()))

    def add(self, beat: _Beat) -> None:
        # When the process exits no thread begins any more.
        if is_over():
            return
        self._beats[id(beat)] = beat
        # The thread, which begins unless it has begun.
        self._thread[RESULT]
        if beat.due < self._wakes_at and self._woken.empty():
            self._woken.put(None)

    def remove(self, beat: _Beat) -> None:
        """Waits for nobody: a garbage collection may come here at any time, and the last one when the thread is gone."""
        self._beats.pop(id(beat), None)

    def _begin(self) -> None:
        """Makes a thread with a name. Signals are raised in the main thread alone, which may not do this: `Thread.start` takes locks."""
        try:
            threading.Thread(target=self._run, name="keyledger-heartbeat", daemon=True).start()
        except RuntimeError:
            # There can be no more threads; this one is there.
            self._run()

    def _run(self) -> None:
        try:
            while (due := self._wait()) is not None:
                for beat in due:
                    if not beat.beat():
                        self.remove(beat)
        finally:
            self._thread.clear()
        # A beat that came before the thread was no more needs another.
        if self._beats and not is_over():
            self._thread[RESULT]

    def _wait(self) -> list[_Beat] | None:
        """The beats that are due, or none: nobody has had a claim for a while, and the thread ends."""
        idle_until = time.monotonic() + _IDLE_SECONDS
        while True:
            # Whoever adds one while this looks wakes it again.
            self._wakes_at = math.inf
            now = time.monotonic()
            beats = list(self._beats.values())
            due = [beat for beat in beats if beat.due <= now]
            if due:
                return due
            if not beats and now >= idle_until:
                return None
            self._wakes_at = min((beat.due for beat in beats), default=idle_until)
            with contextlib.suppress(Empty):
                self._woken.get(timeout=min(max(self._wakes_at - now, 0), _LONGEST_SECONDS))


_hearts: dict[int, _Heart] = {}


class Heartbeat:
    """Renews a claim's lease every third of it, from `start` to `stop`. A claim found lost sets its `lost` signal, and no more is tried."""

    __slots__ = ("_beat", "_heart")

    def __init__(self, heart: _Heart, beat: _Beat) -> None:
        self._heart, self._beat = heart, beat

    @classmethod
    def start(cls, claim: Claim, loop: asyncio.AbstractEventLoop | None = None) -> Heartbeat:
        """From now on. A claim whose handler runs on a `loop` is let go when that was closed in its middle (S2)."""
        number = claim.ledger_number
        heart = _hearts.get(number) or _hearts.setdefault(number, _Heart())
        beat = _Beat(claim, loop)
        heart.add(beat)
        return cls(heart, beat)

    def stop(self) -> None:
        """Not any more. On return a beat may still be under way; it renews nothing that is settled."""
        self._heart.remove(self._beat)


# A forked child has none of its parent's threads, and none of its claims (P3).
os.register_at_fork(after_in_child=_hearts.clear)
