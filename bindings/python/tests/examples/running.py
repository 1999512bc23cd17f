"""Programs that are started as their first lines say, and killed with everything that they have started."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx
from typing_extensions import Self

EXAMPLES = Path(__file__).parents[4] / "examples" / "python"
PATIENCE_SECONDS = 30.0

_T = TypeVar("_T")


def until(what: str, found: Callable[[], _T | None], said: Callable[[], str] = str) -> _T:
    """Waits until it holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (told := found()):
        assert time.monotonic() < deadline, f"in vain: {what}\n{said()[-4000:]}"
        time.sleep(0.02)
    return told


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Program:
    """A program with all its processes, while its block runs."""

    def __init__(self, *words: str, folder: Path, **environment: str) -> None:
        self._command = [sys.executable, "-m", *words]
        self._folder, self._environment = folder, {**os.environ, **environment, "PYTHONDONTWRITEBYTECODE": "1"}
        self._words = folder / "program.log"

    def __enter__(self) -> Self:
        with self._words.open("a") as log:
            self.process = subprocess.Popen(
                self._command,
                cwd=self._folder,
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self

    def __exit__(self, *error: object) -> None:
        """SIGKILL, for all of it: what it has promised is on disk."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def said(self) -> str:
        return self._words.read_text()

    def children(self) -> list[int]:
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(number) for number in listed.split()]


class Server(Program):
    """A server of the web, with workers; entered, it answers."""

    def __init__(self, *words: str, port: int, folder: Path, **environment: str) -> None:
        super().__init__(*words, folder=folder, **environment)
        self._url = f"http://127.0.0.1:{port}"

    def __enter__(self) -> Self:
        super().__enter__()
        until("the server answers", self._answers, self.said)
        return self

    def _answers(self) -> bool:
        assert self.process.poll() is None, self.said()
        try:
            httpx.get(self._url, timeout=1)
        except httpx.TransportError:
            return False
        return True

    def post(self, path: str, **request: Any) -> httpx.Response:
        return httpx.post(self._url + path, timeout=PATIENCE_SECONDS, **request)

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self._url + path, timeout=PATIENCE_SECONDS)


def uvicorn(app: str, folder: Path, **environment: str) -> Server:
    port = free_port()
    words = ("uvicorn", "--app-dir", str(EXAMPLES), app, "--workers", "2", "--port", str(port))
    return Server(*words, port=port, folder=folder, **environment)


def gunicorn(app: str, folder: Path, **environment: str) -> Server:
    port = free_port()
    words = ("gunicorn", "--chdir", str(EXAMPLES), app, "--workers", "2", "--bind", f"127.0.0.1:{port}")
    return Server(*words, port=port, folder=folder, **environment)
