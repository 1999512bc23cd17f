"""A claim that its caller never sees is given back: no handler can have run (section 4)."""

from __future__ import annotations

import asyncio
import gc
import random
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from holding import held

import keyledger
from keyledger import Begin, Fingerprint, KeyId, Ledger, Operation

UNCHECKED = Fingerprint.unchecked()
ONCE = Operation("mail", "at_most_once")

pytestmark = pytest.mark.usefixtures("quiet_about_left_tasks")


def next_answer(ledger: Ledger, key: str) -> str:
    return ledger.begin(ONCE, "s", key, UNCHECKED, wait=5).KIND


class Asking:
    """A loop with a task that asks for a key."""

    def __init__(self, ledger: Ledger, key: str) -> None:
        self.told: list[Any] = []
        self.loop = asyncio.new_event_loop()
        self._task = self.loop.create_task(self._ask(ledger, key))

    async def _ask(self, ledger: Ledger, key: str) -> None:
        self.told.append(await ledger.begin_async(ONCE, "s", key, UNCHECKED))

    def turn(self, seconds: float = 0) -> None:
        self.loop.call_later(seconds, self.loop.stop)
        self.loop.run_forever()

    def close(self) -> None:
        self.loop.close()
        del self._task
        gc.collect()


def test_section_4_a_claim_on_its_way_to_a_loop_that_is_closed_is_given_back(ledger: Ledger) -> None:
    with held(ledger) as go:
        asking = Asking(ledger, "1")
        asking.turn()
        go.set()
        while ledger.inspect(KeyId("s", ONCE.name, "1")) is None:
            time.sleep(0.001)
        # The loop is told of it from another thread, and does not come to it.
        time.sleep(0.05)
    asking.close()
    assert not asking.told
    assert next_answer(ledger, "1") == "acquired"


def test_section_4_a_loop_that_is_closed_at_any_moment_leaves_no_key_behind() -> None:
    seen = {True: 0, False: 0}
    with keyledger.in_memory() as ledger:
        for number in range(40):
            asking = Asking(ledger, str(number))
            asking.turn(random.random() * 0.0004)
            asking.close()
            seen[bool(asking.told)] += 1
            if asking.told:
                asking.told[0].claim.release()
            assert next_answer(ledger, str(number)) == "acquired"
    assert seen[False]


@pytest.mark.skipif(
    sys.version_info < (3, 11), reason="3.10 looks for signals between any call and what is done with it"
)
@pytest.mark.parametrize("form", ["begin", "begin_with", "begin_many"])
def test_section_4_a_begin_that_is_interrupted_at_any_moment_leaves_no_key_behind(form: str) -> None:
    """By a timer of the system's, which finds the call before, in and after its commit, and on its way back to its caller."""
    seen = {True: 0, False: 0}
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with keyledger.in_memory() as ledger:
            forms: dict[str, Callable[[str], Any]] = {
                "begin": lambda key: ledger.begin(ONCE, "s", key, UNCHECKED),
                "begin_with": lambda key: ledger.begin_with(Begin(ONCE, "s", key, UNCHECKED)),
                "begin_many": lambda key: ledger.begin_many([Begin(ONCE, "s", key, UNCHECKED)])[0],
            }
            for turn in range(500):
                key, granted = _until_interrupted(forms[form], turn)
                seen[granted is not None] += 1
                if granted is not None and not granted.claim.is_settled:
                    granted.claim.release()
                assert next_answer(ledger, key) == "acquired", turn
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen[False]


def _until_interrupted(begin: Callable[[str], Any], turn: int) -> tuple[str, Any]:
    """The key that was asked for last, and what its caller was told."""
    key, granted = str(turn), None
    try:
        signal.setitimer(signal.ITIMER_REAL, random.random() * 0.0002 + 0.00001)
        for number in range(1_000_000):
            key, granted = f"{turn}-{number}", None
            granted = begin(key)
            granted.claim.release()
    except KeyboardInterrupt:
        pass
    return key, granted
