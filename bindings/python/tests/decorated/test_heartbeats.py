"""Heartbeats after an error that a signal raised in the main thread: nothing stays locked, and leases are renewed."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from keyledger import _heartbeat
from keyledger._heartbeat import Heartbeat


class Claimed:
    """A claim with a short lease that hears its heartbeats."""

    lease_seconds = 0.003

    def __init__(self, ledger_number: int) -> None:
        self.ledger_number = ledger_number
        self.has_beaten = threading.Event()

    def heartbeat(self) -> None:
        self.has_beaten.set()


def interrupted_at(instant: int, call: Callable[[], object]) -> bool:
    """Whether there is such an instant: one after a call that this thread makes meanwhile, of C or of Python."""
    instants = itertools.count()

    def look(_frame: Any, event: str, _arg: Any) -> None:
        if event != "c_call" and next(instants) == instant:
            sys.setprofile(None)
            raise KeyboardInterrupt

    try:
        sys.setprofile(look)
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


@pytest.mark.parametrize("is_running", [False, True])
def test_s2_a_signal_at_any_instant_of_its_start_leaves_the_heartbeat_of_every_other_claim(*, is_running: bool) -> None:
    number = -1
    for instant in itertools.count():
        number = -1 - instant
        before, after = Claimed(number), Claimed(number)
        if is_running:
            Heartbeat.start(before)  # type: ignore[arg-type]
            assert before.has_beaten.wait(5)
        claim = Claimed(number)
        is_over = not interrupted_at(instant, lambda claim=claim: Heartbeat.start(claim))  # type: ignore[misc]
        other = threading.Thread(target=Heartbeat.start, args=(after,), daemon=True)
        other.start()
        assert after.has_beaten.wait(5), f"after an interrupt at instant {instant}"
        for lives in (before, after) if is_running else (after,):
            lives.has_beaten.clear()
            assert lives.has_beaten.wait(5), f"after an interrupt at instant {instant}"
        if is_over:
            break
    for gone in range(number, 0):
        _heartbeat._hearts.pop(gone, None)
    assert number < -1
