"""Idempotency keys for any WSGI app, Flask's among them: a middleware, to stand behind whatever checks credentials.

Example:
    from flask import Flask
    from keyledger.wsgi import IdempotencyMiddleware, Route

    def scope(environ):
        return environ.get("REMOTE_USER")      # put there by your authentication; None is answered with 401

    app = Flask(__name__)
    app.wsgi_app = IdempotencyMiddleware(app.wsgi_app, ledger=ledger, route=Route.required("repeatable"), scope=scope)

"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import quote_from_bytes

from keyledger import _kept
from keyledger._course import Course, Held, never_asked
from keyledger._http import HELD, Head, LedgerOf, Line, Principal, as_received, asked, chosen, framed, no_scope
from keyledger._kept import RESULT
from keyledger._native import Answer, Asked, Route

__all__ = ["Answer", "IdempotencyMiddleware", "Route"]

Environ = dict[str, Any]
App = Callable[..., Iterable[bytes]]
ScopeOf = Callable[[Environ], Principal]
RouteOf = Callable[[Environ], "Route | None"]

CLAIM = "keyledger.claim"
"""Where the handler's environ has its claim."""


class IdempotencyMiddleware:
    """Guards what is below it: a request with a key runs once, and every retry is told that answer.

    `route` is one `Route` for all that comes here, or a function of the environ that gives one, or None where keys
    are inert. `scope` is a function of the environ that reads what authentication has left there: text, a whole number
    or a UUID; raising, or returning None, is a 401 and touches no record. `ledger` may be a function that returns one,
    such as where it is opened after forking.

    The handler finds its claim as `keyledger.current_claim()` and in `environ["keyledger.claim"]`.
    """

    def __init__(self, app: App, *, ledger: LedgerOf, route: Route | RouteOf, scope: ScopeOf) -> None:
        self.app = app
        self._ledger, self._route, self._scope = ledger, route, scope

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Serves a request."""
        method = environ["REQUEST_METHOD"]
        route = chosen(self._route, environ)
        key = None if route is None else route.receive(method, key_lines(environ))
        if route is None or key is None:
            return self.app(environ, start_response)
        told = key if isinstance(key, Answer) else self._asked(environ, route, key)
        if isinstance(told, Answer):
            return _send(start_response, told, method)
        question, body = told
        replay = {**environ, **_replayed(body)}
        if question.key_id in environ.get(HELD, ()):
            return self.app(replay, start_response)
        granted = _kept.Asked(question.rule)
        try:
            ruling = granted[RESULT]
            if isinstance(ruling, Answer):
                return _send(start_response, ruling, method)
            held = {**replay, HELD: (*environ.get(HELD, ()), question.key_id), CLAIM: ruling}
            return self._run(held, start_response, Course(route, question, granted, method))
        except BaseException as error:
            # No `with`: a body that flows would be lost to an error between its end and the server.
            granted.__exit__(None, error, None)
            raise

    def _asked(self, environ: Environ, route: Route, key: str) -> tuple[Asked, bytes] | Answer:
        principal = principal_of(self._scope, environ)
        if not isinstance(principal, str):
            return route.no_principal()
        head = head_of(environ)
        body = read(environ, head, route)
        if isinstance(body, Answer):
            return body
        question = asked(self._ledger, route, principal, key, head, body)
        return question if isinstance(question, Answer) else (question, body)

    def _run(self, environ: Environ, start_response: Callable[..., Any], course: Course) -> Iterable[bytes]:
        capture = _Capture()
        answer = course.run(partial(self.app, environ, capture.start), capture.held, capture.whole)
        try:
            if isinstance(answer, Answer):
                return _send(start_response, answer, environ["REQUEST_METHOD"])
            start_response(_status_line(answer.status), _lines(answer.fields))
            return answer.pieces
        except BaseException:
            never_asked(answer)
            raise


class _Capture:
    """What an app says through `start_response`, `write` and what it returns."""

    def __init__(self) -> None:
        self._started: tuple[str, list[tuple[str, str]]] | None = None
        self._written: list[bytes] = []
        self._drawn = 0
        self._is_fixed = False

    def held(self, returned: Iterable[bytes]) -> Held:
        """What the app returned, once its head is known: the last one that it gives before its first byte (PEP 3333)."""
        try:
            pieces = iter(returned)
            first = self._first(pieces)
            if self._started is None:
                raise RuntimeError("the app has called no start_response")
        except BaseException:
            _close(returned)
            raise
        self._is_fixed = True
        status, fields = _head(*self._started)
        return Held(status, fields, self._pieces(pieces, first), lambda: _close(returned))

    def whole(self, returned: Iterable[bytes]) -> Answer | None:
        """All of what the app returned, where that is a list."""
        if not isinstance(returned, (list, tuple)) or self._started is None:
            return None
        return Answer(*_head(*self._started), b"".join([*self._written, *returned]))

    def _first(self, pieces: Iterator[bytes]) -> bytes | None:
        """The first piece that is not empty; none where `write` was given one before, or there is none."""
        if self._started is not None and any(self._written):
            return None
        for piece in pieces:
            if piece or any(self._written):
                return piece
        return None

    def start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], None]:
        """The app's `start_response`."""
        if self._started is not None and exc_info is None:
            raise AssertionError("start_response was called before; a second call needs exc_info")
        if self._is_fixed or any(self._written):
            raise exc_info[1].with_traceback(exc_info[2])
        self._started = (status, headers)
        return self._written.append

    def _pieces(self, pieces: Iterator[bytes], first: bytes | None) -> Iterator[bytes]:
        yield from self._drained()
        if first:
            yield first
        for piece in pieces:
            yield from self._drained()
            yield piece
        # Without a call where nothing is left: whoever asks for more knows then in that instant that it is the end.
        if self._written[self._drawn :]:
            yield from self._drained()

    def _drained(self) -> Iterator[bytes]:
        drawn, self._drawn = self._drawn, len(self._written)
        return iter(self._written[drawn : self._drawn])


def _head(status: str, headers: list[tuple[str, str]]) -> tuple[int, list[Line]]:
    return int(status.split(" ", 1)[0]), [(name, value.encode("latin-1")) for name, value in headers]


def _close(returned: Any) -> None:
    if hasattr(returned, "close"):
        returned.close()


def _send(start_response: Callable[..., Any], answer: Answer, method: str) -> Iterable[bytes]:
    fields, body = framed(answer, method)
    start_response(_status_line(answer.status), _lines(fields))
    return [body]


def _status_line(status: int) -> str:
    known = status in HTTPStatus._value2member_map_
    return f"{status} {HTTPStatus(status).phrase if known else 'Unknown'}"


def _lines(fields: Iterable[tuple[str, bytes]]) -> list[tuple[str, str]]:
    return [(name, value.decode("latin-1")) for name, value in fields]


def key_lines(environ: Environ) -> list[bytes]:
    """The value of the line that carries the key. Several lines are one list here, which is malformed as well (H1)."""
    line = environ.get("HTTP_IDEMPOTENCY_KEY")
    return [] if line is None else [line.encode("latin-1")]


def head_of(environ: Environ) -> Head:
    """The request but for its body. WSGI has decoded the path; most servers tell as well how it came."""
    target = as_received(environ.get("REQUEST_URI") or environ.get("RAW_URI"))
    if target is None:
        decoded = (environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")).encode("latin-1")
        path = quote_from_bytes(decoded, safe="/:@!$&'()*+,;=~-._").encode()
        target = (path, environ.get("QUERY_STRING", "").encode("latin-1"))
    return Head(
        method=environ["REQUEST_METHOD"],
        path=target[0],
        query=target[1],
        content_type=_encoded(environ.get("CONTENT_TYPE")),
        content_length=_encoded(environ.get("CONTENT_LENGTH")),
        is_chunked="HTTP_TRANSFER_ENCODING" in environ,
    )


def _encoded(value: str | None) -> bytes | None:
    return value.encode("latin-1") if value else None


def principal_of(scope_of: Callable[[Any], Any], request: Any) -> object:
    """What the scope function says; nothing where it raises (H13)."""
    try:
        return scope_of(request)
    except Exception as error:
        no_scope(error)
        return None


def read(environ: Environ, head: Head, route: Route) -> bytes | Answer:
    """The body, or the answer where it is too long, breaks off, or was read before (H17)."""
    limit = route.max_request_bytes
    if head.announces_over(limit):
        return route.too_large()
    stream = environ["wsgi.input"]
    try:
        if head.content_length is None and not (head.is_chunked and environ.get("wsgi.input_terminated")):
            # A body in chunks that this server does not take apart cannot be read here: `asked` refuses it.
            return b""
        body = _read(stream, limit + 1 if head.content_length is None else int(head.content_length))
    except Exception as error:
        # Werkzeug and others have one for bodies that are longer than they allow.
        return (
            route.too_large()
            if getattr(error, "code", None) == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            else route.unreadable()
        )
    if len(body) > limit:
        return route.too_large()
    # Some of it, but not all: the client is gone. Nothing: somebody has read it, and `asked` tells how to order things.
    return body if not body or Route.is_whole(head.content_length, len(body)) else route.unreadable()


def _read(stream: Any, length: int) -> bytes:
    """Up to `length` bytes: servers may give them in pieces."""
    pieces: list[bytes] = []
    while length > 0 and (piece := stream.read(min(length, 1 << 20))):
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def _replayed(body: bytes) -> Environ:
    """The body, as if it came now, and whole."""
    return {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body)), "wsgi.input_terminated": True}
