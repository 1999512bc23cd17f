"""Every scenario of bindings/conformance/http, through every adapter, on a real server, over raw sockets."""

from __future__ import annotations

import dataclasses
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

UNDER_WSGI = ("flask", "django")
GOES_AWAY = "running: a duplicate that waits and goes away does not run"
"""WSGI tells nobody that a client has gone while it waits: what is so there, a test of its own shows."""

SCENARIOS = all_of_them()
PAIRS = [
    pytest.param(name, scenario, id=f"{name}-{scenario}")
    for name in SERVERS
    for scenario in SCENARIOS
    if not (name in UNDER_WSGI and str(scenario) == GOES_AWAY)
]


@pytest.fixture(scope="module")
def served() -> Iterator[Callable[[str], Any]]:
    """The server of an adapter: each is started when it is first asked for, and plays all scenarios."""
    running: dict[str, Any] = {}

    def of(name: str) -> Any:
        if name not in running:
            running[name] = SERVERS[name]()
        return running[name]

    yield of
    for server in running.values():
        server.stop()


@pytest.mark.parametrize(("name", "scenario"), PAIRS)
def test_scenario(name: str, scenario: Scenario, served: Callable[[str], Any]) -> None:
    Stage(scenario, served(name)).play()


@pytest.mark.parametrize("name", UNDER_WSGI)
def test_h9_under_wsgi_a_duplicate_that_waits_and_goes_away_runs_and_is_stored(
    name: str, served: Callable[[str], Any]
) -> None:
    """Once, under its key, when the first one has released it: the next request is told what it did."""
    (scenario,) = [scenario for scenario in SCENARIOS if str(scenario) == GOES_AWAY]
    before = scenario.steps[:-2]
    assert before[-1] == {"do": "settles"}
    after = [
        {"do": "stored", "expect": {"state": "completed", "status": 201, "body": "run 2"}},
        {"do": "send", "expect": {"status": 201, "body": "run 2", "replayed": True}},
    ]
    Stage(dataclasses.replace(scenario, steps=[*before, *after]), served(name)).play()


def test_every_scenario_is_played_by_every_adapter_but_for_the_one_that_wsgi_cannot_hold() -> None:
    assert len(PAIRS) == len(SERVERS) * len(SCENARIOS) - len(UNDER_WSGI)
