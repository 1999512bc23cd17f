"""Transports over httpx: `HttpxTransport` for threads, `AsyncHttpxTransport` for asyncio.

Example:
    from keyledger.transports.httpx import HttpxTransport

    transport = HttpxTransport(authorize=lambda scope, request: {"Authorization": tokens[scope]})
    request = transport.request("POST", url, json={"cents": 990})
    entry, created = outbox.enqueue("user-7", "charge", request, purpose="pay cart 42")
    with outbox.driver("user-7", transport):
        entry.result(timeout=30)
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import httpx

from keyledger._native import HttpAnswer
from keyledger.transports._http import (
    AwaitingSettings,
    AwaitingTransport,
    BlockingSettings,
    BlockingTransport,
    Body,
    Deadline,
    Lines,
    Silence,
    own_fields,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["AsyncHttpxTransport", "HttpxTransport"]

# No byte of the request can have left: there was no connection to send it over.
_BEFORE_CONNECTING = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)


class _Watch:
    """Whether a byte of a request may have left: httpcore tells when it begins to send one."""

    def __init__(self) -> None:
        self.has_begun = False

    def __call__(self, event: str, _info: Mapping[str, Any]) -> None:
        self.has_begun = self.has_begun or ".send_request_" in event

    async def later(self, event: str, info: Mapping[str, Any]) -> None:
        self(event, info)

    def silence(self, error: Exception) -> Silence:
        # A proxy that refuses has seen none of it.
        is_before = isinstance(error, httpx.ProxyError) or (
            not self.has_begun and isinstance(error, _BEFORE_CONNECTING)
        )
        return Silence(f"{type(error).__name__}: {error}", may_have_left=not is_before)


def _no_cookies() -> CookieJar:
    # An answer's cookies would be credentials, sent again with the requests of other scopes.
    return CookieJar(DefaultCookiePolicy(allowed_domains=[]))


def _lines(response: httpx.Response) -> list[tuple[str, bytes]]:
    return [(name.decode("latin-1"), value) for name, value in response.headers.raw]


class HttpxTransport(BlockingTransport):
    """Sends over an `httpx.Client`, blocking. It is safe on several threads, as the client is."""

    def __init__(self, client: httpx.Client | None = None, **settings: Unpack[BlockingSettings]) -> None:
        """Use `client`, with its proxies, certificates and limits; default: one of its own.

        What a client of the caller's has as auth, cookies and headers goes out with every scope's requests.
        """
        super().__init__(**settings)
        self._client = client or httpx.Client(cookies=_no_cookies())

    def _exchange(self, method: str, url: str, lines: Lines, body: bytes, deadline: Deadline) -> HttpAnswer:
        watch = _Watch()
        try:
            request = self._client.build_request(
                method,
                url,
                headers=[(name.encode(), value) for name, value in own_fields(lines)],
                content=body or None,
                timeout=deadline.left(),
                extensions={"trace": watch},
            )
            response = self._client.send(request, stream=True, follow_redirects=False)
            try:
                return self._read(response, deadline)
            finally:
                response.close()
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            raise watch.silence(error) from error

    def _read(self, response: httpx.Response, deadline: Deadline) -> HttpAnswer:
        body = Body(self._bytes_max)
        for chunk in response.iter_raw():
            if not body.add(chunk):
                break
            _still(deadline)
        return body.answer(response.status_code, _lines(response))

    def close(self) -> None:
        """Close the client's connections."""
        self._client.close()


class AsyncHttpxTransport(AwaitingTransport):
    """Sends over an `httpx.AsyncClient`; with `async with outbox.driver(...)` and `drain_async`."""

    def __init__(self, client: httpx.AsyncClient | None = None, **settings: Unpack[AwaitingSettings]) -> None:
        """Use `client`, with its proxies, certificates and limits; default: one of its own for each event loop.

        What a client of the caller's has as auth, cookies and headers goes out with every scope's requests.
        """
        super().__init__(**settings)
        self._given = client
        self._own: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()

    @property
    def _client(self) -> httpx.AsyncClient:
        if self._given is not None:
            return self._given
        loop = asyncio.get_running_loop()
        if loop not in self._own:
            self._own[loop] = httpx.AsyncClient(cookies=_no_cookies())
        return self._own[loop]

    async def _exchange(self, method: str, url: str, lines: Lines, body: bytes, deadline: Deadline) -> HttpAnswer:
        watch = _Watch()
        left = deadline.left()
        try:
            request = self._client.build_request(
                method,
                url,
                headers=[(name.encode(), value) for name, value in own_fields(lines)],
                content=body or None,
                timeout=left,
                extensions={"trace": watch.later},
            )
            return await asyncio.wait_for(self._answer(request), left)
        except asyncio.TimeoutError as error:
            raise Silence("no answer came in time", may_have_left=watch.has_begun) from error
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            raise watch.silence(error) from error

    async def _answer(self, request: httpx.Request) -> HttpAnswer:
        response = await self._client.send(request, stream=True, follow_redirects=False)
        try:
            body = Body(self._bytes_max)
            async for chunk in response.aiter_raw():
                if not body.add(chunk):
                    break
            return body.answer(response.status_code, _lines(response))
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        """Close the client's connections, of its own those of this event loop."""
        await self._client.aclose()
        self._own.pop(asyncio.get_running_loop(), None)


def _still(deadline: Deadline) -> None:
    """C4: an answer is not read past the lease. What had been asked for by then may have been done."""
    try:
        deadline.left()
    except Silence as over:
        raise Silence(str(over), may_have_left=True) from over
