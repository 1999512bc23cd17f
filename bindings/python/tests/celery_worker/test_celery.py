"""A real worker of Celery's, prefork, whose processes are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import keyledger
from keyledger import Fingerprint, Ledger

HERE = Path(__file__).parent


class Ran(NamedTuple):
    """One line of the log."""

    order: str
    process: int
    key: str


class Worker:
    """A worker of two processes, and what its tasks did."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.environment = {**os.environ, "KEYLEDGER_TEST_FOLDER": str(folder), "PYTHONPATH": str(HERE)}
        command = [sys.executable, "-m", "celery", "-A", "app", "worker", "-P", "prefork", "-c", "2", "-l", "info"]
        with (folder / "worker.out").open("w") as out:
            self._process = subprocess.Popen(command, env=self.environment, cwd=folder, stdout=out, stderr=out)

    def send(self, call: str) -> None:
        """Sends a task from a process of its own, as a web backend does."""
        command = [sys.executable, "-c", f"import app; app.{call}"]
        subprocess.run(command, env=self.environment, cwd=self._folder, check=True, timeout=60)

    def ran(self, order: str) -> list[Ran]:
        """What was done for an order."""
        log = self._folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        parts = [line.split() for line in lines if line.endswith(tuple("0123456789abcdef"))]
        return [Ran(of, int(process), key) for _, of, process, key in parts if of == order]

    def words(self) -> str:
        """What the worker logged."""
        return (self._folder / "worker.out").read_text()

    def until(self, holds: Callable[[], Any], seconds: float = 40) -> Any:
        """Waits until it holds."""
        deadline = time.monotonic() + seconds
        while not (told := holds()):
            assert time.monotonic() < deadline, self.words()[-4000:]
            time.sleep(0.05)
        return told

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(3)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    started = Worker(tmp_path)
    try:
        started.until(lambda: "ready." in started.words())
        yield started
    finally:
        started.stop()


@pytest.fixture
def ledger(tmp_path: Path, worker: Worker) -> Iterator[Ledger]:
    """The worker's ledger, as another process sees it."""
    worker.until((tmp_path / "worker.out").exists)
    with keyledger.open(tmp_path / "tasks.kl", shared=True) as opened:
        yield opened


def stands(ledger: Ledger, effect: str, task: str, order: str) -> str:
    operation = keyledger.Operation(f"app.{task}", effect)
    return ledger.ask(operation, "(single)", order, Fingerprint.unchecked()).KIND


def test_a_task_that_is_killed_runs_again_or_is_parked_by_its_effect(worker: Worker, ledger: Ledger) -> None:
    worker.send("charge.delay('c1', seconds=120), app.mail.delay('m1', seconds=120)")
    for order in ("c1", "m1"):
        (first,) = worker.until(lambda order=order: worker.ran(order))
        os.kill(first.process, signal.SIGKILL)
    worker.until(lambda: stands(ledger, "repeatable", "charge", "c1") == "replay")
    first, second = worker.ran("c1")
    assert first.key == second.key
    assert first.process != second.process

    worker.until(lambda: stands(ledger, "at_most_once", "mail", "m1") == "parked")
    worker.send("mail.delay('m1', seconds=0)")
    worker.until(lambda: "app.mail parked" in worker.words())
    assert len(worker.ran("m1")) == 1

    # What was sent twice ran once; what was sent under the same key for something else was rejected.
    worker.send("charge.delay('c2'), app.charge.delay('c2'), app.charge.delay('c2', amount=2), app.charge.delay('c3')")
    worker.until(lambda: worker.ran("c3") and "app.charge mismatch" in worker.words())
    assert len(worker.ran("c2")) == 1


def test_the_key_is_the_tasks_id_by_default(worker: Worker) -> None:
    worker.send("by_id.apply_async(('t1',), task_id='same'), app.by_id.apply_async(('t1',), task_id='same')")
    worker.send("by_id.delay('t2'), app.by_id.delay('t2')")
    worker.until(lambda: len(worker.ran("t2")) == 2 and worker.words().count("succeeded in") >= 4)
    assert len(worker.ran("t1")) == 1


def test_a_task_that_is_called_and_not_sent_has_no_id(tmp_path: Path) -> None:
    script = (
        "import app\ntry: app.by_id('x')\nexcept app.keyledger.errors.InvalidKey as e: print(e)\nprint(app.mail('1'))"
    )
    environment = {**os.environ, "KEYLEDGER_TEST_FOLDER": str(tmp_path), "PYTHONPATH": str(HERE)}
    called = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert "there is no task id to be its key" in called.stdout
    assert called.stdout.endswith("done\n")
