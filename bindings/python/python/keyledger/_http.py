"""What the adapters share: from a request to what the ledger is asked, and from a response to what is sent."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from keyledger._native import Answer, Asked, Ledger, Route
from keyledger._parts import scope_of
from keyledger.errors import InvalidKey, KeyledgerError

KEY_FIELD = "Idempotency-Key"
"""The field that carries the key."""

HELD = "keyledger.held"
"""Where a request carries the key ids that layers around have claimed."""

log = logging.getLogger("keyledger.http")

Line = tuple[str, bytes]
LedgerOf = Ledger | Callable[[], Ledger]

Principal = str | int | uuid.UUID | None
"""Whose key it is, as a scope function says it."""

_OWN = ("idempotent-replayed", "idempotency-key-expires")
_T = TypeVar("_T")


class Head(NamedTuple):
    """A request without its body. `path` is the concrete one as received."""

    method: str
    path: bytes
    query: bytes
    content_type: bytes | None
    content_length: bytes | None
    is_chunked: bool

    def announces_over(self, limit: int) -> bool:
        """Whether the body says of itself that it is longer than `limit`."""
        length = self.content_length or b""
        return length.isdigit() and int(length) > limit


def opened(ledger: LedgerOf) -> Ledger:
    """The ledger, or what the function that was given in its place says it is."""
    return ledger if isinstance(ledger, Ledger) else ledger()


def chosen(route: Route | Callable[[_T], Route | None], request: _T) -> Route | None:
    """The route of a request."""
    return route if isinstance(route, Route) else route(request)


def asked(ledger: LedgerOf, route: Route, scope: object, key: str, head: Head, body: bytes) -> Asked | Answer:
    """What to ask the ledger, or the answer where it cannot be asked (H13, H17)."""
    whose = _scope(scope)
    if whose is None:
        return route.no_principal()
    if (head.is_chunked and not body) or not Route.is_whole(head.content_length, len(body)):
        return route.body_consumed()
    try:
        book = opened(ledger)
    except KeyledgerError as error:
        log.error("the ledger does not answer (%s): %s", error.code, error)
        return route.not_available()
    try:
        return route.begin(
            book,
            whose,
            key,
            method=head.method,
            path=head.path,
            query=head.query,
            content_type=head.content_type,
            body=body,
        )
    except InvalidKey:
        log.exception("the scope function gave what is no scope")
        return route.no_principal()


def _scope(told: object) -> str | None:
    """What the scope function gave, as text. Whoever runs the server hears of what is no scope; a client is told 401 for it."""
    if told is None or isinstance(told, str):
        return told
    try:
        return scope_of(told, "what the scope function gave")
    except InvalidKey as error:
        log.error("%s: nobody is known to be asking", error)
        return None


def has_no_body(status: int, method: str) -> bool:
    """Whether the response ends with its head."""
    return method == "HEAD" or status < 200 or status in (204, 205, 304)  # noqa: PLR2004


def framed(answer: Answer, method: str) -> tuple[list[Line], bytes]:
    """Lines and body of an answer that is sent as a whole."""
    if has_no_body(answer.status, method):
        return answer.fields, b""
    return [*answer.fields, ("Content-Length", str(len(answer.body)).encode())], answer.body


def own(response: Answer, added: Iterable[Line], method: str) -> Answer:
    """A handler's response with what the adapter says. Its length is recomputed, save for a HEAD, which has no body."""
    dropped = _OWN if method == "HEAD" else (*_OWN, "content-length")
    kept = [line for line in response.fields if line[0].lower() not in dropped]
    return Answer(response.status, [*kept, *added], response.body)


def flowing(fields: Iterable[Line], added: Iterable[Line]) -> list[Line]:
    """The lines of a response whose body goes on."""
    return [*(line for line in fields if line[0].lower() not in _OWN), *added]


def no_scope(error: BaseException) -> None:
    """Tells whoever runs the server why a client was told 401."""
    log.warning("the scope function raised: nobody is known to be asking", exc_info=error)


def unfinished() -> RuntimeError:
    """What a response that never came to its end is told as."""
    return RuntimeError("the handler returned before its response was whole")


def as_received(path: str | None) -> tuple[bytes, bytes] | None:
    """Path and query of a request's target."""
    if not path:
        return None
    if not path.startswith("/"):
        path = "/" + path.partition("://")[2].partition("/")[2]
    before, _, query = path.partition("?")
    return before.encode("latin-1"), query.encode("latin-1")


def any_of(*values: Any) -> Any:
    """The first that is there."""
    return next((value for value in values if value is not None), None)
