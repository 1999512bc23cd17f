"""Results as stored responses: they come back as what they were, and everyone gets the same."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
import enum
import uuid
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, TypedDict, Union

import pydantic
import pytest

import keyledger
from keyledger import Codec, JsonCodec, Ledger, Response, ResultNotStored


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass(frozen=True)
class Line:
    item: str
    price: decimal.Decimal


@dataclasses.dataclass(frozen=True)
class Receipt:
    number: uuid.UUID
    at: datetime.datetime
    lines: list[Line]
    colour: Colour = Colour.RED
    before: Receipt | None = None


class Model(pydantic.BaseModel):
    name: str = pydantic.Field(alias="fullName")
    when: datetime.date


class Pair(NamedTuple):
    a: int
    b: Line


class Typed(TypedDict):
    line: Line


class Unknown:
    pass


LINE = Line("tea", decimal.Decimal("1.10"))
AT = datetime.datetime(2026, 11, 30, 5, 6, 7, 8, datetime.timezone.utc)
RECEIPT = Receipt(uuid.UUID(int=7), AT, [LINE], before=Receipt(uuid.UUID(int=6), AT, []))

VALUES: list[tuple[Any, Any]] = [
    (Any, None),
    (Any, 0),
    (Any, False),
    (Any, ""),
    (Any, []),
    (Any, {}),
    (Any, {"a": [1, 2.5, "é", None, True, 2**70]}),
    (None, None),
    (int, 0),
    (Receipt, RECEIPT),
    (Optional[Receipt], None),
    (Optional[Receipt], RECEIPT),
    (Union[int, str, None], "x"),
    (list[Receipt], [RECEIPT, RECEIPT]),
    (list[Receipt], []),
    (tuple[int, Line], (1, LINE)),
    (tuple[int, ...], (1, 2)),
    (tuple, (1, 2)),
    (set[str], {"a", "b"}),
    (frozenset[int], frozenset({1})),
    (dict[int, Line], {1: LINE}),
    (dict[str, int], {"a": 1}),
    (dict[uuid.UUID, int], {uuid.UUID(int=1): 1}),
    (Model, Model(fullName="Ann", when=datetime.date(2026, 1, 2))),
    (list[Model], [Model(fullName="Ann", when=datetime.date(2026, 1, 2))]),
    (Pair, Pair(1, LINE)),
    (Typed, {"line": LINE}),
    (Colour, Colour.RED),
    (decimal.Decimal, decimal.Decimal("1.50")),
    (datetime.time, datetime.time(1, 2)),
    (bytes, b"\x00\xff"),
    (bytes, b""),
]


def named(value: Any) -> str:
    """The same in every worker of pytest's: a set has another order in each process."""
    return repr(sorted(value) if isinstance(value, set) else value)[:40]


@pytest.mark.parametrize(("annotation", "value"), VALUES, ids=named)
def test_s5_results_come_back_as_what_they_were(ledger: Ledger, annotation: Any, value: Any) -> None:
    runs: list[int] = []

    def call(key: str) -> Any:
        runs.append(1)
        return value

    call.__annotations__["return"] = annotation
    made = ledger.idempotent(operation="x", effect="at_most_once", scope=keyledger.SINGLE, key="key")(call)
    first, again = made("1"), made("1")
    assert first == again == value
    assert type(first) is type(again) is type(value)
    assert runs == [1]


@pytest.mark.parametrize(
    "annotation",
    [Unknown, list[Unknown], Union[Line, Receipt], Union[Line, int], dict[float, int], datetime.timedelta, complex],
    ids=str,
)
def test_what_json_cannot_bring_back_is_refused_when_decorating(ledger: Ledger, annotation: Any) -> None:
    def call(key: str) -> Any: ...

    call.__annotations__["return"] = annotation
    with pytest.raises(TypeError, match="give a codec= of your own"):
        ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="key")(call)


@pytest.mark.parametrize("value", [LINE, AT, uuid.UUID(int=1), decimal.Decimal(1), b"x", {1}, float("nan"), "\ud800"])
def test_what_no_annotation_tells_of_is_an_error_and_no_guess(ledger: Ledger, value: Any) -> None:
    @ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="key")
    def call(key: str) -> Any:
        return [value]

    with pytest.raises(ResultNotStored) as lost:
        call("1")
    assert lost.value.result[0] is value


PLAIN_MISFITS: list[tuple[Any, Any]] = [
    (int, "nope"),
    (int, None),
    (int, 1.5),
    (float, "1"),
    (str, 1),
    (bool, 1),
    (None, "done"),
    (list, {"a": 1}),
    (dict, [1]),
    (list[int], [1, "2"]),
    (list[list[int]], [[1], ["2"]]),
    (dict[str, int], {"a": "1"}),
    (Optional[int], "nope"),
    (Union[int, list[str]], [1]),
    (Literal["a", 1], "b"),
    (Literal[1], True),
    (Annotated[NewType("Cents", int), "in cents"], "nope"),
]


@pytest.mark.parametrize(("annotation", "value"), PLAIN_MISFITS, ids=str)
def test_s4_a_plain_result_that_is_not_what_was_declared_is_not_stored(
    ledger: Ledger, annotation: Any, value: Any
) -> None:
    def call(key: str) -> Any:
        return value

    call.__annotations__["return"] = annotation
    made = ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="key")(call)
    with pytest.raises(ResultNotStored, match="is no .*, as is declared") as lost:
        made("1")
    assert lost.value.result == value
    with pytest.raises(keyledger.Refused, match="nobody knows"):
        made("1")


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (float, 1),
        (int, True),
        (Optional[int], None),
        (Union[int, str], "a"),
        (Union[int, Any], "a"),
        (Literal["a", True], True),
        (list[Any], [1, "a"]),
        (list[int], []),
        (dict[str, list[int]], {"a": [1]}),
        (Mapping[str, int], {"a": 1}),
        (Sequence[str], "ab"),
        (list, (1, "a")),
        (object, "a"),
    ],
    ids=str,
)
def test_what_a_type_checker_takes_for_the_declared_type_is_stored(ledger: Ledger, annotation: Any, value: Any) -> None:
    def call(key: str) -> Any:
        return value

    call.__annotations__["return"] = annotation
    made = ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="key")(call)
    assert made("1") == made("1") == (list(value) if isinstance(value, tuple) else value)


def test_the_first_caller_gets_what_every_other_gets(ledger: Ledger) -> None:
    """A tuple that no annotation tells of is a list, for the first caller too: that is seen in the first test, not in the first retry."""

    @ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="key")
    def call(key: str) -> Any:
        return (1, 2)

    assert call("1") == call("1") == [1, 2]


def test_an_annotation_may_name_what_comes_later(ledger: Ledger) -> None:
    @ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="key")
    def call(key: str) -> Later:
        return Later(int(key))

    assert call("1") == Later(1)


@dataclasses.dataclass
class Later:
    number: int


def test_a_codec_of_ones_own(ledger: Ledger) -> None:
    class Reversed(Codec[str]):
        def encode(self, result: str) -> Response:
            return Response("text/plain", result[::-1].encode())

        def decode(self, response: Response) -> str:
            return keyledger.stored_body(response).decode()[::-1]

    @ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="key", codec=Reversed())
    def call(key: str) -> str:
        return "abc"

    assert [call("1"), call("1")] == ["abc", "abc"]
    decision = ledger.ask(call.operation, "(single)", "1", keyledger.Fingerprint.unchecked())
    assert isinstance(decision, keyledger.Replay)
    assert (decision.response.media_type, decision.response.body) == ("text/plain", b"cba")


def test_nothing_is_pickled() -> None:
    """A stored byte names no code: bytes that pickle would run are no JSON."""
    with pytest.raises(ValueError, match="JSON|decode|Expecting"):
        JsonCodec(Any).decode(Response("application/json", b"cos\nsystem\n(S'true'\ntR."))


def settled_with(ledger: Ledger, annotation: Any, response: Any) -> Any:
    """A function whose call of key 1 the handler itself has settled, with `response`."""

    def call(key: str) -> Any:
        keyledger.current_claim().complete(response)

    call.__annotations__["return"] = annotation
    return ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="key")(call)


@pytest.mark.parametrize(
    ("annotation", "response", "told"),
    [
        (str, "sent é", "sent é"),
        (str, "", ""),
        (str, Response("Text/Plain", b"sent"), "sent"),
        (str, '"quoted"', '"quoted"'),
        (str, Response.json("sent"), "sent"),
        (int, Response("application/json; charset=utf-8", b"7"), 7),
        (dict, Response("application/problem+json", b"{}"), {}),
        (None, Response.empty(), None),
    ],
    ids=str,
)
def test_what_a_handler_stored_itself_is_read_where_it_can_only_be_one_thing(
    ledger: Ledger, annotation: Any, response: Any, told: Any
) -> None:
    call = settled_with(ledger, annotation, response)
    assert [call("1"), call("1")] == [told, told]


@pytest.mark.parametrize(
    ("annotation", "response", "media_type"),
    [
        (int, "7", "text/plain; charset=utf-8"),
        (Any, "sent", "text/plain; charset=utf-8"),
        (str, Response("text/plain", b"\xff"), "text/plain"),
        (str, b"sent", "application/octet-stream"),
        (str, Response.empty(), "no media type"),
        (dict, Response("application/json", b"{"), "application/json"),
        (Line, Response.json([1]), "application/json"),
        (int, Response.json("7"), "application/json"),
    ],
    ids=str,
)
def test_what_is_stored_in_another_form_is_an_error_that_says_what_to_do(
    ledger: Ledger, annotation: Any, response: Any, media_type: str
) -> None:
    call = settled_with(ledger, annotation, response)
    with pytest.raises(keyledger.ResultUnreadable):
        call("1")
    with pytest.raises(keyledger.ResultUnreadable) as unreadable:
        call("1")
    error = unreadable.value
    assert (error.code, error.key_id) == ("result_unreadable", keyledger.KeyId("(single)", "x", "1"))
    assert error.response.media_type in media_type
    for part in ("x of scope '(single)', key '1'", f"{media_type},", "recover", "resolve", "codec="):
        assert part in str(error)
    assert error.__cause__ is not None


def test_a_person_resolves_with_a_value_of_the_functions_own(ledger: Ledger) -> None:
    @ledger.idempotent(operation="x", effect="at_most_once", scope=keyledger.SINGLE, key="key")
    def call(key: str) -> Line:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        call("1")
    (record,) = ledger.list(state="parked", operation="x").records
    with pytest.raises(keyledger.InvalidArgument, match="no result of the function"):
        call.resolve(record, "tea", who="ann", note="it is in the log")  # type: ignore[arg-type]
    with pytest.raises(keyledger.InvalidArgument, match="no result of the function"):
        asyncio.run(call.resolve_async(record, "tea", who="ann", note="it is in the log"))  # type: ignore[arg-type]
    call.resolve(record, LINE, who="ann", note="it is in the log")
    asyncio.run(call.resolve_async(record, LINE, who="ann", note="it is in the log"))
    assert call("1") == LINE
    with pytest.raises(keyledger.NotParked):
        call.resolve(record, Line("milk", decimal.Decimal(1)), who="ann", note="it is in the log")


def test_a_person_resolves_on_an_event_loop(ledger: Ledger) -> None:
    @ledger.idempotent(operation="x", effect="at_most_once", scope=keyledger.SINGLE, key="key")
    async def call(key: str) -> Line:
        raise TimeoutError

    async def resolved() -> Line:
        with pytest.raises(TimeoutError):
            await call("1")
        (record,) = ledger.list(state="parked", operation="x").records
        await call.resolve_async(record, LINE, who="ann", note="it is in the log")
        return await call("1")

    assert asyncio.run(resolved()) == LINE
    seen = ledger.inspect(keyledger.KeyId(*call.key_id("1")))
    assert seen is not None
    assert [(decided.who, decided.note) for decided in seen.audit] == [("ann", "it is in the log")]


def test_a_person_resolves_no_record_of_another_operation(ledger: Ledger) -> None:
    @ledger.idempotent(operation="x", effect="at_most_once", scope=keyledger.SINGLE, key="key")
    async def call(key: str) -> str:
        return key

    other = keyledger.Operation("y", "at_most_once")
    with pytest.raises(TimeoutError), ledger.claim(other, "s", "1", keyledger.Fingerprint.unchecked()):
        raise TimeoutError
    (record,) = ledger.list(state="parked").records
    with pytest.raises(keyledger.InvalidArgument, match="of operation 'y'.*are of 'x'"):
        call.resolve(record, "1", who="ann", note="it is in the log")


def test_a_final_no_in_a_persons_words_is_replayed_as_one(ledger: Ledger) -> None:
    def call(key: str) -> str:
        keyledger.current_claim().fail("the address is gone")
        raise TimeoutError

    made = ledger.idempotent(operation="x", effect="repeatable", scope=keyledger.SINGLE, key="key")(call)
    for _ in range(2):
        with pytest.raises(keyledger.ReplayedFailure) as failed:
            made("1")
        assert failed.value.response.body == b"the address is gone"
