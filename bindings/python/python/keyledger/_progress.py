"""How a drain shows how far it is: a bar of tqdm or rich where one of them is installed, else a line on a terminal."""

# Bars of other libraries: none of them has to be here.
# pyright: basic

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeAlias

from keyledger._native import DrainProgress

Show: TypeAlias = "Callable[[DrainProgress], object]"


@contextmanager
def showing(progress: bool | Show) -> Generator[Show | None, None, None]:
    """What a drain is to call, while it runs: none, the caller's own, or a bar."""
    if callable(progress):
        yield progress
    elif not progress:
        yield None
    else:
        show, end = _bar()
        try:
            yield show
        finally:
            end()


def _bar() -> tuple[Show, Callable[[], object]]:
    for bar in (_tqdm, _rich):
        try:
            return bar()
        except ImportError:
            continue
    return _line()


def _tqdm() -> tuple[Show, Callable[[], object]]:
    from tqdm import tqdm  # noqa: PLC0415 - only where a bar is wanted

    bar: Any = tqdm(unit=" entries", desc="outbox")

    def show(now: DrainProgress) -> None:
        bar.total = now.settled + now.remaining
        bar.set_postfix(sent=now.sent, refresh=False)
        # It draws as often as tqdm thinks right, and not with every entry.
        bar.update(now.settled - bar.n)

    return show, bar.close


def _rich() -> tuple[Show, Callable[[], object]]:
    from rich.progress import Progress  # noqa: PLC0415 - only where a bar is wanted  # pyright: ignore[reportMissingImports]

    bar: Any = Progress()
    task = bar.add_task("outbox", total=None)
    bar.start()

    def show(now: DrainProgress) -> None:
        bar.update(task, completed=now.settled, total=now.settled + now.remaining)

    return show, bar.stop


def _line() -> tuple[Show, Callable[[], object]]:
    is_terminal = sys.stderr.isatty()

    def show(now: DrainProgress) -> None:
        if is_terminal:
            said = f"\routbox: {now.settled} settled, {now.remaining} left, {now.sent} sent "
            print(said, end="", file=sys.stderr, flush=True)

    def end() -> None:
        if is_terminal:
            print(file=sys.stderr)

    return show, end
