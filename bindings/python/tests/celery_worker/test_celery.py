"""A real worker of Celery's, prefork, whose processes are killed."""

from __future__ import annotations

import contextlib
import os
import re
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


# A process of its own, which sends tasks as a web backend does: one call to a line.
SENDER = "import app, sys\nfor call in sys.stdin:\n    exec(call)\n    print('sent', flush=True)"


class Worker:
    """A worker of two processes, and what its tasks did."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = environment(folder)
        command = [sys.executable, "-m", "celery", "-A", "app", "worker", "-P", "prefork", "-c", "2", "-l", "info"]
        with (folder / "worker.out").open("w") as out:
            self._process = subprocess.Popen(
                command, env=self.environment, cwd=folder, stdout=out, stderr=out, start_new_session=True
            )
        self._sender = subprocess.Popen(
            [sys.executable, "-c", SENDER],
            env=self.environment,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def send(self, call: str) -> None:
        """Sends a task, from another process than the worker's."""
        assert self._sender.stdin is not None
        assert self._sender.stdout is not None
        # The broker is a folder: a worker that looked meanwhile would read half a message, and end.
        self._process.send_signal(signal.SIGSTOP)
        try:
            self._sender.stdin.write(f"app.{call}\n")
            self._sender.stdin.flush()
            assert self._sender.stdout.readline() == "sent\n"
        finally:
            self._process.send_signal(signal.SIGCONT)

    def ran(self, order: str) -> list[Ran]:
        """What was done for an order."""
        log = self.folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        parts = [line.split() for line in lines if line.endswith(tuple("0123456789abcdef"))]
        return [Ran(of, int(process), key) for _, of, process, key in parts if of == order]

    def words(self) -> str:
        """What the worker logged."""
        return (self.folder / "worker.out").read_text()

    def succeeded(self, task: str) -> list[str]:
        """The ids under which a task succeeded, as often as it did."""
        return re.findall(rf"Task app\.{task}\[(.+?)\] succeeded in", self.words())

    def rejected(self, task: str, why: str) -> bool:
        """Whether one was logged, and rejected for good."""
        words = self.words()
        is_logged = re.search(rf"WARNING/.*app\.{task} {why}: app\.{task} of scope", words)
        return bool(is_logged and re.search(rf"Task app\.{task}\[.+?\] reject requeue=False: {why}", words))

    def until(self, holds: Callable[[], Any], seconds: float = 40) -> Any:
        """Waits until it holds."""
        deadline = time.monotonic() + seconds
        while not (told := holds()):
            assert time.monotonic() < deadline, self.words()[-4000:]
            time.sleep(0.05)
        return told

    def stop(self) -> None:
        """SIGKILL, for all of it."""
        for process in (self._process, self._sender):
            process.kill()
            process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for stream in (self._sender.stdin, self._sender.stdout):
            assert stream is not None
            stream.close()


def environment(folder: Path) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "KEYLEDGER_TEST_FOLDER": str(folder), "PYTHONPATH": path}


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    started = Worker(tmp_path_factory.mktemp("worker"))
    try:
        started.until(lambda: "ready." in started.words())
        yield started
    finally:
        started.stop()


@pytest.fixture
def ledger(worker: Worker) -> Iterator[Ledger]:
    """The worker's ledger, as another process sees it."""
    with keyledger.open(worker.folder / "tasks.kl", shared=True) as opened:
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
    worker.until(lambda: worker.rejected("mail", "parked"))
    assert len(worker.ran("m1")) == 1

    # What was sent twice ran once; what was sent under the same key for something else was rejected.
    worker.send("charge.delay('c2'), app.charge.delay('c2'), app.charge.delay('c2', amount=2), app.charge.delay('c3')")
    worker.until(lambda: worker.ran("c3") and worker.rejected("charge", "mismatch"))
    assert len(worker.ran("c2")) == 1


def test_the_key_is_the_tasks_id_by_default(worker: Worker) -> None:
    worker.send("by_id.apply_async(('t1',), task_id='same'), app.by_id.apply_async(('t1',), task_id='same')")
    worker.send("by_id.delay('t2'), app.by_id.delay('t2')")
    worker.until(lambda: len(worker.ran("t2")) == 2 and len(worker.succeeded("by_id")) == 4)
    assert len(worker.ran("t1")) == 1


def test_a_task_that_is_called_and_not_sent_has_no_id(tmp_path: Path) -> None:
    script = (
        "import app\ntry: app.by_id('x')\nexcept app.keyledger.errors.InvalidKey as e: print(e)\nprint(app.mail('1'))"
    )
    command = [sys.executable, "-c", script]
    called = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, check=True)
    assert "there is no task id to be its key" in called.stdout
    assert called.stdout.endswith("done\n")
