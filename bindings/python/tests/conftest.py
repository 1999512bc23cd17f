"""What holds for all tests, also where two of pytest's workers share them (`-n 2`)."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import signal
import tempfile
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in its background so. Programs that tests start would never hear of Ctrl-C, either.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """What is there now stays: whoever collects garbage does not have to look through thousands of tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def quiet_about_left_tasks() -> Iterator[None]:
    """For tests that close a loop in mid-call: each task that is left is told of by asyncio, as it should."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
        gc.collect()


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder for sockets: their paths have at most a hundred bytes, and those of `tmp_path` have more where that of its user has."""
    with tempfile.TemporaryDirectory(prefix="kl-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test that measures time (`alone`) has the machine for itself: of the other worker nothing runs meanwhile."""
    worker = getattr(item.config, "workerinput", None)
    if worker is None:
        return (yield)
    with _turn(worker["testrunuid"], alone=item.get_closest_marker("alone") is not None):
        return (yield)


@contextlib.contextmanager
def _turn(run: str, *, alone: bool) -> Iterator[None]:
    """Whoever wants to be alone keeps the door, so that nobody else comes in while those who are inside end."""
    place = Path(tempfile.gettempdir())
    with (place / f"{run}.door").open("w") as door, (place / f"{run}.room").open("w") as room:
        fcntl.flock(door, fcntl.LOCK_EX)
        fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(door, fcntl.LOCK_UN)
        try:
            yield
        finally:
            # By name, and not by closing: a child that a test has forked has the file open as well.
            fcntl.flock(room, fcntl.LOCK_UN)


def pytest_unconfigure(config: pytest.Config) -> None:
    """The files of the locks go with the run."""
    run = getattr(config, "workerinput", {}).get("testrunuid")
    if run is not None:
        for name in ("door", "room"):
            (Path(tempfile.gettempdir()) / f"{run}.{name}").unlink(missing_ok=True)
