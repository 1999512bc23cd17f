"""Programs of Python's in processes of their own: run to their end, or killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
PATIENCE_SECONDS = 40


def environment(**more: str) -> dict[str, str]:
    """What a script finds: the helpers of the tests, whatever this process was told, and what is asked for."""
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **more}


def run(source: str, *words: object, seconds: float = PATIENCE_SECONDS, **more: str) -> str:
    """What a script says that runs to its end, with success and without a word of complaint."""
    ran = ended(source, *words, seconds=seconds, **more)
    assert (ran.returncode, ran.stderr) == (0, ""), f"exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def ended(
    source: str, *words: object, seconds: float = PATIENCE_SECONDS, **more: str
) -> subprocess.CompletedProcess[str]:
    """A script that has come to its end, whichever that is. One that does not is killed, and tells where it stood."""
    command = [sys.executable, "-X", "faulthandler", "-c", source, *map(str, words)]
    process = subprocess.Popen(
        command,
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        # faulthandler shows every thread.
        process.send_signal(signal.SIGABRT)
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"it did not end:\n{out}\n{err}") from None
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def told(source: str, *words: object, **more: str) -> Any:
    """The JSON value that a script prints."""
    return json.loads(run(source, *words, **more))


class Started:
    """A script that runs until it is killed, or ends."""

    def __init__(self, source: str, *words: object, **more: str) -> None:
        command = [sys.executable, "-c", source, *map(str, words)]
        self._process = subprocess.Popen(
            command, env=environment(**more), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def says(self) -> str:
        """Its next line."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"it ended with {self._process.wait()}"
        return line.rstrip("\n")

    def send(self, number: int) -> None:
        """A signal."""
        self._process.send_signal(number)

    def go_on(self) -> None:
        """Ends its `input()`."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        """SIGKILL; on return it is gone."""
        self._process.kill()
        self.wait()

    def wait(self, seconds: float = PATIENCE_SECONDS) -> int:
        """How it ended."""
        code = self._process.wait(seconds)
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        return code

    def __enter__(self) -> Started:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.kill()
