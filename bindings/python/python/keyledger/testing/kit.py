"""A kit that tries a transport of yours against a real server: what goes out, and what its answers are taken for (O2, O8, O9)."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import keyledger
from keyledger._native import Entry, HttpRequest
from keyledger.testing.server import Reply, Seen, TransportServer

if TYPE_CHECKING:
    from keyledger._driver import AnyTransport
    from keyledger._outbox import Outbox

_LEASE_SECONDS = 1.5
_MARGIN_SECONDS = 1.0
_UNTIL_SECONDS = 5.0
_SCOPE = "user"
_AT_ONCE = (("Retry-After", "0"),)

MakesRequest = Callable[[str], HttpRequest]
ReadsKeys = Callable[[Seen], list[str]]


def _request(url: str) -> HttpRequest:
    return HttpRequest("POST", url, [("Content-Type", "text/plain")], b"pay 9.90")


def _keys(seen: Seen) -> list[str]:
    return [value.strip('"') for value in seen.all("Idempotency-Key")]


class Case(NamedTuple):
    """What the server does, in order, and what the entry is then."""

    rule: str
    replies: tuple[Reply, ...]
    state: str
    sends: int
    is_yes: bool = False
    is_refused_first: bool = False
    is_killed_first: bool = False

    def __str__(self) -> str:
        """The case in a few words."""
        before = "refused, " if self.is_refused_first else "killed after sending, " if self.is_killed_first else ""
        yes = "" if self.state != "answered" else " yes" if self.is_yes else " no"
        return f"{self.rule}: {before}{', '.join(map(str, self.replies))} -> {self.state}{yes}"

    def check(
        self, make: Callable[[], AnyTransport], *, request: MakesRequest = _request, keys: ReadsKeys = _keys
    ) -> None:
        """Try a transport that `make` makes.

        `request` makes a request of the server's URL; `keys` finds the keys in what arrives.

        Raises:
            AssertionError: the case does not hold; it is told in its words.
        """
        server = TransportServer(self.replies, listens=not self.is_refused_first)
        with keyledger.in_memory() as ledger, server:
            outbox = ledger.outbox(backoff=(0.02, 0.05, 2), lease=_LEASE_SECONDS)
            entry = outbox.enqueue(_SCOPE, "try", request(server.url)).entry
            self._send(outbox, make(), server)
            self._judge(outbox.get(entry), server.seen, keys)

    def _send(self, outbox: Outbox, transport: AnyTransport, server: TransportServer) -> None:
        if self.is_killed_first:
            # What a kill between the send and the commit leaves: the server has it, the ledger knows of a lease alone.
            for delivery in outbox.lease_due(_SCOPE, 1):
                _sent(transport, delivery)
                delivery.drop()
        if self.is_refused_first:
            _drain(outbox, transport, 0)
            server.listen()
        begun = time.monotonic()
        _drain(outbox, transport, _UNTIL_SECONDS)
        stalls = sum(1 for reply in self.replies if reply.stall_seconds)
        took = time.monotonic() - begun
        limit = stalls * _LEASE_SECONDS + _MARGIN_SECONDS if stalls else _UNTIL_SECONDS + _MARGIN_SECONDS
        assert took < limit, f"{self}: it waited past its lease, {took:.1f} s in all (C4)"

    def _judge(self, entry: Entry | None, seen: list[Seen], keys: ReadsKeys) -> None:
        assert entry is not None
        yes = " yes" if entry.is_yes else ""
        told = f"{self}: but the entry is {entry.state}{yes}, after {len(seen)} requests were read"
        assert (entry.state, entry.is_yes) == (self.state, self.is_yes), told
        assert len(seen) == self.sends, told
        for one in seen:
            sent = keys(one)
            assert sent == [entry.key], f"{self}: {sent} went out as key, and not {entry.key} alone (O2, C1)"
        assert len({one.body for one in seen}) == 1, f"{self}: other bytes went out on another try (O2)"


def _cases() -> Iterable[Case]:
    yield Case("O8", (Reply(201),), "answered", 1, is_yes=True)
    for status in (400, 404, 409, 422):
        yield Case("O8", (Reply(status),), "answered", 1)
    yield Case("O8", (Reply(303, [("Location", "/elsewhere")]),), "answered", 1)
    for status in (401, 403):
        yield Case("O8", (Reply(status),), "held", 1)
    for status in (408, 425, 500, 502, 504):
        yield Case("O8", (Reply(status), Reply(200)), "answered", 2, is_yes=True)
    for status in (409, 429, 503):
        yield Case("O8", (Reply(status, _AT_ONCE), Reply(200)), "answered", 2, is_yes=True)
    yield Case("O8", (Reply(cut="after"), Reply(200)), "answered", 2, is_yes=True)
    yield Case("O8", (Reply(cut="before"), Reply(200)), "answered", 1, is_yes=True)
    for first in (Reply(500), Reply(408), Reply(409, _AT_ONCE), Reply(cut="after")):
        yield Case("O9", (first, Reply(404)), "unknown", 2)
    for first in (Reply(429, _AT_ONCE), Reply(425)):
        yield Case("O9", (first, Reply(404)), "answered", 2)
    yield Case("O9", (Reply(404),), "answered", 1, is_refused_first=True)
    yield Case("C4", (Reply(stall_seconds=4 * _LEASE_SECONDS), Reply(200)), "answered", 2, is_yes=True)
    yield Case("O2", (Reply(200), Reply(200)), "answered", 2, is_yes=True, is_killed_first=True)
    yield Case("O9", (Reply(200), Reply(404)), "unknown", 2, is_killed_first=True)


CASES: tuple[Case, ...] = tuple(_cases())
"""All cases, for `pytest.mark.parametrize("case", CASES, ids=str)`."""


def check_transport(
    make: Callable[[], AnyTransport], *, request: MakesRequest = _request, keys: ReadsKeys = _keys
) -> None:
    """Try a transport with all `CASES`.

    They hold that the same key and bytes go with every send, that answers are taken for what O8 and O9 say, and that it does not
    wait past its lease.

    Raises:
        AssertionError: every case that does not hold, each on a line.

    Example:
        from keyledger.testing import check_transport
        from keyledger.transports.httpx import HttpxTransport

        def test_our_transport() -> None:
            check_transport(HttpxTransport)

    """
    failed: list[str] = []
    for case in CASES:
        try:
            case.check(make, request=request, keys=keys)
        except AssertionError as failure:
            failed.append(str(failure))
    assert not failed, "\n".join(failed)


def _sent(transport: Any, delivery: Any) -> None:
    sent = getattr(transport, "send", transport)(delivery)
    if inspect.iscoroutine(sent):
        asyncio.run(_awaited(sent))


async def _awaited(sent: Any) -> None:
    await sent


def _drain(outbox: Outbox, transport: Any, until: float) -> None:
    if inspect.iscoroutinefunction(getattr(transport, "send", transport)):
        asyncio.run(_awaited(outbox.drain_async(_SCOPE, transport, until=until)))
    else:
        outbox.drain(_SCOPE, transport, until=until)
