"""Threads of one worker (`-P threads`) share its tasks, and its ledger, which the first of them opens."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from celery import Celery
from celery.app.trace import build_tracer

import keyledger
from keyledger import Operation, _kept
from keyledger.celery import Task, opened_here

GUIDE = Path(__file__).parents[4] / "docs" / "python.md"
SECONDS = 20


def at_once(count: int, call: Callable[[], Any]) -> list[Any]:
    """What each of several threads gets, or the error that it meets."""
    told: list[Any] = []

    def run() -> None:
        try:
            told.append(call())
        except BaseException as error:
            told.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive()
    return told


class Opening:
    """In place of `keyledger.open`: whoever calls it waits until others do, for as long as they might."""

    def __init__(self, others: int) -> None:
        self.opened: list[object] = []
        self._meet = threading.Barrier(1 + others)

    def __call__(self, *_: Any, **__: Any) -> object:
        with contextlib.suppress(threading.BrokenBarrierError):
            self._meet.wait(0.5)
        self.opened.append(object())
        return self.opened[-1]


def opener_of_the_guide(_path: Path) -> object:
    return GUIDE_NAMES["get_ledger"]()


GUIDE_NAMES: dict[str, Any] = {}


@pytest.fixture(params=["opened_here", "the guide"])
def opener(request: pytest.FixtureRequest) -> Callable[[Path], Any]:
    if request.param == "opened_here":
        return opened_here
    found = re.search(
        r"^```python\n(?P<code>(?:(?!^```).*\n)*?def get_ledger(?:.*\n)+?)\n\n", GUIDE.read_text(), re.MULTILINE
    )
    assert found is not None
    GUIDE_NAMES.clear()
    exec(found["code"], GUIDE_NAMES)
    return opener_of_the_guide


def test_first_calls_that_come_at_once_open_the_file_once(
    opener: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opening = Opening(others=3)
    monkeypatch.setattr(keyledger, "open", opening)
    told = at_once(4, lambda: opener(tmp_path / "file.kl"))
    assert told == [opening.opened[0]] * 4
    assert len(opening.opened) == 1


def test_an_opener_that_was_interrupted_lets_the_next_one_open(
    opener: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(*_: Any, **__: Any) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(keyledger, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        opener(tmp_path / "file.kl")
    monkeypatch.setattr(keyledger, "open", lambda *_, **__: "a ledger")
    assert at_once(1, lambda: opener(tmp_path / "file.kl")) == ["a ledger"]


def test_a_child_that_is_forked_while_a_thread_opens_the_file_opens_it_for_itself(
    opener: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    parent, is_opening, goes_on = os.getpid(), threading.Event(), threading.Event()

    def slow(*_: Any, **__: Any) -> object:
        if os.getpid() == parent:
            is_opening.set()
            goes_on.wait(SECONDS)
        return os.getpid()

    monkeypatch.setattr(keyledger, "open", slow)
    thread = threading.Thread(target=opener, args=(tmp_path / "file.kl",))
    thread.start()
    assert is_opening.wait(SECONDS)
    if (child := os.fork()) == 0:
        signal.alarm(5)
        os._exit(0 if opener(tmp_path / "file.kl") == os.getpid() else 1)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    goes_on.set()
    thread.join(SECONDS)
    assert ended == 0
    assert opener(tmp_path / "file.kl") == parent


def test_every_one_of_the_tasks_that_are_refused_at_once_is_retried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    app = Celery("threads", broker="memory://", backend="cache+memory://")
    settings = {"ledger": tmp_path / "file.kl", "effect": "repeatable", "key": "order"}

    @app.task(base=Task, keyledger=settings)  # type: ignore[untyped-decorator]
    def charge(order: str) -> str:
        raise AssertionError(order)

    both = threading.Barrier(2)
    leave = _kept.Asked.__exit__

    def leave_together(self: Any, *error: Any) -> None:
        leave(self, *error)
        both.wait(SECONDS)

    ledger = opened_here(tmp_path / "file.kl")
    held = ledger.begin(Operation(charge.name, "repeatable"), keyledger.SINGLE, "1", keyledger.Fingerprint.unchecked())
    # Each was refused, and neither has been told yet what that means for it.
    monkeypatch.setattr(_kept.Asked, "__exit__", leave_together)
    assert at_once(2, lambda: delivered(charge, app)) == ["RETRY", "RETRY"]
    held.claim.release()


def delivered(task: Any, app: Celery) -> str:
    """What comes of a message that a worker was given."""
    number = str(uuid4())
    request = {
        "args": ["1"],
        "called_directly": False,
        "delivery_info": {},
        "hostname": "here",
        "id": number,
        "is_eager": False,
        "kwargs": {},
        "reply_to": None,
        "retries": 0,
    }
    traced = build_tracer(task.name, task, app=app)(number, ("1",), {}, request)
    return getattr(traced.info, "state", "SUCCESS")
