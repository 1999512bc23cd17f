"""Every scenario of bindings/conformance/http, through every adapter, on a real server, over raw sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .scenarios import Scenario, all_of_them
from .served_asgi import AsgiServer, bare
from .served_django import under_asgi, under_wsgi
from .served_fastapi import app as fastapi_app
from .served_wsgi import WsgiServer, flask
from .stage import Stage

SERVERS: dict[str, Callable[[], Any]] = {
    "asgi": lambda: AsgiServer(bare),
    "fastapi": lambda: AsgiServer(fastapi_app),
    "flask": lambda: WsgiServer(flask),
    "django": lambda: WsgiServer(under_wsgi, joins=True),
    "django-async": lambda: AsgiServer(under_asgi, joins=True),
}

_NOBODY_TELLS = "WSGI tells nobody that a client has gone while it waits"
SKIPPED: dict[tuple[str, str], str] = {
    ("flask", "running: a duplicate that waits and goes away does not run"): _NOBODY_TELLS,
    ("django", "running: a duplicate that waits and goes away does not run"): _NOBODY_TELLS,
}


@pytest.fixture(scope="module", params=list(SERVERS))
def adapter(request: pytest.FixtureRequest) -> Iterator[tuple[str, Any]]:
    server = SERVERS[request.param]()
    yield request.param, server
    server.stop()


@pytest.mark.parametrize("scenario", all_of_them(), ids=str)
def test_scenario(adapter: tuple[str, Any], scenario: Scenario) -> None:
    name, server = adapter
    if reason := SKIPPED.get((name, str(scenario))):
        pytest.skip(reason)
    Stage(scenario, server).play()
