"""A transport over requests, for threads.

Example:
    from keyledger.transports.requests import RequestsTransport

    transport = RequestsTransport(authorize=lambda scope, request: {"Authorization": tokens[scope]})
    request = transport.request("POST", url, json={"cents": 990})
    entry, created = outbox.enqueue("user-7", "charge", request, purpose="pay cart 42")
    with outbox.driver("user-7", transport):
        entry.result(timeout=30)
"""

from __future__ import annotations

import ssl
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING, Any

import requests
import urllib3
from requests.adapters import HTTPAdapter

from keyledger._native import HttpAnswer
from keyledger.transports._http import BlockingSettings, BlockingTransport, Body, Deadline, Lines, Silence, own_fields

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["RequestsTransport"]

_CHUNK_BYTES = 64 * 1024

# No byte of the request can have left: it never came to a connection.
_BEFORE_CONNECTING = (
    requests.exceptions.ConnectTimeout,
    requests.exceptions.InvalidProxyURL,
    requests.exceptions.InvalidSchema,
    requests.exceptions.InvalidURL,
    requests.exceptions.MissingSchema,
    urllib3.exceptions.ConnectTimeoutError,
    urllib3.exceptions.NewConnectionError,
    ssl.SSLCertVerificationError,
)


class RequestsTransport(BlockingTransport):
    """Sends over a `requests.Session`, blocking: the caller's one, or one of its own for each send under way."""

    def __init__(self, session: requests.Session | None = None, **settings: Unpack[BlockingSettings]) -> None:
        """Use `session`, with its proxies, certificates and adapters.

        What a session of the caller's has as auth, cookies and headers goes out with every scope's requests. The
        libraries do not promise that one session can be used on several threads: give its driver `in_flight=1`.
        """
        super().__init__(**settings)
        self._given = session
        self._free: deque[requests.Session] = deque()

    @contextmanager
    def _session(self) -> Generator[requests.Session, None, None]:
        if self._given is not None:
            yield self._given
            return
        # Not by thread: the driver's threads are new ones to Python at each send.
        try:
            session = self._free.pop()
        except IndexError:
            session = _own_session()
        try:
            yield session
        finally:
            self._free.append(session)

    def _exchange(self, method: str, url: str, lines: Lines, body: bytes, deadline: Deadline) -> HttpAnswer:
        left = deadline.left()
        with self._session() as session:
            try:
                response = session.request(
                    method,
                    url,
                    headers=_one_line_each(own_fields(lines)),
                    data=body or None,
                    timeout=(left, left),
                    allow_redirects=False,
                    stream=True,
                )
                with response:
                    return self._read(response, deadline)
            except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
                may_have_left = _resends(session, url) or not _is_before_connecting(error)
                raise Silence(f"{type(error).__name__}: {_words(error)}", may_have_left=may_have_left) from error

    def close(self) -> None:
        """Close the connections of its own sessions that are not in use."""
        while self._free:
            self._free.pop().close()

    def _read(self, response: requests.Response, deadline: Deadline) -> HttpAnswer:
        body = Body(self._bytes_max)
        raw: Any = response.raw
        for chunk in raw.stream(_CHUNK_BYTES, decode_content=False):
            if not body.add(chunk):
                break
            try:
                deadline.left()
            except Silence as over:
                raise Silence(str(over), may_have_left=True) from over
        lines = [(name, value.encode("latin-1")) for name, value in raw.headers.items()]
        return body.answer(response.status_code, lines)


def _own_session() -> requests.Session:
    session = requests.Session()
    session.headers.clear()
    # An answer's cookies, and what ~/.netrc has, would go out with the requests of every scope.
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.auth = _as_it_is
    return session


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _one_line_each(lines: Lines) -> dict[str, bytes]:
    """The library has one line to a name; lines of one name mean the same joined (RFC 9110, section 5.3)."""
    joined: dict[str, tuple[str, bytes]] = {}
    for name, value in lines:
        first = joined.get(name.lower())
        joined[name.lower()] = (name, value) if first is None else (first[0], first[1] + b", " + value)
    return dict(joined.values())


def _resends(session: requests.Session, url: str) -> bool:
    """Whether the session's adapter sends again by itself: then the last error does not tell of the tries before."""
    adapter = session.get_adapter(url)
    return not isinstance(adapter, HTTPAdapter) or adapter.max_retries.total != 0


def _is_before_connecting(error: BaseException) -> bool:
    return any(isinstance(one, _BEFORE_CONNECTING) for one in _chain(error))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it wraps: as its cause, its context, its `reason` or its argument."""
    seen: set[int] = set()
    rest: list[object] = [error]
    while rest:
        one = rest.pop()
        if isinstance(one, BaseException) and id(one) not in seen:
            seen.add(id(one))
            yield one
            rest += [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]


def _words(error: BaseException) -> str:
    """What the innermost error says: those around it repeat the address."""
    return str(list(_chain(error))[-1])
