"""A result is stored only if it is read back as what it was; where that is known of its type, decorating fails."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
from typing import Annotated, Any, NamedTuple, Optional
from zoneinfo import ZoneInfo

import pydantic
import pytest

import keyledger
from keyledger import Codec, Ledger, Response, ResultNotStored


class Token(pydantic.BaseModel):
    token: Optional[pydantic.SecretStr]


class Told(pydantic.BaseModel):
    """A secret that is written, on purpose."""

    token: pydantic.SecretStr

    @pydantic.field_serializer("token")
    def written(self, token: pydantic.SecretStr) -> str:
        """As it is."""
        return token.get_secret_value()


class Hidden(pydantic.BaseModel):
    cents: int = pydantic.Field(default=0, exclude=True)


class WrittenAs(pydantic.BaseModel):
    cents: int = pydantic.Field(default=0, serialization_alias="x")


class ReadAs(pydantic.BaseModel):
    cents: int = pydantic.Field(validation_alias="x")


class Around(pydantic.BaseModel):
    inner: list[Annotated[Hidden, "noted"]]


class Strict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True)
    amount: decimal.Decimal
    at: datetime.datetime


class Choices(pydantic.BaseModel):
    cents: int = pydantic.Field(
        validation_alias=pydantic.AliasChoices("a", pydantic.AliasPath("x", 0)), serialization_alias="a"
    )


class ByName(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(populate_by_name=True)
    cents: int = pydantic.Field(validation_alias="a")


class Private(pydantic.BaseModel):
    cents: int
    _cache: dict[str, int] = pydantic.PrivateAttr(default_factory=dict)


class Base(pydantic.BaseModel):
    a: int = 1


class Derived(Base):
    cents: int = 2


@dataclasses.dataclass
class Line:
    a: int


@dataclasses.dataclass
class LongerLine(Line):
    b: int = 2


@dataclasses.dataclass
class Doubled:
    cents: int

    def __post_init__(self) -> None:
        self.cents *= 2


@dataclasses.dataclass
class Counted:
    a: int
    cents: int = dataclasses.field(init=False, default=0)


@dataclasses.dataclass
class Wants:
    a: int
    b: dataclasses.InitVar[int]


@dataclasses.dataclass(eq=False)
class Same:
    at: Any
    amount: decimal.Decimal


class Pair(NamedTuple):
    a: int
    b: int


class Spans(enum.Enum):
    DAY = (1, 2)


def _used(private: Private) -> Private:
    private._cache["x"] = 1
    return private


def _counted() -> Counted:
    counted = Counted(1)
    counted.cents = 500
    return counted


def _made(ledger: Ledger, returns: Any, value: Any, **settings: Any) -> Any:
    def call(key: str) -> Any:
        return value

    call.__annotations__["return"] = returns
    return ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="key", **settings)(call)


@pytest.mark.parametrize("returns", [Token, list[Token], Hidden, WrittenAs, ReadAs, Around, Wants, Spans], ids=str)
def test_types_that_surely_do_not_come_back_are_refused_when_decorating(ledger: Ledger, returns: Any) -> None:
    with pytest.raises(TypeError, match="give a codec= of your own"):
        _made(ledger, returns, None)


@pytest.mark.parametrize(
    ("returns", "value"),
    [
        (Base, Derived(cents=9)),
        (list[Base], [Derived()]),
        (Line, LongerLine(1)),
        (Doubled, Doubled(5)),
        (Counted, _counted()),
        (dict, {1: "a", "1": "b"}),
        (Any, {1: 2}),
        (Any, [{"a": {2.5: 1}}]),
        (Any, Pair(1, 2)),
        (dict[int, str], {True: "x"}),
        (datetime.date, datetime.datetime(2026, 1, 2, 3)),
        (list[Line], {}),
    ],
    ids=repr,
)
def test_s4_what_would_come_back_as_something_else_is_not_stored(ledger: Ledger, returns: Any, value: Any) -> None:
    made = _made(ledger, returns, value)
    with pytest.raises(ResultNotStored) as lost:
        made("1")
    assert lost.value.result is value
    with pytest.raises(keyledger.Refused) as refused:
        made("1")
    assert isinstance(refused.value.decision, keyledger.Parked)


BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("returns", "value"),
    [
        (Strict, Strict(amount=decimal.Decimal("1.1"), at=datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc))),
        (Told, Told(token=pydantic.SecretStr("sk"))),
        (Choices, Choices(a=1)),
        (ByName, ByName(a=1)),
        (Private, _used(Private(cents=1))),
        (Counted, Counted(1)),
    ],
    ids=repr,
)
def test_what_comes_back_is_stored(ledger: Ledger, returns: Any, value: Any) -> None:
    made = _made(ledger, returns, value)
    assert made("1").__dict__ == made("1").__dict__ == value.__dict__


@pytest.mark.parametrize(
    ("returns", "value"),
    [
        (decimal.Decimal, decimal.Decimal("NaN")),
        (datetime.datetime, datetime.datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN)),
        (list[datetime.datetime], (datetime.datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN),)),
        (Same, Same([(1, 2)], decimal.Decimal("NaN"))),
        (dict[str, Same], {"a": Same(None, decimal.Decimal(1))}),
    ],
    ids=repr,
)
def test_what_is_equal_to_nothing_is_told_by_its_parts(ledger: Ledger, returns: Any, value: Any) -> None:
    made = _made(ledger, returns, value)
    assert type(made("1")) is type(made("1"))


def test_s4_a_codec_of_ones_own_that_cannot_read_what_it_writes_stores_nothing(ledger: Ledger) -> None:
    class Torn(Codec[int]):
        def encode(self, result: int) -> Response:
            return Response.of_text(f"n{result}")

        def decode(self, response: Response) -> int:
            return int(keyledger.stored_body(response))

    with pytest.raises(ResultNotStored):
        _made(ledger, int, 1, codec=Torn())("1")
