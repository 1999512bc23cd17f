"""What tells one call from another under the same key: everything in its arguments, however Python or a model would print it."""

from __future__ import annotations

import dataclasses
import decimal
import pathlib
from decimal import Decimal
from typing import Any

import pydantic
import pytest

import keyledger
from keyledger import InvalidArgument, InvalidKey, Ledger, Refused
from keyledger._parts import memo_of, print_of_members


class Card(pydantic.BaseModel):
    number: pydantic.SecretStr


class Paid(pydantic.BaseModel):
    cents: int = pydantic.Field(exclude=True)


class Masked(pydantic.BaseModel):
    name: str

    @pydantic.field_serializer("name")
    def masked(self, _: str) -> str:
        return "*"


class Open(pydantic.BaseModel, extra="allow"):
    pass


class Order(pydantic.BaseModel):
    cards: list[Card]
    tags: set[str] = set()
    site: pydantic.AnyUrl = pydantic.AnyUrl("https://a.example/")
    path: pathlib.Path = pathlib.Path("a")


@dataclasses.dataclass
class Rates:
    by: dict[Any, str]


def order(number: str, **more: Any) -> Order:
    return Order(cards=[Card(number=pydantic.SecretStr(number))], **more)


def differ(one: Any, other: Any) -> bool:
    return print_of_members({"value": one}) != print_of_members({"value": other})


LONG = "12345678901234567890123456789."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Decimal(LONG + "01"), Decimal(LONG + "99")),
        (Decimal("1999.10"), Decimal("1999.40")),
        (Decimal("Infinity"), Decimal("-Infinity")),
        (Card(number=pydantic.SecretStr("4111")), Card(number=pydantic.SecretStr("4222"))),
        (pydantic.SecretBytes(b"1"), pydantic.SecretBytes(b"2")),
        (Paid(cents=100), Paid(cents=999)),
        (Masked(name="ann"), Masked(name="bob")),
        (Open.model_validate({"a": 1}), Open.model_validate({"a": 2})),
        (order("4111"), order("4222")),
        (order("1", tags={"a"}), order("1", tags={"b"})),
        (order("1", site="https://a.example/"), order("1", site="https://b.example/")),
        (order("1", path="a"), order("1", path="b")),
        ({1: "a", "1": "b"}, {1: "z", "1": "b"}),
        ({1: "a"}, {"1": "a"}),
        ({True: "a"}, {"true": "a"}),
        ({None: "a"}, {"null": "a"}),
        ([{1: "a"}], [{"1": "a"}]),
        (Rates({1: "a"}), Rates({"1": "a"})),
    ],
)
def test_f1_two_values_that_differ_are_two_requests(one: Any, other: Any) -> None:
    with decimal.localcontext() as context:
        context.prec = 4
        assert differ(one, other)
        assert not differ(one, one)


@pytest.mark.parametrize(
    ("number", "same"),
    [("1999.14", "1999.1400"), ("0", "0.00"), ("1E+3", "1000"), ("-0.50", "-0.5"), (LONG + "10", LONG + "1")],
)
def test_f1_a_number_is_the_same_however_it_is_written_and_rounded(number: str, same: str) -> None:
    printed = print_of_members({"value": Decimal(number)})
    with decimal.localcontext() as context:
        context.prec, context.capitals = 2, 0
        assert print_of_members({"value": Decimal(same)}) == printed


def test_f1_the_order_of_a_set_and_of_names_does_not_count() -> None:
    assert list({0, 8}) != list({8, 0})
    assert not differ({0, 8}, {8, 0})
    assert not differ({1: "a", 2: "b"}, {2: "b", 1: "a"})


def test_names_that_json_has_none_of_are_refused() -> None:
    with pytest.raises(keyledger.errors.InvalidArgument, match="fingerprint="):
        print_of_members({"value": {(1, 2): "a"}})


def test_a_memo_shows_no_secret() -> None:
    assert b"4111" not in memo_of({"card": Card(number=pydantic.SecretStr("4111"))})
    with pytest.raises(TypeError):
        memo_of({"number": pydantic.SecretStr("4111")})


def test_a_parameter_of_a_plain_function_counts_whatever_its_name(ledger: Ledger) -> None:
    settings: Any = {"effect": "repeatable", "scope": keyledger.SINGLE, "key": "order"}

    @ledger.idempotent(operation="book", **settings)
    def book(cls: str, order: str) -> str:
        return cls

    class Agency:
        @ledger.idempotent(operation="method", **settings)
        def book(self, order: str) -> str:
            return order

    assert book("economy", "o1") == "economy"
    with pytest.raises(Refused):
        book("first", "o1")
    assert Agency().book("o1") == Agency().book("o1") == "o1"


def in_itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


@dataclasses.dataclass
class Node:
    inside: Any


@pytest.mark.parametrize("made", [in_itself, deep, lambda: {1: in_itself()}, lambda: Node(in_itself())])
@pytest.mark.parametrize("rule", ["fingerprint", "memo"])
def test_an_argument_that_is_in_itself_or_too_deep_is_refused_by_name(ledger: Ledger, made: Any, rule: str) -> None:
    rules: dict[str, Any] = (
        {"fingerprint": "value"} if rule == "fingerprint" else {"fingerprint": None, "memo": "value"}
    )

    @ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="key", **rules)
    def call(key: str, value: Any) -> None:
        raise AssertionError

    with pytest.raises(InvalidArgument):
        call("1", made())


LONE = "\ud800"


@pytest.mark.parametrize(
    ("what", "scope", "key"),
    [
        ("scope", LONE, "1"),
        ("key", "ann", LONE),
        ("key", "ann", 10**5000),
        ("key", "ann", -(10**5000)),
    ],
    ids=["a scope that is half a character", "a key that is one", "a key of 5,000 digits", "a negative one"],
)
@pytest.mark.parametrize("framed", [False, True])
def test_l1_what_is_no_text_is_no_scope_and_no_key_though_it_is_compared_as_well(
    ledger: Ledger, what: str, scope: Any, key: Any, framed: bool
) -> None:
    rules: Any = {"scope": ("scope", "more"), "key": ("key", "more")} if framed else {"scope": "scope", "key": "key"}

    @ledger.idempotent(operation="x", effect="repeatable", **rules)
    def call(scope: Any, key: Any, more: str = "a") -> None:
        raise AssertionError

    with pytest.raises(InvalidKey, match=what):
        call(scope, key)
    with pytest.raises(InvalidKey, match=what):
        call.key_id(scope, key)  # type: ignore[attr-defined]


def test_half_a_character_elsewhere_is_no_fault_of_the_key(ledger: Ledger) -> None:
    @ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="key")
    def call(key: str, value: str) -> None:
        raise AssertionError

    with pytest.raises(InvalidArgument):
        call("1", LONE)
