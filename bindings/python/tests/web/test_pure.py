"""The scenarios without a server: the native functions in the order in which every adapter calls them."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from keyledger._http import Head, asked, own
from keyledger._native import Asked, Claim
from keyledger.http import Answer

from .check import compare
from .handler import Play
from .scenarios import Request, Scenario, all_of_them, field_lines
from .stage import Stage, World


class Nowhere:
    """A server that is none."""

    port = 0
    joins = False

    def serve(self, world: World) -> None:
        """Nothing."""

    def is_idle(self) -> bool:
        return True


class Running(NamedTuple):
    """A handler that was started: its play and, under a route, what it was granted."""

    play: Play
    granted: tuple[Asked, Claim] | None
    method: str


class PureStage(Stage):
    """Plays by calling, not by sending."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario, Nowhere())
        self._begun: dict[str, Running] = {}

    def _send(self, expect: dict[str, Any], request: dict[str, Any] | None = None) -> None:
        begun = self._begin(Request(request or {}))
        compare(_sent(begun if isinstance(begun, Answer) else self._end(begun)), expect)

    def _start(self, request: dict[str, Any] | None = None, queued: bool = False, **words: str) -> None:
        begun = self._begin(Request(request or {}))
        assert isinstance(begun, Running)
        self._begun[words["as"]] = begun

    def _finish(self, request: str, expect: dict[str, Any] | None = None) -> None:
        got = _sent(self._end(self._begun.pop(request)))
        if expect is not None:
            compare(got, expect)

    def _cut(self, request: str) -> None:
        """Nothing: there is no connection."""

    def _cut_short(self, request: dict[str, Any]) -> None:
        """Nothing, too."""

    def _begin(self, request: Request) -> Running | Answer:
        if request.user == "sent-away":
            return Answer(401, [], b"who are you?")
        world, route = self._world, self._world.route
        lines = field_lines(request.lines())
        keys = [value for name, value in lines if name.lower() == "idempotency-key"]
        key = None if route is None else route.receive(request.method, keys)
        if isinstance(key, Answer):
            return key
        if route is None or key is None:
            return Running(world.script.begin(), None, request.method)
        if len(request.body) > route.max_request_bytes:
            return route.too_large()
        user = None if request.user == "raises" else request.user
        path, _, query = request.target.encode().partition(b"?")
        kind = None if request.type is None else request.type.encode()
        question = asked(
            world.ledger, route, user, key, Head(request.method, path, query, kind, None, False), request.body
        )
        ruling = question if isinstance(question, Answer) else question.rule()
        if isinstance(question, Answer) or isinstance(ruling, Answer):
            return ruling  # type: ignore[return-value]
        return Running(world.script.begin(), (question, ruling), request.method)

    def _end(self, running: Running) -> Answer:
        claim = running.granted[1] if running.granted else None
        running.play.act(claim)
        ending = running.play.end()
        if running.granted is None or claim is None:
            return ending.answer or Answer(500)
        question = running.granted[0]
        if ending.answer is None or ending.breaks or ending.raises:
            return question.conclude_failure(claim)[0]
        conclusion = question.conclude(claim, ending.answer)
        return conclusion if isinstance(conclusion, Answer) else own(ending.answer, conclusion, running.method)


def _sent(answer: Answer) -> Answer:
    """With what a server adds."""
    if answer.status == 204 or any(name.lower() == "content-length" for name, _ in answer.fields):
        return answer
    return Answer(answer.status, [*answer.fields, ("Content-Length", str(len(answer.body)))], answer.body)


@pytest.mark.parametrize("scenario", [each for each in all_of_them() if not each.only], ids=str)
def test_scenario_of_pure_functions(scenario: Scenario) -> None:
    PureStage(scenario).play()
