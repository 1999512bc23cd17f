"""gunicorn with --preload: four workers that are forked from a process in which the app is there already."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .scenarios import Request
from .test_servers import free_port, serving
from .wire import receive, send


def answers(tmp_path: Path, *, shared: str, when: str, keys: list[str]) -> tuple[list[tuple[int, bytes]], str]:
    """What 4 workers answer to each key in turn, four at a time, and what the server's log says."""
    port, log = free_port(), tmp_path / "output"
    environment = {"FORKED_LEDGER": str(tmp_path / "shop.kl"), "FORKED_SHARED": shared, "FORKED_WHEN": when}
    words = ["gunicorn", "--preload", "--workers", "4", "--bind", f"127.0.0.1:{port}", "web.forked_app:app"]
    with serving(words, port, environment, log) as server:
        wait_for_workers(server)
        # At once, so that no worker has all of them.
        with ThreadPoolExecutor(4) as clients:
            told = list(clients.map(lambda key: ask(port, key), keys))
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(20)
    return told, log.read_text()


def wait_for_workers(server: subprocess.Popen[bytes]) -> None:
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    while len(children.read_text().split()) < 4:
        time.sleep(0.02)


def ask(port: int, key: str) -> tuple[int, bytes]:
    while True:
        answer = receive(send(port, Request({"keys": [f'"{key}"']})), has_body=True)
        assert answer is not None
        if b"#in-progress" not in answer.body:
            return answer.status, answer.body


ONE_KEY = ["key-1"] * 100


@pytest.mark.parametrize("when", ["before", "after"])
def test_p3_a_shared_ledger_serves_all_workers(tmp_path: Path, when: str) -> None:
    started = time.monotonic()
    told, log = answers(tmp_path, shared="yes", when=when, keys=ONE_KEY)
    print(f"gunicorn, {len(told)} requests to 4 workers: {time.monotonic() - started:.1f} s")
    assert len(set(told)) == 1, (told, log)
    assert told[0][0] == 201


def test_p3_an_exclusive_ledger_opened_before_the_fork_is_refused_with_advice(tmp_path: Path) -> None:
    told, log = answers(tmp_path, shared="no", when="before", keys=ONE_KEY[:4])
    assert {status for status, _ in told} == {503}
    assert "(forked)" in log
    assert "after" in log.partition("(forked)")[2].splitlines()[0]


def test_p3_an_exclusive_ledger_opened_after_the_fork_is_one_workers_alone(tmp_path: Path) -> None:
    told, log = answers(tmp_path, shared="no", when="after", keys=ONE_KEY)
    assert {status for status, _ in told} == {201, 503}
    assert len({body for status, body in told if status == 201}) == 1
    assert "(already_open)" in log
    assert "shared" in log.partition("(already_open)")[2].splitlines()[0]
