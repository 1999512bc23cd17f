"""Real servers with several processes and one file."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyledger._native import Ledger

from .crowd import Crowd
from .wire import PATIENCE

HERE = Path(__file__).parent
KEYS = 500
CLIENTS = 64
PATHS = ("/in_ledger", "/repeatable", "/at_most_once")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def serving(words: list[str], port: int, environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server in a process group of its own, once it listens."""
    path = os.pathsep.join(filter(None, [str(HERE.parent), os.environ.get("PYTHONPATH")]))
    place = {**os.environ, "PYTHONPATH": path, **environment}
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", *words], env=place, stdout=output, stderr=output, start_new_session=True
        )
    try:
        end = time.monotonic() + PATIENCE
        while not _listens(port):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def workers_of(server: subprocess.Popen[bytes]) -> list[int]:
    """Its children that serve: multiprocessing has one more, which tracks what they share."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


@pytest.mark.skipif(sys.platform != "linux", reason="children are found in /proc")
def test_h9_i1_workers_that_are_killed_every_second_run_a_key_one_at_a_time_and_answer_it_once(tmp_path: Path) -> None:
    file, log, port = tmp_path / "crowd.kl", tmp_path / "log", free_port()
    log.touch()
    environment = {"CROWD_LEDGER": str(file), "CROWD_LOG": str(log)}
    words = ["uvicorn", "web.crowd_app:app", "--workers", "4", "--port", str(port), "--log-level", "warning"]
    killed: list[int] = []
    started = time.monotonic()
    with serving([*words, "--no-access-log", "--lifespan", "off"], port, environment, tmp_path / "output") as server:
        crowd = Crowd(port, PATHS, KEYS, CLIENTS)
        crowd.start()
        while not crowd.is_done():
            time.sleep(1)
            # One that has served: on a machine that is slow to start them, all would die before they do.
            at_work = [worker for worker in workers_of(server) if f" {worker}\n" in log.read_text()]
            for worker in at_work[:1]:
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)
            assert time.monotonic() - started < 300, "the clients are not done"
    print(f"{crowd.sent} requests, {len(killed)} workers killed, {time.monotonic() - started:.1f} s")
    assert len(killed) >= 3
    lines = log.read_text().splitlines()
    assert_one_at_a_time(lines, set(killed))
    assert_at_most_once(lines)
    assert_one_answer(crowd)
    assert_effects(file, crowd)


def assert_one_at_a_time(lines: list[str], killed: set[int]) -> None:
    """O_APPEND keeps the order: whoever has begun and not ended is alone, unless it was killed."""
    running: dict[tuple[str, str], int] = {}
    for line in lines:
        what, path, key, worker = line.split()
        held_by = running.get((path, key))
        if what == "begin":
            assert held_by is None or held_by in killed, f"{line}: {held_by} was still at it"
            running[path, key] = int(worker)
        else:
            assert held_by == int(worker), f"{line}: {held_by} was at it"
            del running[path, key]


def assert_at_most_once(lines: list[str]) -> None:
    """Whatever was killed: nobody is told of a second run that came to an end where the first did not."""
    begun = Counter(line for line in (line.rsplit(" ", 1)[0] for line in lines) if line.startswith("begin /at_most"))
    assert len(begun) > KEYS / 2
    assert [line for line, times in begun.items() if times > 1] == []


def assert_one_answer(crowd: Crowd) -> None:
    assert len(crowd.answers) == KEYS * len(PATHS)
    for (path, key), answers in crowd.answers.items():
        assert len(answers) == 1, f"{path} {key}: {answers}"
        ((status, body),) = answers
        parked = path == "/at_most_once" and status == 409 and b"#parked" in body
        assert status == 201 or parked, (path, key, status, body)


def assert_effects(file: Path, crowd: Crowd) -> None:
    """What the rows say is what clients were told."""
    ledger = Ledger(str(file), shared=True)
    rows = {bytes(key).decode(): bytes(value) for key, value in ledger.scan("effects", b"", None, 10 * KEYS)}
    ledger.close()
    told = {key: body for (path, key), answers in crowd.answers.items() if path == "/in_ledger" for _, body in answers}
    assert rows == told
