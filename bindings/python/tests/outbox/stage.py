"""What the outbox's tests share: ledgers, a server in a process of its own, and programs that are killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from keyledger import Outbox, _native

SERVER = Path(__file__).with_name("server.py")
QUICK = {"backoff": (0.02, 0.1, 2)}


def outbox_of(path: Path | None = None, *, shared: bool = False, **settings: Any) -> Outbox:
    """An outbox in a file, or in memory, that tries again quickly."""
    return Outbox(_native.Ledger(path, shared=shared), **{**QUICK, **settings})


class Server:
    """A server in a process of its own. It writes each request down before it answers."""

    def __init__(self, folder: Path) -> None:
        self._journal = folder / "journal"
        self._journal.touch()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        words = [sys.executable, str(SERVER), str(self.port), str(self._journal)]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def seen(self) -> list[dict[str, Any]]:
        """All requests so far, in order."""
        return [json.loads(line) for line in self._journal.read_text().splitlines()]

    def wait_for(self, count: int) -> None:
        eventually(lambda: len(self.seen()) >= count)


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def eventually(holds: Any, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.02)


class Program:
    """A Python program in a process of its own."""

    def __init__(self, code: str, *words: object) -> None:
        path = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONPATH": path}
        command = [sys.executable, "-c", textwrap.dedent(code), *map(str, words)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def end(self) -> tuple[int, str, str]:
        """Exit code, and what it said."""
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err
