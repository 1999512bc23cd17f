"""The handler of a scenario, and its route."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from keyledger._native import Claim, Operation, Response
from keyledger.http import Answer, Route, Stored

from .scenarios import Scenario, bytes_of, field_lines


class Gate:
    """Where handlers that were started wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_to_wait = False
        self._waiting: threading.Event | None = None

    def expect(self, *, waits: bool) -> None:
        """The next handler waits, or does not."""
        with self._lock:
            self._is_to_wait = waits

    def pass_through(self) -> threading.Event | None:
        """What this handler has to wait for, if anything."""
        with self._lock:
            if not self._is_to_wait:
                return None
            self._is_to_wait, self._waiting = False, threading.Event()
            return self._waiting

    def taken(self) -> threading.Event | None:
        """What the handler waits for, once it does."""
        with self._lock:
            waiting, self._waiting = self._waiting, None
            return waiting


class Ending(NamedTuple):
    """How a handler ends: with an answer, whose body may end in an error; or with the error alone."""

    answer: Answer | None
    breaks: bool = False
    raises: bool = False


class Play:
    """One run of a handler."""

    def __init__(self, raw: dict[str, Any], number: int) -> None:
        self._raw, self._number = raw, number
        self._told: bytes | None = None
        self.waits_after: bool = raw.get("waits_after", False)

    def act(self, claim: Claim | None) -> None:
        if claim is None:
            return
        if name := self._raw.get("derives"):
            self._told = claim.derive_key(name).encode()
        if name := self._raw.get("step"):
            self._told = claim.step(name, lambda: str(self._number).encode())
        self._settle(claim, self._raw.get("settles"))

    def _settle(self, claim: Claim, settles: Any) -> None:
        if settles is None:
            return None
        if settles == "release":
            return claim.release()
        ((how, told),) = settles.items()
        if how == "park":
            claim.park(told)
        elif how == "complete":
            claim.complete_with(lambda _: Response("text/plain", self._numbered(told)))
        elif how == "complete_http":
            claim.complete_with(lambda _: self._stored(told))
        else:
            claim.fail(self._stored(told))
        return None

    def end(self) -> Ending:
        raw = self._raw
        if raw.get("raises"):
            return Ending(None, raises=True)
        body = self._told if self._told is not None else self._body(raw.get("body", "run %n"))
        length = raw.get("breaks_after", raw.get("raises_after"))
        fields = field_lines(raw.get("fields", ["Content-Type: text/plain"]))
        answer = Answer(raw.get("status", 201), fields, body[:length])
        return Ending(answer, breaks="breaks_after" in raw, raises="raises_after" in raw)

    def _stored(self, told: dict[str, Any]) -> Response:
        return Answer(told["status"], field_lines(told.get("fields", [])), self._body(told["body"])).to_stored()

    def _body(self, given: Any) -> bytes:
        return self._numbered(given) if isinstance(given, str) else bytes_of(given)

    def _numbered(self, text: str) -> bytes:
        return text.replace("%n", str(self._number)).encode()


class Script:
    """What a handler plays, run by run."""

    def __init__(self, scenario: Scenario) -> None:
        self._handlers = scenario.handlers
        self._lock = threading.Lock()
        self.begun = 0

    def begin(self) -> Play:
        with self._lock:
            self.begun += 1
            return Play(self._handlers[min(self.begun, len(self._handlers)) - 1], self.begun)


_SPANS = ("lease", "retention", "tombstone", "wait")
_PLAIN = (
    "methods",
    "max_body_bytes",
    "max_request_bytes",
    "documentation",
    "not_kept",
    "statuses",
    "leave_out",
    "stream",
)


def route_of(scenario: Scenario) -> Route | None:
    """The route of a scenario; None if it did not opt in."""
    raw = scenario.route
    if raw["key"] == "none":
        return None
    operation = Operation(raw["operation"], raw["effect"]) if "operation" in raw else raw["effect"]
    settings: dict[str, Any] = {name: raw[f"{name}_ms"] / 1000 for name in _SPANS if f"{name}_ms" in raw}
    settings |= {name: raw[name] for name in _PLAIN if name in raw}
    if "keep" in raw:
        settings["keep"] = _keeping(raw["keep"])
    if "redact" in raw:
        settings["redact"] = _REDACTIONS[raw["redact"]]
    return (Route.required if raw["key"] == "required" else Route.optional)(operation, **settings)


def _keeping(words: dict[str, str]) -> Any:
    def keep(status: int, _effect: str) -> str | None:
        word = words.get(str(status))
        if word == "panics":
            raise ValueError("the function raises")
        return word

    return keep


def _fails(_stored: Stored) -> Stored:
    raise ValueError("the hook raises")


_REDACTIONS = {
    "fails": _fails,
    "blank": lambda stored: Stored(stored.status, stored.fields, b"(blank)"),
    "longer": lambda stored: Stored(stored.status, stored.fields, b"x" * (2 << 20)),
}
