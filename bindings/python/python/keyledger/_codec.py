"""Results of decorated functions as stored responses, and back."""

# What callers bring here may be of any type.
# pyright: basic

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Generic, cast

from keyledger._fits import fits_of
from keyledger._native import KeyId, Response
from keyledger._refused import told_id
from keyledger._same import is_same
from keyledger._shapes import PLAIN, Shape, Unsupported, bare, shape_of
from keyledger._telling import log
from keyledger.errors import InvalidArgument, KeyledgerError, TooLarge

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    R = TypeVar("R", default=Any)
else:
    from typing import TypeVar

    R = TypeVar("R")

JSON = "application/json"
"""The media type of what `JsonCodec` stores."""


class Codec(Generic[R]):
    """How a decorated function's results become stored responses, and how those become results again.

    Subclass it and give an object of yours as `codec=`. What `decode` returns for a response of `encode` is what every caller
    gets, the first one included. Neither may run code that a stored byte names: a ledger file is data.

    Example:
        class Pdf(keyledger.Codec[bytes]):
            def encode(self, result: bytes) -> keyledger.Response:
                return keyledger.Response("application/pdf", result)

            def decode(self, response: keyledger.Response) -> bytes:
                return keyledger.stored_body(response)

        @ledger.idempotent(operation="invoice", effect="repeatable", scope="user", key="order", codec=Pdf())
        def invoice(user: str, order: str) -> bytes:
            return b"%PDF"

        assert invoice("user-7", "order-1034") == b"%PDF"

    """

    def encode(self, result: R) -> Response:
        """The result as it is stored. An error here parks the claim: it was done, and nobody can say what came of it (S4)."""
        raise NotImplementedError

    def decode(self, response: Response) -> R:
        """The result that `response` stands for."""
        raise NotImplementedError

    def encode_error(self, error: Exception) -> Response:
        """An error of the list `final` as it is stored: by default its class's name and its text, as JSON."""
        return Response(JSON, json.dumps({"error": type(error).__qualname__, "message": str(error)}).encode())

    def decode_error(self, response: Response) -> Exception | None:
        """The error to raise for a stored `encode_error`. None, which is the default: `ReplayedFailure`."""
        _ = response
        return None


class JsonCodec(Codec[R]):
    """JSON, read back as `returns`.

    `returns` is a type: what JSON has itself, and lists, tuples, sets, dicts with str or int keys, `Optional`, dataclasses, pydantic models,
    named tuples, `TypedDict`, enums, `datetime`, `date`, `time`, `Decimal`, `UUID` and `bytes`, in any depth. Others, and unions
    which JSON cannot tell apart, are refused here with a `TypeError`, before anything runs.

    Values of these types where no annotation tells of them (a `Decimal` in a bare `dict`) are errors, not guesses. So is a result that
    would come back as something else (a subclass of the declared class, a `dict` with a name that is no text): it is read back before
    it is stored, and has to be equal; a tuple that comes back as a list is.

    A plain result (None, text, a number, a list or a dict of those) is held to its type: a str from `-> int` is `ResultNotStored`. As for type
    checkers, an int is a float, too. Whether members of dataclasses and of other classes are what they say, is for a type checker.

    What a person or the handler itself stored is read as well: `text/plain` where `returns` is str, no bytes where it is None, and JSON.
    Anything else is `ResultUnreadable` to the caller.

    `raises`: errors of the list `final` which a replay raises again as their own class, made of the same arguments (`error.args`). They have
    to be JSON. Errors of other classes are replayed as `ReplayedFailure`, and so is one that cannot be made again of its arguments, since its
    `__init__` takes others: the logger `keyledger` says so when it is stored.

    Example:
        class CardDeclined(Exception):
            pass

        @ledger.idempotent(
            operation="charge",
            effect="repeatable",
            scope="user",
            key="order",
            final=(CardDeclined,),
            codec=keyledger.JsonCodec(int, raises=(CardDeclined,)),
        )
        def charge(user: str, order: str) -> int: ...

    """

    def __init__(self, returns: Any = Any, *, raises: tuple[type[Exception], ...] = ()) -> None:
        self._returns = returns
        self._plain = bare(returns)
        self._write, self._read = shape = _shape(returns)
        self._fits = fits_of(returns) if shape == PLAIN else None
        self._raises = {error.__qualname__: error for error in raises}

    def encode(self, result: R) -> Response:
        """The result as JSON text in UTF-8.

        Raises:
            TypeError, ValueError: it is not JSON, or JSON would bring back something else.

        """
        value = result if self._write is None else self._write(result)
        text = _ENCODE(value)
        again = self._read_back(text)
        if not is_same(result, again):
            kind = type(result).__qualname__
            raise TypeError(
                f"JSON would bring this {kind} back as something else: a subclass of what is declared, a field that is not written, "
                "or a name that is no text; say its type in the return annotation, or give a codec= of your own"
            )
        return Response(JSON, text.encode())

    def decode(self, response: Response) -> R:
        """The result, in the type that was declared."""
        if response.media_type != JSON and not is_json(response.media_type):
            return cast("R", self._not_json(response))
        return cast("R", self._read_back(str(response.body or stored_body(response), "utf-8")))

    def _read_back(self, text: str) -> Any:
        value = _DECODE(text)[0]
        if self._fits is not None and not self._fits(value):
            declared = self._returns.__qualname__ if type(self._returns) is type else self._returns
            raise TypeError(f"this {type(value).__name__} is no {declared}, as is declared")
        return value if self._read is None else self._read(value)

    def _not_json(self, response: Response) -> str | None:
        body = stored_body(response)
        if self._plain is str and _essence(response.media_type) == "text/plain":
            return str(body, "utf-8")
        if self._plain in (None, type(None)) and not body:
            return None
        raise ValueError(f"it is not {JSON}")

    def encode_error(self, error: Exception) -> Response:
        """Class, text, and the arguments where the class is to be raised again."""
        told: dict[str, Any] = {"error": type(error).__qualname__, "message": str(error)}
        if type(error) in self._raises.values() and _is_made_again(error):
            told["arguments"] = error.args
        return Response(JSON, _ENCODE(told).encode())

    def decode_error(self, response: Response) -> Exception | None:
        """The error, if its class is one of `raises`."""
        try:
            told: Any = json.loads(stored_body(response))
        except ValueError:
            return None  # Somebody has said no in other words.
        if not isinstance(told, dict) or "arguments" not in told:
            return None
        known = self._raises.get(str(told.get("error")))
        return None if known is None else _made(known, told["arguments"])

    def __repr__(self) -> str:
        """Which type it reads back."""
        return f"JsonCodec({self._returns!r})"


def _made(known: type[Exception], arguments: Any) -> Exception | None:
    try:
        return known(*arguments)
    except Exception:
        return None  # Its class has another `__init__` by now.


def _is_made_again(error: Exception) -> bool:
    """Whether a replay can raise the same: an error of several arguments may have told its base one."""
    again = _made(type(error), error.args)
    if again is not None and (again.args, str(again)) == (error.args, str(error)):
        return True
    log.warning(
        "%s cannot be made again of its args %r, so a replay raises ReplayedFailure: give super().__init__ what __init__ takes",
        type(error).__qualname__,
        error.args,
    )
    return False


def stored_body(response: Response) -> bytes:
    """The bytes of a response.

    Raises:
        TooLarge: they were over the ledger's limit and are not stored, only their length and SHA-256 (S4). It was done.

    Example:
        assert keyledger.stored_body(keyledger.Response.of_text("paid")) == b"paid"

    """
    body = response.body
    if body is None:
        length, sha256 = response.omitted or (0, b"")
        raise TooLarge(
            f"the operation was done, but its answer of {length} bytes (SHA-256 {sha256.hex()}) was over the limit and is "
            "not stored; open the ledger with a larger max_response_bytes, or return less"
        )
    return body


def is_json(media_type: str) -> bool:
    """Whether a body of this type is JSON."""
    essence = _essence(media_type)
    return essence == JSON or essence.endswith("+json")


def _essence(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def _shape(returns: Any) -> Shape:
    if returns is Any:
        return PLAIN
    try:
        return shape_of(returns)
    except Unsupported as unsupported:
        part = unsupported.args[0]
        raise TypeError(f"JSON cannot bring {part!r} back as what it was; give a codec= of your own") from None


def _refuse(value: Any) -> Any:
    kind = type(value).__qualname__
    raise TypeError(f"a {kind} is not JSON: name it in the return annotation, or give a codec= of your own")


_ENCODE = json.JSONEncoder(default=_refuse, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_DECODE = json.JSONDecoder().raw_decode


class ResultNotStored(InvalidArgument):
    """The function has run, and its result could not be stored: the claim is parked, for whatever effect (S4).

    `result` is what it returned, so that nothing is lost. The cause says why. Its code, `result_not_stored`, is of Python's own: unlike
    other invalid arguments, this one has been found out after the handler had run.
    """

    code = "result_not_stored"
    result: Any = None


class ResultUnreadable(KeyledgerError):
    """The call was done, and what is stored as its result is none of the function's: it was not run again.

    Somebody settled the record with a response of another form: the handler itself by `claim.complete`, a person by `Ledger.resolve`, or
    another function of the same operation. `response` is what is stored; `key_id` names the record; the cause says why.
    """

    code = "result_unreadable"
    response: Response
    key_id: KeyId

    @classmethod
    def of(cls, response: Response, key_id: KeyId, why: Exception) -> ResultUnreadable:
        """What to tell, with what to do."""
        stored = response.media_type or "no media type"
        error = cls(
            f"{told_id(key_id)}: it was done, but what is stored, {stored}, cannot be read as a result of this function: {why}; "
            "it is this error's response. Settle calls with values of the function: return them, from it or from the handler of "
            "its recover, or give them to its resolve; else give it a codec= that reads this"
        )
        error.response, error.key_id = response, key_id
        return error
