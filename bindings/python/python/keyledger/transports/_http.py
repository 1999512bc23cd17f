"""What every transport over HTTP does, but for the connection. The rules are keyledger-http's, which is native."""

from __future__ import annotations

import hashlib
import inspect
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any, Generic, TypeAlias, TypedDict, TypeVar, cast

from keyledger import _native
from keyledger._native import Delivery, DeliveryOutcome, HttpAnswer, HttpRequest, KeyField
from keyledger._telling import tell

Fields: TypeAlias = "Mapping[str, str | bytes] | Iterable[tuple[str, str | bytes]]"
Lines: TypeAlias = "list[tuple[str, bytes]]"
Classify: TypeAlias = "Callable[[HttpAnswer, DeliveryOutcome], DeliveryOutcome]"
Identity: TypeAlias = "Callable[[Lines], bytes]"
Asks: TypeAlias = "Callable[[str, HttpRequest], Fields | None]"
AsksLater: TypeAlias = "Callable[[str, HttpRequest], Fields | Awaitable[Fields | None] | None]"
AuthorizeT = TypeVar("AuthorizeT")

TIMEOUT_SECONDS = 20.0


class Settings(TypedDict, total=False):
    """What every transport can be told; see `HttpTransport`."""

    identity: Identity
    key_field: KeyField
    secret: Iterable[str]
    timeout: float | timedelta
    answer_bytes_max: int
    classify: Classify


class BlockingSettings(Settings, total=False):
    """The same, with who gives credentials."""

    authorize: Asks


class AwaitingSettings(Settings, total=False):
    """The same, with who gives credentials; it may be a coroutine function."""

    authorize: AsksLater


class SignedOut(Exception):
    """Raised by `authorize`: nobody is signed in. The lane is held until somebody is, or until it is resumed."""


class NotNow(Exception):
    """Raised by `authorize`: credentials cannot be had at the moment. The send is tried again later."""


class Silence(Exception):
    """Nothing came back. `may_have_left`: a byte of the request may have left."""

    def __init__(self, error: str, *, may_have_left: bool) -> None:
        """Say why, in words that are stored with the entry: nothing of the request."""
        super().__init__(error)
        self.may_have_left = may_have_left


class Deadline:
    """When a send has to be over: by its timeout, and by the end of its lease (C4)."""

    def __init__(self, delivery: Delivery, timeout_seconds: float) -> None:
        """Begin now."""
        self._delivery = delivery
        self._ends = time.monotonic() + timeout_seconds

    def left(self) -> float:
        """How many seconds are left. Raises `Silence` when none are."""
        left = min(self._ends - time.monotonic(), self._delivery.lease_left_seconds)
        if left <= 0:
            raise Silence("the time for this try is over", may_have_left=False)
        return left


class HttpTransport(Generic[AuthorizeT]):
    """What transports over HTTP have in common: settings, credentials, and what an answer means."""

    def __init_subclass__(cls, **given: Any) -> None:
        """Whoever asks for help on a transport is told the settings there."""
        super().__init_subclass__(**given)
        own, common = cls.__dict__.get("__init__"), cast("Any", HttpTransport).__init__.__doc__
        if own is not None and own.__doc__ and common:
            _, _, settings = inspect.cleandoc(common).partition("\n\n")
            own.__doc__ = f"{inspect.cleandoc(own.__doc__)}\n\n{settings}"

    def __init__(
        self,
        *,
        authorize: AuthorizeT | None = None,
        identity: Identity | None = None,
        key_field: KeyField | None = None,
        secret: Iterable[str] = (),
        timeout: float | timedelta = TIMEOUT_SECONDS,
        answer_bytes_max: int | None = None,
        classify: Classify | None = None,
    ) -> None:
        """Take the settings. None of them is stored in the ledger.

        `authorize(scope, request)` returns the fields that let the scope send it (O14), or raises `SignedOut` or
        `NotNow`; it is asked at each send, and every five seconds while a lane is held. `identity(fields)` tells these
        credentials from others: who signs each request with its time names the key that it signs with; default: all of
        the fields. `key_field`: how the other side wants its keys. `secret`: more fields that carry credentials, and
        so are refused in a request. `timeout` (20 s): how long a send may take. `answer_bytes_max` (960 KiB): of a
        longer body nothing is kept. `classify(answer, usual)` returns the outcome that is told, `usual` or another; if
        it raises, the same key is sent again later. What it or `authorize` raises is logged by the logger `keyledger`.
        """
        self._authorize = authorize
        self._identity = identity or _all_of_them
        self._key_field = key_field or KeyField()
        self._secret = tuple(secret)
        self._timeout = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
        self._bytes_max = _native.answer_bytes_max() if answer_bytes_max is None else answer_bytes_max
        self._classify = classify
        self._refused = _Refused()

    def request(
        self, method: str, url: str, *, headers: Fields = (), body: bytes | str | None = None, json: Any = None
    ) -> HttpRequest:
        """Make a request for `Outbox.enqueue`, checked by this transport's settings.

        A body of text is UTF-8. `json` is a body with its Content-Type, unless `headers` have one; equal objects give
        equal bytes.

        Raises `InvalidArgument` for credentials, the key's own field and the connection's fields among the headers,
        and for an address that is no absolute http or https URL: nothing is stored of what is refused.

            outbox.enqueue(user, "charge", transport.request("POST", "https://bank.example/charges", json={"cents":
            990}))
        """
        lines, secret = lines_of(headers), list(self._secret)
        return HttpRequest(method, url, lines, body, json=json, key_field=self._key_field, secret=secret)

    def _prepared(self, delivery: Delivery) -> _native.HttpSend | DeliveryOutcome:
        send = _native.HttpSend.of(delivery, self._key_field)
        if isinstance(send, DeliveryOutcome) and not delivery.media_type.startswith("application/http"):
            return DeliveryOutcome.dead(
                f"the request is {delivery.media_type or 'bytes'}, no application/http: for a transport over HTTP enqueue a "
                "keyledger.HttpRequest, or what its method request() makes"
            )
        return send

    def _credentials(self, given: object) -> Lines:
        """The fields that `authorize` gave, checked. Raises `NotNow` for what cannot be sent."""
        lines = lines_of(cast("Fields", given or ()))
        name = self._key_field.unsendable(lines)
        if name is not None:
            raise NotNow(f"authorize gives the field {name}, which cannot be sent")
        return lines

    def _without_credentials(self, delivery: Delivery, send: _native.HttpSend, error: Exception) -> DeliveryOutcome:
        """What is told where `authorize` has raised: nothing was sent."""
        if isinstance(error, SignedOut):
            self._refused.note(delivery.scope, send.request, None)
            return DeliveryOutcome.hold_lane("there are no credentials for this scope; sign in")
        if isinstance(error, NotNow):
            return DeliveryOutcome.retry(f"credentials cannot be had now: {error}").not_taken()
        # Its words may hold what must not be in the file (O14).
        tell(error, f"authorize raised for the scope {delivery.scope!r}; the request is sent later")
        return DeliveryOutcome.retry(f"authorize raised {type(error).__name__}").not_taken()

    def _told(
        self, delivery: Delivery, send: _native.HttpSend, credentials: Lines, answer: HttpAnswer
    ) -> DeliveryOutcome:
        """What is told where an answer came."""
        outcome = self._meaning(answer)
        if outcome.kind == "hold_lane":
            self._refused.note(delivery.scope, send.request, self._hash(credentials))
        elif outcome.kind in ("yes", "no"):
            self._refused.forget(delivery.scope)
        return outcome

    def _meaning(self, answer: HttpAnswer) -> DeliveryOutcome:
        usual = answer.outcome(int(time.time() * 1000), self._bytes_max)
        if self._classify is None:
            return usual
        try:
            return self._classify(answer, usual)
        except Exception as error:
            tell(error, f"classify raised on an answer {answer.status}; the request is sent again, under the same key")
            return DeliveryOutcome.retry(f"the classifier raised {type(error).__name__} on {answer.status}")

    def _hash(self, credentials: Lines) -> bytes:
        return hashlib.sha256(self._identity(credentials)).digest()


class _Refused:
    """Which credentials were refused last, by scope: as a hash, in memory alone. A dict needs no lock for steps of one call each."""

    def __init__(self) -> None:
        self._by_scope: dict[str, tuple[HttpRequest, bytes | None]] = {}

    def note(self, scope: str, request: HttpRequest, identity: bytes | None) -> None:
        self._by_scope[scope] = (request, identity)

    def forget(self, scope: str) -> None:
        self._by_scope.pop(scope, None)

    def get(self, scope: str) -> tuple[HttpRequest, bytes | None] | None:
        return self._by_scope.get(scope)


class BlockingTransport(HttpTransport[Asks]):
    """One send after the other on each of the driver's threads."""

    def _exchange(self, method: str, url: str, lines: Lines, body: bytes, deadline: Deadline) -> HttpAnswer:
        """Send one request and read its answer. Raises `Silence`."""
        raise NotImplementedError

    def send(self, delivery: Delivery) -> DeliveryOutcome:
        """Send one delivery and say what came of it."""
        send = self._prepared(delivery)
        if isinstance(send, DeliveryOutcome):
            return send
        try:
            credentials = self._ask(delivery.scope, send.request)
        except Exception as error:
            return self._without_credentials(delivery, send, error)
        answer = self._followed(delivery, send, [*send.fields, *credentials])
        return answer if isinstance(answer, DeliveryOutcome) else self._told(delivery, send, credentials, answer)

    def has_other_credentials(self, scope: str) -> bool:
        """Whether `authorize` now gives others than were refused. Yes if nothing is remembered: a send will tell."""
        refused = self._refused.get(scope)
        if refused is None:
            return True
        try:
            return self._hash(self._ask(scope, refused[0])) != refused[1]
        except (SignedOut, NotNow):
            return False

    def _ask(self, scope: str, request: HttpRequest) -> Lines:
        return self._credentials(self._authorize(scope, request) if self._authorize else ())

    def _followed(self, delivery: Delivery, send: _native.HttpSend, lines: Lines) -> HttpAnswer | DeliveryOutcome:
        deadline, request, hops = Deadline(delivery, self._timeout), send.request, 0
        url = request.url
        while True:
            try:
                answer = self._exchange(request.method, url, lines, request.body, deadline)
            except Silence as silence:
                return send.silent(str(silence), may_have_left=silence.may_have_left, hops=hops)
            onward = send.redirected(url, answer.status, answer.field("Location"), hops)
            if onward is None:
                return answer
            url, hops = onward, hops + 1


class AwaitingTransport(HttpTransport[AsksLater]):
    """The same with coroutines; `authorize` may be one."""

    async def _exchange(self, method: str, url: str, lines: Lines, body: bytes, deadline: Deadline) -> HttpAnswer:
        """Send one request and read its answer. Raises `Silence`."""
        raise NotImplementedError

    async def send(self, delivery: Delivery) -> DeliveryOutcome:
        """Send one delivery and say what came of it."""
        send = self._prepared(delivery)
        if isinstance(send, DeliveryOutcome):
            return send
        try:
            credentials = await self._ask(delivery.scope, send.request)
        except Exception as error:
            return self._without_credentials(delivery, send, error)
        answer = await self._followed(delivery, send, [*send.fields, *credentials])
        return answer if isinstance(answer, DeliveryOutcome) else self._told(delivery, send, credentials, answer)

    async def has_other_credentials(self, scope: str) -> bool:
        """Whether `authorize` now gives others than were refused. Yes if nothing is remembered: a send will tell."""
        refused = self._refused.get(scope)
        if refused is None:
            return True
        try:
            return self._hash(await self._ask(scope, refused[0])) != refused[1]
        except (SignedOut, NotNow):
            return False

    async def _ask(self, scope: str, request: HttpRequest) -> Lines:
        given = self._authorize(scope, request) if self._authorize else ()
        return self._credentials(await given if inspect.isawaitable(given) else given)

    async def _followed(self, delivery: Delivery, send: _native.HttpSend, lines: Lines) -> HttpAnswer | DeliveryOutcome:
        deadline, request, hops = Deadline(delivery, self._timeout), send.request, 0
        url = request.url
        while True:
            try:
                answer = await self._exchange(request.method, url, lines, request.body, deadline)
            except Silence as silence:
                return send.silent(str(silence), may_have_left=silence.may_have_left, hops=hops)
            onward = send.redirected(url, answer.status, answer.field("Location"), hops)
            if onward is None:
                return answer
            url, hops = onward, hops + 1


class Body:
    """What is read of an answer's body: all of it, or of one that is too long its beginning."""

    def __init__(self, bytes_max: int) -> None:
        """Nothing yet."""
        self._bytes_max = bytes_max
        self._bytes = bytearray()

    def add(self, chunk: bytes) -> bool:
        """Take more of it; false: that is too much, read no further."""
        self._bytes += chunk
        return len(self._bytes) <= self._bytes_max

    def answer(self, status: int, lines: Iterable[tuple[str, bytes]]) -> HttpAnswer:
        """Make the answer, without Content-Length: whoever tells it again knows the length."""
        kept = [(name, value) for name, value in lines if name.lower() != "content-length"]
        is_whole = len(self._bytes) <= self._bytes_max
        return HttpAnswer(status, kept, bytes(self._bytes[: self._bytes_max]), is_whole=is_whole)


def lines_of(fields: Fields) -> Lines:
    """Field lines as bytes; text is UTF-8."""
    if isinstance(fields, Mapping):
        fields = cast("Mapping[str, str | bytes]", fields).items()
    return [(name, value.encode() if isinstance(value, str) else value) for name, value in fields]


def own_fields(lines: Lines) -> Lines:
    """Adds the fields that libraries write by themselves, said otherwise: bodies are kept as they came."""
    has = {name.lower() for name, _ in lines}
    usual = {"Accept": b"*/*", "Accept-Encoding": b"identity", "User-Agent": b"keyledger-python"}
    return [*lines, *((name, value) for name, value in usual.items() if name.lower() not in has)]


def _all_of_them(lines: Lines) -> bytes:
    return b"".join(name.encode() + b"\0" + value + b"\0" for name, value in lines)
