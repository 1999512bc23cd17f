"""Decorated functions: once for each key, and the same answer ever after."""

from __future__ import annotations

import inspect
import threading
import uuid
from typing import Any

import pytest

import keyledger
from keyledger import Fingerprint, Ledger, Refused


class Bank:
    """Counts what it did."""

    def __init__(self) -> None:
        self.charged: list[tuple[str, int]] = []

    def charge(self, order: str, amount: int) -> dict[str, Any]:
        self.charged.append((order, amount))
        return {"receipt": len(self.charged)}


@pytest.fixture
def bank() -> Bank:
    return Bank()


def test_the_second_call_with_a_key_gets_the_first_ones_result(ledger: Ledger, bank: Bank) -> None:
    @ledger.idempotent(operation="charge", effect="repeatable", scope="user", key="order")
    def charge(user: str, order: str, amount: int = 5) -> dict[str, Any]:
        return bank.charge(order, amount)

    assert charge("ann", "1") == charge("ann", order="1") == charge("ann", "1", 5) == {"receipt": 1}
    assert charge("bob", "1") == {"receipt": 2}
    assert charge("ann", "2") == {"receipt": 3}
    assert bank.charged == [("1", 5), ("1", 5), ("2", 5)]


def test_other_arguments_under_a_key_are_a_mismatch(ledger: Ledger, bank: Bank) -> None:
    @ledger.idempotent(operation="charge", effect="repeatable", scope="user", key="order")
    def charge(user: str, order: str, amount: int) -> dict[str, Any]:
        return bank.charge(order, amount)

    charge("ann", "1", 5)
    with pytest.raises(Refused) as refused:
        charge("ann", "1", 6)
    assert (refused.value.code, refused.value.key_advice) == ("mismatch", "rotate")
    assert isinstance(refused.value.decision, keyledger.Mismatch)


@pytest.mark.parametrize("fingerprint", [None, "order", ("user", "order"), lambda user, order, amount: order])
def test_what_is_compared_is_the_callers_choice(ledger: Ledger, bank: Bank, fingerprint: Any) -> None:
    @ledger.idempotent(operation="charge", effect="repeatable", scope="user", key="order", fingerprint=fingerprint)
    def charge(user: str, order: str, amount: int) -> dict[str, Any]:
        return bank.charge(order, amount)

    assert charge("ann", "1", 5) == charge("ann", "1", 6)


def test_two_functions_with_the_same_arguments_both_run(ledger: Ledger) -> None:
    @ledger.idempotent(operation="one", effect="repeatable", scope="user", key="order")
    def one(user: str, order: str) -> str:
        return "one"

    @ledger.idempotent(operation="two", effect="repeatable", scope="user", key="order")
    def two(user: str, order: str) -> str:
        return "two"

    assert [one("ann", "1"), two("ann", "1"), one("ann", "1"), two("ann", "1")] == ["one", "two", "one", "two"]


def test_methods_class_methods_and_static_methods(ledger: Ledger) -> None:
    settings: Any = {"effect": "repeatable", "scope": keyledger.SINGLE, "key": "order"}

    class Shop:
        sold = 0

        @ledger.idempotent(operation="sell", **settings)
        def sell(self, order: str) -> int:
            Shop.sold += 1
            return Shop.sold

        @classmethod
        @ledger.idempotent(operation="of_class", **settings)
        def of_class(cls, order: str) -> str:
            return cls.__name__ + order

        @ledger.idempotent(operation="over_class", **settings)
        @classmethod
        def over_class(cls, order: str) -> str:
            return cls.__name__ + order

        @ledger.idempotent(operation="static", **settings)
        @staticmethod
        def static(order: str) -> str:
            return order

    assert [Shop().sell("1"), Shop().sell("1"), Shop().sell(order="2")] == [1, 1, 2]
    assert Shop.of_class("1") == Shop().of_class("1") == Shop.over_class("1") == Shop().over_class("1") == "Shop1"
    assert Shop.static("x") == Shop().static("x") == "x"


def test_signature_name_and_words_stay(ledger: Ledger) -> None:
    def charge(user: str, order: str, /, amount: int = 3, *, note: str = "") -> str:
        """Charges."""
        return note

    made: Any = ledger.idempotent(operation="charge", effect="repeatable", scope="user", key="order")(charge)
    assert inspect.signature(made) == inspect.signature(charge)
    assert (made.__name__, made.__doc__, made.__wrapped__) == ("charge", "Charges.", charge)
    with pytest.raises(TypeError, match=r"charge\(\) missing 1 required positional argument: 'order'"):
        made("ann")
    assert made("ann", "1", note="n") == "n"


def test_l1_a_missing_or_empty_key_is_an_error_and_nothing_runs(ledger: Ledger) -> None:
    runs: list[Any] = []

    @ledger.idempotent(operation="charge", effect="repeatable", scope="user", key="order")
    def one(user: Any, order: Any) -> None:
        runs.append(order)

    @ledger.idempotent(operation="two", effect="repeatable", scope=("user",), key=("user", "order"))
    def two(user: Any, order: Any) -> None:
        runs.append(order)

    for wrong in (None, "", True, 1.5, b"1", ["1"], "a\n"):
        for call in (one, two):
            if call is two and wrong == "a\n":
                continue
            with pytest.raises(keyledger.errors.InvalidKey):
                call("ann", wrong)
            with pytest.raises(keyledger.errors.InvalidKey):
                call(wrong, "1")
    assert runs == []


def test_l2_several_names_are_framed(ledger: Ledger) -> None:
    @ledger.idempotent(operation="pair", effect="repeatable", scope=keyledger.SINGLE, key=("a", "b"))
    def pair(a: str, b: str) -> list[str]:
        return [a, b]

    assert [pair("x", "yz"), pair("xy", "z")] == [["x", "yz"], ["xy", "z"]]
    assert pair.key_id("x", "yz") != pair.key_id("xy", "z")
    assert pair.key_id("x", "yz")[:2] == ("(single)", "pair")


def test_numbers_and_uuids_are_keys_and_a_callable_gets_the_same_arguments(ledger: Ledger) -> None:
    @ledger.idempotent(operation="by_id", effect="repeatable", scope=lambda order, **rest: rest["tenant"], key="order")
    def by_id(order: Any, **rest: str) -> str:
        return str(order)

    own = uuid.uuid4()
    assert by_id(7, tenant="t") == "7"
    assert by_id(own, tenant="t") == str(own)
    assert by_id.key_id(7, tenant="t") == ("t", "by_id", "7")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"key": "oder"}, "'oder', which is not a parameter of it; those are: user, order"),
        ({"scope": ("user", "tenant")}, "tenant"),
        ({"fingerprint": "amount"}, "amount"),
        ({"memo": "amount"}, "amount"),
        ({"key": ()}, "names no parameter"),
        ({"key": lambda: "1"}, "cannot be"),
        ({"effect": None}, "there is no default"),
        ({"retain": 5}, "retain"),
    ],
)
def test_what_is_declared_wrong_is_refused_when_decorating(ledger: Ledger, wrong: dict[str, Any], why: str) -> None:
    settings: Any = {"operation": "x", "effect": "repeatable", "scope": "user", "key": "order", **wrong}
    with pytest.raises(TypeError, match=why):

        @ledger.idempotent(**settings)
        def charge(user: str, order: str) -> None: ...


def test_generators_are_refused_with_a_reason(ledger: Ledger) -> None:
    decorate = ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="order")

    def pages(order: str) -> Any:
        yield order

    async def pages_async(order: str) -> Any:
        yield order

    for generator in (pages, pages_async):
        with pytest.raises(TypeError, match="generator function"):
            decorate(generator)


def test_nested_calls_have_each_their_own_claim(ledger: Ledger) -> None:
    @ledger.idempotent(operation="inner", effect="repeatable", scope=keyledger.SINGLE, key="order")
    def inner(order: str) -> int:
        return keyledger.current_claim().fence

    @ledger.idempotent(operation="outer", effect="repeatable", scope=keyledger.SINGLE, key="order")
    def outer(order: str) -> list[int]:
        before = keyledger.current_claim().fence
        within = inner(order)
        return [before, within, keyledger.current_claim().fence]

    before, within, after = outer("1")
    assert before == after != within
    with pytest.raises(RuntimeError, match="no claim here"):
        keyledger.current_claim()


def test_two_threads_two_ledgers_two_scopes_do_not_meet() -> None:
    ledgers = [keyledger.in_memory(), keyledger.in_memory()]
    told: dict[tuple[int, str], str] = {}
    together = threading.Barrier(4)

    def work(number: int, scope: str) -> None:
        @keyledger.idempotent(ledger=ledgers[number], operation="w", effect="repeatable", scope="user", key="order")
        def call(user: str, order: str) -> str:
            together.wait(10)
            return f"{number} {user} {keyledger.current_claim().derive_key('k')}"

        told[number, scope] = call(scope, "1")

    threads = [threading.Thread(target=work, args=(number, scope)) for number in (0, 1) for scope in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {key: value[:3] for key, value in told.items()} == {(n, s): f"{n} {s}" for n in (0, 1) for s in "ab"}


def test_a_ledger_may_be_opened_after_decorating() -> None:
    opened: list[Ledger] = []

    @keyledger.idempotent(ledger=lambda: opened[0], operation="x", effect="repeatable", scope=keyledger.SINGLE, key="k")
    def call(k: str) -> str:
        return k

    opened.append(keyledger.in_memory())
    assert call("1") == "1"


def test_refused_goes_to_on_refused(ledger: Ledger) -> None:
    @ledger.idempotent(
        operation="x", effect="repeatable", scope=keyledger.SINGLE, key="k", on_refused=lambda refused: refused.code
    )
    def call(k: str, n: int) -> str:
        return "ran"

    assert [call("1", 1), call("1", 1), call("1", 2)] == ["ran", "ran", "mismatch"]


def test_while_one_runs_another_waits_or_is_refused(ledger: Ledger) -> None:
    begun, go = threading.Event(), threading.Event()
    settings: Any = {"operation": "slow", "effect": "repeatable", "scope": keyledger.SINGLE, "key": "k"}

    def slow(k: str) -> str:
        begun.set()
        go.wait(10)
        return "done"

    hurried, patient = ledger.idempotent(**settings)(slow), ledger.idempotent(wait=10, **settings)(slow)
    running = threading.Thread(target=hurried, args=("1",))
    running.start()
    begun.wait(10)
    with pytest.raises(Refused) as refused:
        hurried("1")
    assert refused.value.code == "in_progress"
    assert refused.value.retry_after_seconds is not None
    assert 0 < refused.value.retry_after_seconds <= 30
    threading.Timer(0.1, go.set).start()
    assert patient("1") == "done"
    running.join()


def test_long_numbers_and_python_values_have_fingerprints(ledger: Ledger) -> None:
    @ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="k")
    def call(k: str, value: Any, *more: Any, **named: Any) -> str:
        return str(value)

    snowflake = 1234567890123456789
    assert call("1", snowflake) == call("1", snowflake)
    with pytest.raises(Refused):
        call("1", snowflake + 1)
    assert call("2", {1: uuid.UUID(int=1)}, b"x", named=True) == call("2", {1: uuid.UUID(int=1)}, b"x", named=True)
    with pytest.raises(keyledger.errors.InvalidArgument, match="fingerprint="):
        call("3", object())
    assert Fingerprint.of_json({"a": 1.0, "b": [None, True, "é"]}) == Fingerprint.of_json_text(
        '{"b":[null,true,"é"],"a":1}'
    )


def test_functions_of_one_operation_have_one_effect(ledger: Ledger) -> None:
    def decorated(effect: Any, function: Any, of: Any = ledger) -> Any:
        on = keyledger.idempotent(ledger=of, operation="pay", effect=effect, scope=keyledger.SINGLE, key="k")
        return on(function)

    def pay(k: str) -> str:
        return k

    def refund(k: str) -> str:
        return k

    first = decorated("at_most_once", pay)
    with pytest.raises(
        TypeError, match=r"refund says that operation 'pay' is repeatable, and .*pay that it is at_most_once"
    ):
        decorated("repeatable", refund)
    assert decorated("at_most_once", refund)(first("1")) == "1"
    with keyledger.in_memory() as other:
        assert decorated("repeatable", refund, other)("1") == "1"


def test_a_function_that_is_defined_again_may_have_another_effect(ledger: Ledger) -> None:
    def defined(effect: Any) -> Any:
        @ledger.idempotent(operation="pay", effect=effect, scope=keyledger.SINGLE, key="k")
        def pay(k: str) -> str:
            return k

        return pay

    kept = [defined("at_most_once"), defined("repeatable")]
    assert [pay("1") for pay in kept] == ["1", "1"]
