"""Ctrl-C and cancellation in the middle of a handler, in every form: the effect decides, and no outcome is lost (S3, S8)."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import keyledger
from keyledger import Claim, Fingerprint, Ledger, Operation

from .forms import AWAITING, BLOCKING, EFFECTS, FORMS, do, stands
from .scripts import Started

THEN = {
    "in_ledger": "acquired, attempt 1",
    "repeatable": "acquired, attempt 2",
    "at_most_once": "parked: the handler raised an error",
}


@pytest.fixture(params=["memory", "file"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    opened = keyledger.in_memory() if request.param == "memory" else keyledger.open(tmp_path / "interrupted.kl")
    with opened:
        yield opened


def interrupt(_: Claim) -> None:
    """Ctrl-C, as the system tells it: Python raises where it stands."""
    signal.raise_signal(signal.SIGINT)
    time.sleep(5)


def cancel(_: Claim) -> None:
    raise asyncio.CancelledError


def leave(_: Claim) -> None:
    raise SystemExit(3)


def raise_interrupt(_: Claim) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("form", "handler", "raised"),
    [
        (form, handler, raised)
        for forms, ctrl_c in ((BLOCKING, interrupt), (AWAITING, raise_interrupt))
        for form in forms
        for handler, raised in ((ctrl_c, KeyboardInterrupt), (cancel, asyncio.CancelledError), (leave, SystemExit))
    ],
)
def test_s8_a_handler_that_is_interrupted_goes_by_the_effect(
    ledger: Ledger, form: str, handler: Callable[[Claim], None], raised: type[BaseException]
) -> None:
    for effect in EFFECTS:
        operation = Operation(effect, effect)
        with pytest.raises(raised):
            do(form, ledger, operation, form, handler)
        assert stands(ledger, operation, form) == THEN[effect]


@pytest.mark.parametrize("form", ["decorated_async", "run_async"])
@pytest.mark.parametrize("times", [1, 5])
def test_s3_a_caller_that_is_cancelled_again_and_again_loses_nothing(ledger: Ledger, form: str, times: int) -> None:
    """Its handler runs on, in a task of its own, and its outcome is stored."""
    operation = Operation("mail", "at_most_once")
    ended: list[str] = []

    async def cancelled() -> None:
        begun, go = asyncio.Event(), asyncio.Event()

        async def slow(claim: Claim) -> keyledger.Response:
            begun.set()
            await go.wait()
            ended.append(claim.key_id.key)
            return keyledger.Response.of_text("sent")

        @ledger.idempotent(operation=operation, scope="s", key="k", fingerprint=None)
        async def call(s: str, k: str) -> None:
            await slow(keyledger.current_claim())

        made: Any = call("s", "1") if form == "decorated_async" else None
        run = made or ledger.run_async(operation, "s", "1", Fingerprint.unchecked(), slow)
        task = asyncio.create_task(run)
        await begun.wait()
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task
        go.set()
        waited = await ledger.begin_async(operation, "s", "1", Fingerprint.unchecked(), wait=10)
        assert waited.KIND == "replay"

    asyncio.run(cancelled())
    assert ended == ["1"]


CTRL_C = """
import asyncio, sys, time
import keyledger
from keyledger import Operation
from processes.forms import EFFECTS, do, stands

ledger, form = keyledger.open(sys.argv[1]), sys.argv[2]


def handler(claim):
    print("begun", flush=True)
    # A coroutine that blocked its loop would be interrupted by nobody: asyncio takes the signal, and cancels.
    return asyncio.sleep(30) if form.endswith("_async") else time.sleep(30)


for effect in EFFECTS:
    try:
        do(form, ledger, Operation(effect, effect), form, handler)
    except KeyboardInterrupt:
        print(stands(ledger, Operation(effect, effect), form), flush=True)
"""


@pytest.mark.parametrize("form", FORMS)
def test_s8_ctrl_c_of_a_real_process_in_the_middle_of_a_handler(form: str, tmp_path: Path) -> None:
    with Started(CTRL_C, tmp_path / "file.kl", form) as script:
        for effect in EFFECTS:
            assert script.says() == "begun"
            script.send(signal.SIGINT)
            assert script.says() == THEN[effect]
        assert script.wait() == 0


WAITS = """
import sys, threading, time
import keyledger
from keyledger import Operation
from processes.forms import UNCHECKED, stands

ledger, how = keyledger.open(sys.argv[1]), sys.argv[2]
operation = Operation("charge", "repeatable")
held = ledger.begin(operation, "s", "1", UNCHECKED).claim


@ledger.idempotent(operation=operation, scope="s", key="k", fingerprint=None, wait=60)
def call(s, k):
    raise AssertionError


waits = {
    "begin": lambda: ledger.begin(operation, "s", "1", UNCHECKED, wait=60),
    "begin_with": lambda: ledger.begin_with(keyledger.Begin(operation, "s", "1", UNCHECKED, wait=60)),
    "decorated": lambda: call("s", "1"),
    "block": lambda: ledger.claim(operation, "s", "1", UNCHECKED, wait=60).__enter__(),
}
threading.Timer(0.2, lambda: print("waits", flush=True)).start()
started = time.monotonic()
try:
    waits[how]()
except KeyboardInterrupt:
    held.complete("done")
    print("interrupted" if time.monotonic() - started < 20 else "too late", stands(ledger, operation, "1"), flush=True)
"""


@pytest.mark.parametrize("how", ["begin", "begin_with", "decorated", "block"])
def test_p4_ctrl_c_ends_a_wait_for_another_owner(how: str, tmp_path: Path) -> None:
    with Started(WAITS, tmp_path / "file.kl", how) as script:
        assert script.says() == "waits"
        script.send(signal.SIGINT)
        assert script.says() == "interrupted replay"
        assert script.wait() == 0


def test_s3_an_interrupt_while_the_outcome_is_on_its_way_to_the_disk_is_raised_after_it(tmp_path: Path) -> None:
    """Signals that keep coming: whatever they hit, a handler that has returned is completed."""
    with keyledger.open(tmp_path / "file.kl") as ledger:
        operation = Operation("mail", "at_most_once")
        ran: list[str] = []
        for number in range(60):
            over = threading.Event()

            def shoot(over: threading.Event = over, number: int = number) -> None:
                over.wait(0.0002 * (number % 20))
                os.kill(os.getpid(), signal.SIGINT)

            def handler(claim: Claim) -> None:
                ran.append(claim.key_id.key)

            gun = threading.Thread(target=shoot)
            try:
                gun.start()
                do("decorated", ledger, operation, str(number), handler)
                gun.join()
                time.sleep(0.01)
            except KeyboardInterrupt:
                gun.join()
            if str(number) in ran:
                # It ran to its end, or the interrupt came in its last line: that is parked, never lost.
                assert stands(ledger, operation, str(number)) in ("replay", THEN["at_most_once"])
            else:
                # A grant that nobody was told of is released, which may still be on its way to the disk.
                assert stands(ledger, operation, str(number), wait=10) != "in_progress"
        assert ran
