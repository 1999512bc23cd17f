"""Ctrl-C at the instants around a handler: before it has begun, and once it has returned or raised (S3, S8)."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import keyledger
from keyledger import Claim, Fingerprint, JsonCodec, Ledger, Operation, Response
from keyledger._kept import RESULT, Asked, Kept

UNCHECKED = Fingerprint.unchecked()
EFFECTS = ("in_ledger", "repeatable", "at_most_once")


class Pressed:
    """`pressed.now` is Ctrl-C that Python hears of at its next look for signals: not in the expression itself, which is one of C."""

    now = property(ctypes.PYFUNCTYPE(None, ctypes.py_object)(("PyErr_SetInterrupt", ctypes.pythonapi)))


pressed = Pressed()


def stands(ledger: Ledger, operation: Operation) -> str:
    """With a wait: a loop that was interrupted may have ended before its outcome was on the disk."""
    decision: Any = ledger.begin(operation, keyledger.SINGLE, "1", UNCHECKED, wait=5)
    return str(decision.KIND)


def interrupted(call: Callable[[], Any]) -> None:
    """It may well be told what happened: the signal is raised by the next look for one.

    Without garbage: Python drops what is raised while it collects that, also this.
    """
    gc.collect()
    gc.disable()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
            for _ in range(1000):
                pass
    finally:
        gc.enable()


@pytest.mark.parametrize("effect", EFFECTS)
def test_s3_a_signal_in_the_instant_in_which_a_handler_returns_does_not_lose_its_outcome(
    ledger: Ledger, effect: Any
) -> None:
    settings: Any = {"effect": effect, "scope": keyledger.SINGLE, "key": "key", "fingerprint": None}

    @ledger.idempotent(operation="function", **settings)
    def function(key: str) -> None:
        return pressed.now

    class Bank:
        @ledger.idempotent(operation="method", **settings)
        def method(self, key: str) -> None:
            return pressed.now

    @ledger.idempotent(operation="coroutine", **settings)
    async def coroutine(key: str) -> None:
        return pressed.now

    interrupted(lambda: function("1"))
    interrupted(lambda: Bank().method("1"))
    interrupted(lambda: asyncio.run(coroutine("1")))
    for call in (function, Bank.method, coroutine):
        assert stands(ledger, call.operation) == "replay"


@pytest.mark.parametrize("effect", EFFECTS)
def test_s3_a_signal_in_the_instant_in_which_a_handler_of_run_returns_does_not_lose_its_outcome(
    ledger: Ledger, effect: Any
) -> None:
    answer = Response.of_text("done")

    def handler(_: Claim) -> Response:
        return (answer, pressed.now)[0]

    async def handler_async(_: Claim) -> Response:
        return (answer, pressed.now)[0]

    operation, another = Operation("run", effect), Operation("run_async", effect)
    interrupted(lambda: ledger.run(operation, keyledger.SINGLE, "1", UNCHECKED, handler))
    interrupted(lambda: asyncio.run(ledger.run_async(another, keyledger.SINGLE, "1", UNCHECKED, handler_async)))
    assert stands(ledger, operation) == stands(ledger, another) == "replay"


def test_s3_a_signal_after_a_final_no_was_raised_does_not_lose_it(ledger: Ledger) -> None:
    class Interrupted(JsonCodec[str]):
        interrupts = 1

        def encode_error(self, error: Exception) -> Response:
            if self.interrupts:
                self.interrupts -= 1
                os.kill(os.getpid(), signal.SIGINT)
            return super().encode_error(error)

    operation = Operation("declined", "repeatable")

    @ledger.idempotent(
        operation=operation,
        scope=keyledger.SINGLE,
        key="key",
        fingerprint=None,
        final=(ValueError,),
        codec=Interrupted(str),
    )
    def call(key: str) -> str:
        raise ValueError(key)

    interrupted(lambda: call("1"))
    with pytest.raises(keyledger.ReplayedFailure):
        call("1")


@pytest.mark.parametrize("form", ["decorated", "run", "block", "decorated_async", "block_async"])
def test_s8_a_signal_before_the_handler_has_begun_releases_the_claim(
    ledger: Ledger, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    operation = Operation("mail", "at_most_once")
    asked = (operation, keyledger.SINGLE, "1", UNCHECKED)
    settings: Any = {"operation": operation, "scope": keyledger.SINGLE, "key": "key", "fingerprint": None}

    @ledger.idempotent(**settings)
    def decorated(key: str) -> None:
        pytest.fail("it ran")

    def block() -> None:
        with ledger.claim(*asked):
            pytest.fail("it ran")

    @ledger.idempotent(**settings)
    async def decorated_async(key: str) -> None:
        pytest.fail("it ran")

    async def block_async() -> None:
        async with ledger.claim(*asked):
            pytest.fail("it ran")

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("keyledger._running.Heartbeat.start", interrupt)
    calls: dict[str, Callable[[], Any]] = {
        "decorated": lambda: decorated("1"),
        "run": lambda: ledger.run(*asked, lambda _: pytest.fail("it ran")),
        "block": block,
        "decorated_async": lambda: asyncio.run(decorated_async("1")),
        "block_async": lambda: asyncio.run(block_async()),
    }
    with pytest.raises(KeyboardInterrupt):
        calls[form]()
    assert stands(ledger, operation) == "acquired"


def test_s8_what_begin_has_granted_is_known_in_the_instant_in_which_it_returns(ledger: Ledger) -> None:
    operation = Operation("mail", "at_most_once")
    with (
        pytest.raises(KeyboardInterrupt),
        Asked(partial(ledger.begin, operation, keyledger.SINGLE, "1", UNCHECKED)) as asked,
    ):
        decision = (asked[RESULT], pressed.now)
        pytest.fail(repr(decision))
    assert stands(ledger, operation) == "acquired"


def test_whatever_a_kept_call_raises_is_raised_and_nothing_is_kept() -> None:
    for error in (KeyError("x"), StopIteration("x"), KeyboardInterrupt()):

        def call(error: BaseException = error) -> None:
            raise error

        kept = Kept(partial(call))
        with pytest.raises(type(error)) as told:
            kept[RESULT]
        assert told.value is error
        assert RESULT not in kept


class Declined(Exception):
    response = Response.of_text("declined")


def declined() -> None:
    """Raises at once with Ctrl-C: Python hears of that in whatever is called next."""
    error = Declined()
    raise (error, pressed.now)[0]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 raises signals in the first line of an except clause")
@pytest.mark.parametrize("form", ["decorated", "run", "block", "matched"])
def test_s3_a_signal_in_the_instant_in_which_a_final_no_is_raised_does_not_lose_it(ledger: Ledger, form: str) -> None:
    operation = Operation("charge", "repeatable")
    asked = (operation, keyledger.SINGLE, "1", UNCHECKED)

    @ledger.idempotent(operation=operation, scope=keyledger.SINGLE, key="key", fingerprint=None, final=(Declined,))
    def decorated(key: str) -> None:
        declined()

    def block() -> None:
        with ledger.claim(*asked, final=(Declined,)):
            declined()

    def matched() -> None:
        """The end of a claim's own block goes by the effect."""
        decision: Any = ledger.begin(Operation("mail", "at_most_once"), keyledger.SINGLE, "1", UNCHECKED)
        with decision.claim:
            declined()

    calls: dict[str, Callable[[], Any]] = {
        "decorated": lambda: decorated("1"),
        "run": lambda: ledger.run(*asked, lambda _: declined(), final=(Declined,)),  # type: ignore[arg-type,return-value]
        "block": block,
        "matched": matched,
    }
    interrupted(calls[form])
    if form == "matched":
        parked: Any = ledger.begin(Operation("mail", "at_most_once"), keyledger.SINGLE, "1", UNCHECKED)
        assert parked.reason == "the handler raised an error"
    else:
        assert stands(ledger, operation) == "replay"
