"""F1: one value of Python's has one fingerprint, whichever call makes it, or one error."""

from __future__ import annotations

import enum
import json
from typing import Any

import pytest

from keyledger import Fingerprint, InvalidArgument, Response


class Colour(enum.IntEnum):
    """An integer that is more."""

    RED = 7


class Name(str):
    """Text that is more."""


class Ratio(float):
    """A number that is more."""


def by_value(value: Any) -> str | None:
    return Fingerprint.of_json(value).hex


def by_arguments(value: Any) -> str | None:
    return Fingerprint.of_arguments(value, refuse).hex


def by_text(value: Any) -> str | None:
    return Fingerprint.of_json_text(json.dumps(value)).hex


def refuse(value: Any) -> Any:
    raise AssertionError(value)


WAYS = [by_value, by_arguments, by_text]
EXACT = [0, -1, 2**53, -(2**53), 2**60, 2**63, 2**64 - 2**11, 2**64, 2**70, -(2**70), 2**1000]
INEXACT = [2**53 + 1, -(2**53) - 1, 2**63 - 1, 2**64 - 1, 2**64 + 1, 2**70 + 1, -(2**70) - 1, 10**400]
VALUES: list[Any] = [
    None,
    True,
    1.5,
    1e300,
    -0.0,
    5e-324,
    "é\n\u2028",
    [],
    (1, [2, (3,)]),
    {"b": 1, "a": [None, {"c": "d"}]},
    Colour.RED,
    Name("ann"),
    Ratio(2.5),
    {Name("key"): 1},
]


@pytest.mark.parametrize("value", [*EXACT, *VALUES])
def test_f1_a_value_has_one_fingerprint(value: Any) -> None:
    assert len({way(value) for way in WAYS}) == 1
    assert len({way([value]) for way in WAYS}) == 1


@pytest.mark.parametrize("value", [*INEXACT, float("nan"), float("inf"), "\ud800", {"\ud800": 1}])
def test_f1_what_no_double_holds_is_one_error(value: Any) -> None:
    for way in WAYS:
        for given in (value, {"a": [value]}):
            with pytest.raises(InvalidArgument) as refused:
                way(given)
            assert refused.value.code == "invalid_argument"


@pytest.mark.parametrize("value", [{1: 2}, {None: 2}, {1, 2}, b"x", object()])
def test_f1_what_json_has_no_word_for_is_an_error(value: Any) -> None:
    for given in (value, [value]):
        with pytest.raises(InvalidArgument):
            Fingerprint.of_json(given)


def test_f1_a_value_in_itself_is_an_error() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(InvalidArgument, match="levels"):
        Fingerprint.of_json(value)
    with pytest.raises(InvalidArgument):
        Response.json(value)


def test_a_response_holds_integers_of_any_length() -> None:
    for value in [*EXACT, *INEXACT[:-1]]:
        assert json.loads(Response.json({"n": value}).body or b"") == {"n": value}
