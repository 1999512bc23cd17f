"""Plays a scenario on an adapter, and compares after every step."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from keyledger._native import KeyId, Ledger, ManualClock
from keyledger.http import Answer, Route

from .check import START_MS, compare, compare_record
from .handler import Gate, Script, route_of
from .scenarios import Request, Scenario
from .wire import PATIENCE, receive, send, send_half


class World:
    """What a server serves: a scenario's ledger, its route, and its handler."""

    def __init__(self, scenario: Scenario) -> None:
        self.clock = ManualClock(START_MS)
        limit: int | None = scenario.route.get("max_response_bytes")
        self.ledger = Ledger(None, clock=self.clock, max_response_bytes=limit)
        self.route: Route | None = route_of(scenario)
        self.script = Script(scenario)
        self.gate = Gate()


class Server(Protocol):
    """A server that is up, and whose app is another one for each world."""

    port: int
    joins: bool
    """Whether a response has one line of a name."""

    def serve(self, world: World) -> None:
        """From now on it serves this."""

    def is_idle(self) -> bool:
        """Whether nothing of the adapter's runs any more."""


def wait_until(what: str, is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, f"in vain: {what}"
        time.sleep(0.001)


class Stage:
    """One scenario on one server."""

    def __init__(self, scenario: Scenario, server: Server) -> None:
        self._scenario, self._server = scenario, server
        self._world = World(scenario)
        self._running: dict[str, tuple[socket.socket, threading.Event | None]] = {}
        server.serve(self._world)

    def play(self) -> None:
        try:
            for number, step in enumerate(self._scenario.steps, 1):
                try:
                    self._step(**step)
                except AssertionError as error:
                    raise AssertionError(f"step {number}: {error}") from error
            assert self._world.script.begun == self._scenario.runs, "runs"
        finally:
            for connection, gate in self._running.values():
                connection.close()
                if gate is not None:
                    gate.set()
            wait_until("nothing runs any more", self._server.is_idle)

    def _step(self, do: str, **words: Any) -> None:
        getattr(self, f"_{do}")(**words)

    def _send(self, expect: dict[str, Any], request: dict[str, Any] | None = None) -> None:
        asked = Request(request or {})
        compare(self._receive(send(self._server.port, asked), asked), expect, joins=self._server.joins)

    def _receive(self, connection: socket.socket, asked: Request | None = None) -> Answer | None:
        return receive(connection, has_body=asked is None or asked.method != "HEAD")

    def _start(self, request: dict[str, Any] | None = None, queued: bool = False, **words: str) -> None:
        self._world.gate.expect(waits=not queued)
        connection = send(self._server.port, Request(request or {}))
        gate: threading.Event | None = None
        if queued:
            time.sleep(0.2)  # nothing tells from outside that a request waits for another
        else:

            def begins() -> bool:
                nonlocal gate
                gate = self._world.gate.taken()
                return gate is not None

            wait_until("the handler begins", begins)
        self._running[words["as"]] = (connection, gate)

    def _finish(self, request: str, expect: dict[str, Any] | None = None) -> None:
        connection, gate = self._running.pop(request)
        if gate is not None:
            gate.set()
        with contextlib.suppress(OSError):
            got = self._receive(connection)
            if expect is not None:
                compare(got, expect, joins=self._server.joins)

    def _cut(self, request: str) -> None:
        connection, gate = self._running[request]
        connection.shutdown(socket.SHUT_RDWR)
        if gate is None:
            time.sleep(0.2)  # nothing tells from outside that the server has noticed

    def _cut_short(self, request: dict[str, Any]) -> None:
        send_half(self._server.port, Request(request))

    def _advance(self, ms: int) -> None:
        self._world.clock.advance(ms / 1000)

    def _close(self) -> None:
        self._world.ledger.close()

    def _suspend(self) -> None:
        self._world.ledger.suspend()

    def _resume(self) -> None:
        self._world.ledger.resume()

    def _settles(self) -> None:
        wait_until("nothing runs any more", self._server.is_idle)

    def _stored(self, of: dict[str, str] | None = None, expect: dict[str, Any] | None = None) -> None:
        of = {"operation": "POST /charges", "scope": "ada", "key": "key-1", **(of or {})}
        compare_record(self._world.ledger.inspect(KeyId(of["scope"], of["operation"], of["key"])), expect)
