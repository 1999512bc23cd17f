"""What a caller says of errors, codecs and times: which of two lists counts, and what is refused before anything is begun (S8)."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

import pytest

import keyledger
from keyledger import Fingerprint, InvalidArgument, InvalidKey, JsonCodec, Ledger, Operation

UNCHECKED = Fingerprint.unchecked()
PAY = Operation("pay", "at_most_once")


class PaymentError(Exception):
    """Of a bank."""


class Unreachable(PaymentError):
    """It was never sent."""


class Late(Unreachable):
    """Neither was this."""


LISTS = [
    ({"not_done": (Unreachable,), "final": (PaymentError,)}, "released"),
    ({"not_done": (PaymentError,), "final": (Unreachable,)}, "failed"),
    ({"not_done": (PaymentError, Late), "final": (Unreachable,)}, "released"),
    ({"not_done": [PaymentError], "final": []}, "released"),
    ({"final": {PaymentError}}, "failed"),
    ({"not_done": PaymentError}, "released"),
    ({"not_done": (BaseException,), "final": (OSError,)}, "released"),
]


def stands(ledger: Ledger) -> Any:
    (record,) = ledger.list().records
    return record.state


@pytest.mark.parametrize(("lists", "state"), LISTS)
def test_s8_of_an_errors_classes_the_narrowest_that_is_in_a_list_counts(ledger: Ledger, lists: Any, state: str) -> None:
    @ledger.idempotent(operation="pay", effect="at_most_once", scope=keyledger.SINGLE, key="key", **lists)
    def pay(key: str) -> str:
        raise Late

    with pytest.raises(Late):
        pay("1")
    assert stands(ledger) == state


@pytest.mark.parametrize(("lists", "state"), LISTS)
def test_s8_blocks_and_runs_take_the_same_lists(ledger: Ledger, lists: Any, state: str) -> None:
    def late(_: keyledger.Claim) -> str:
        raise Late

    with pytest.raises(Late):
        ledger.run(PAY, "ann", "1", UNCHECKED, late, **lists)
    assert stands(ledger) == state
    with keyledger.in_memory() as other:
        with pytest.raises(Late), other.claim(PAY, "ann", "1", UNCHECKED, **lists):
            raise Late
        assert stands(other) == state


NO_LISTS: list[Any] = [
    {"not_done": (ValueError, OSError), "final": (OSError,)},
    {"not_done": (ValueError("no"),)},
    {"final": "ValueError"},
    {"final": ("ValueError",)},
    {"not_done": 3},
    {"not_done": None},
    {"final": (int,)},
]


@pytest.mark.parametrize("lists", NO_LISTS)
def test_s8_what_is_no_list_of_errors_is_refused_before_anything_is_begun(ledger: Ledger, lists: Any) -> None:
    with pytest.raises(TypeError, match="not_done|final"):
        ledger.idempotent(operation="pay", effect="at_most_once", scope=keyledger.SINGLE, key="key", **lists)
    with pytest.raises(TypeError, match="not_done|final"):
        ledger.claim(PAY, "ann", "1", UNCHECKED, **lists)
    with pytest.raises(TypeError, match="not_done|final"):
        ledger.run(PAY, "ann", "1", UNCHECKED, lambda _: "ran", **lists)
    assert not ledger.list().records


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"codec": JsonCodec}, TypeError),
        ({"codec": 3}, TypeError),
        ({"on_refused": 3}, TypeError),
        ({"wait": -1}, InvalidArgument),
        ({"wait": "1"}, TypeError),
        ({"lease": 0}, InvalidArgument),
        ({"max_attempts": 0}, InvalidArgument),
        ({"operation": ""}, InvalidKey),
    ],
)
def test_what_no_call_could_use_is_refused_when_decorating(ledger: Ledger, wrong: Any, error: Any) -> None:
    settings = {"operation": "pay", "effect": "at_most_once", "scope": keyledger.SINGLE, "key": "key", **wrong}
    with pytest.raises(error):
        ledger.idempotent(**settings)


def test_an_object_of_any_class_with_the_four_methods_is_a_codec(ledger: Ledger) -> None:
    class Wrapped:
        def __getattr__(self, name: str) -> Any:
            return getattr(JsonCodec(int), name)

    codec: Any = Wrapped()

    @ledger.idempotent(operation="pay", effect="at_most_once", scope=keyledger.SINGLE, key="key", codec=codec)
    def pay(key: str) -> int:
        return 1

    assert pay("1") == pay("1") == 1


async def charge(_: keyledger.Claim) -> str:
    return "charged"


class Charging:
    async def __call__(self, claim: keyledger.Claim) -> str:
        return await charge(claim)


@pytest.mark.parametrize("handler", [charge, functools.partial(charge), Charging()])
def test_run_refuses_an_async_handler_before_anything_is_begun(ledger: Ledger, handler: Any) -> None:
    with pytest.raises(TypeError, match="run_async"):
        ledger.run(PAY, "ann", "1", UNCHECKED, handler)
    assert not ledger.list().records


def test_s8_a_coroutine_that_runs_handler_returns_is_no_answer_and_goes_by_the_effect(ledger: Ledger) -> None:
    returns: Any = lambda claim: charge(claim)  # noqa: E731, PLW0108
    with pytest.raises(TypeError, match="returned a coroutine, which was not run"):
        ledger.run(Operation("pay", "repeatable"), "ann", "1", UNCHECKED, returns)
    assert stands(ledger) == "released"


def test_run_async_takes_a_handler_that_has_nothing_to_wait_for(ledger: Ledger) -> None:
    handler: Any = lambda _: "charged"  # noqa: E731
    assert asyncio.run(ledger.run_async(PAY, "ann", "1", UNCHECKED, handler)).body == b"charged"
    assert stands(ledger) == "completed"
