"""No wait is over before its time (`timeout`, `wait`)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

import keyledger
from keyledger import Acquired, Fingerprint, Ledger, NoResultYet, Operation

UNCHECKED = Fingerprint.unchecked()
ONCE = Operation("mail", "at_most_once")
SPANS = [0.0004, 0.0011, 0.0035, 0.0101]


def shortest(wait: Callable[[float], Any]) -> float:
    """By how much the wait took longer than was asked for, at least, in seconds: early is below zero."""
    least = 1.0
    for _ in range(25):
        for span in SPANS:
            began = time.monotonic()
            wait(span)
            least = min(least, time.monotonic() - began - span)
    return least


def test_a_begin_waits_as_long_as_it_was_asked_to(ledger: Ledger) -> None:
    first = ledger.begin(ONCE, "s", "1", UNCHECKED)
    assert isinstance(first, Acquired)
    assert shortest(lambda span: ledger.begin(ONCE, "s", "1", UNCHECKED, wait=span)) >= 0

    async def begin(span: float) -> None:
        await ledger.begin_async(ONCE, "s", "1", UNCHECKED, wait=span)

    assert shortest(lambda span: asyncio.run(begin(span))) >= 0
    first.claim.release()


def test_an_entry_is_waited_for_as_long_as_was_asked(ledger: Ledger) -> None:
    outbox = ledger.outbox()
    entry, _ = outbox.enqueue("s", "mail", b"1", purpose="welcome")

    def result(span: float) -> None:
        with pytest.raises(NoResultYet):
            entry.result(span)

    assert shortest(result) >= 0
    assert shortest(lambda span: outbox.wait(entry, span)) >= 0


def test_changes_are_waited_for_as_long_as_was_asked(ledger: Ledger) -> None:
    changes = ledger.outbox().changes()
    assert shortest(changes.next) >= 0


def test_a_wait_of_no_time_looks_once(ledger: Ledger) -> None:
    entry, _ = ledger.outbox().enqueue("s", "mail", b"1", purpose="welcome")
    with pytest.raises(TimeoutError):
        entry.result(0)


def test_a_wait_ends_with_the_clock_of_the_test() -> None:
    """By a manual clock, which counts whole milliseconds, a wait ends when it shows the end."""
    clock = keyledger.testing.ManualClock()
    with keyledger.in_memory(clock=clock) as ledger:
        first = ledger.begin(ONCE, "s", "1", UNCHECKED)
        assert isinstance(first, Acquired)

        async def both() -> str:
            told = ledger.begin_async(ONCE, "s", "1", UNCHECKED, wait=5)
            clock.advance(5)
            return str((await asyncio.wait_for(told, 10)).KIND)

        assert asyncio.run(both()) == "in_progress"
        first.claim.release()
