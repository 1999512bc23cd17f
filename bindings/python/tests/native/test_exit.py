"""A program that ends ends: with its own exit code, at once and without noise, whatever is under way in the ledger."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

BEGINNING = """
    import asyncio, sys, threading, time
    import keyledger
    from keyledger import Acquired, DeliveryOutcome, Fingerprint, Operation

    ONCE, UNCHECKED = Operation("mail", "at_most_once", lease=60), Fingerprint.unchecked()
    ledger = keyledger.open("file.kl")
"""

JANITOR = """
    def find_out(claim):
        time.sleep(0.05)
        claim.complete("found")

    for number in range(5):
        ledger.begin(ONCE, "s", str(number), UNCHECKED).claim.drop()
    janitor = keyledger.Janitor(ledger, interval=0.001, recover=[(ONCE, find_out)])
    busy = keyledger.Janitor(ledger, interval=0.001, quiet=lambda wall_ms: sum(range(100)) < 0)
    time.sleep(0.1)
"""

DRIVER = """
    outbox = ledger.outbox(backoff=(0.001, 0.001, 1))
    for number in range(5):
        outbox.enqueue("s", "mail", b"1", purpose=str(number))
    driver = outbox.driver("s", lambda delivery: DeliveryOutcome.retry("busy")).start()
    time.sleep(0.05)
"""

DAEMONS = """
    held = ledger.begin(ONCE, "t", "1", UNCHECKED)
    entry, _ = ledger.outbox().enqueue("never", "mail", b"1", purpose="p")

    def forever(wait):
        while True:
            wait()

    waits = [
        lambda: ledger.begin(ONCE, "t", "1", UNCHECKED, wait=30),
        lambda: ledger.begin(ONCE, "t", "1", UNCHECKED, wait=0.001),
        lambda: entry.result(30),
        lambda: ledger.outbox().changes(10**6).next(30),
        lambda: ledger.transaction(lambda tx: time.sleep(0.001)),
        lambda: ledger.sweep(),
    ]
    for wait in waits:
        threading.Thread(target=forever, args=(wait,), daemon=True).start()
    time.sleep(0.1)
"""

FUTURES = """
    async def main():
        held = ledger.begin(ONCE, "u", "1", UNCHECKED)
        global pending
        pending = [ledger.begin_async(ONCE, "u", "1", UNCHECKED, wait=30) for _ in range(3)]
        pending += [ledger.transaction_async(lambda tx: time.sleep(0.01)) for _ in range(20)]
        await asyncio.sleep(0.02)

    asyncio.run(main())
"""

CLAIM = """
    block = ledger.claim(ONCE, "v", "1", UNCHECKED)
    claim = block.__enter__()
"""

LIMIT = 2.0

PARTS = {"janitor": JANITOR, "driver": DRIVER, "daemons": DAEMONS, "futures": FUTURES, "claim": CLAIM}
ENDS = {
    "falls off its end": ("", 0),
    "sys.exit": ("sys.exit(7)", 7),
    "an exception": ("raise SystemExit(9)", 9),
}


def run(folder: Path, *parts: str, end: str = "") -> tuple[int, str, float]:
    """Its exit code, what it said, and for how long it went on after its end: again where others kept the machine busy."""
    ran = run_once(folder, *parts, end=end)
    if ran[2] < LIMIT:
        return ran
    again = folder / "again"
    again.mkdir()
    return run_once(again, *parts, end=end)


def run_once(folder: Path, *parts: str, end: str = "") -> tuple[int, str, float]:
    code = "".join(textwrap.dedent(part) for part in (BEGINNING, *parts, 'print("end", time.time())\n', end))
    environment = {**os.environ, "PYTHONDEVMODE": "", "PYTHONWARNINGS": "ignore"}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=folder,
        env=environment,
        check=False,
    )
    ended = time.time()
    out = ran.stdout.split()
    assert out[:1] == ["end"], ran
    return ran.returncode, ran.stderr, ended - float(out[1])


@pytest.mark.parametrize("part", PARTS)
def test_a_program_ends_whatever_is_under_way(tmp_path: Path, part: str) -> None:
    code, noise, took = run(tmp_path, PARTS[part])
    assert (code, noise) == (0, "")
    assert took < LIMIT


@pytest.mark.parametrize("end", ENDS)
def test_a_program_with_everything_under_way_ends_with_its_own_code(tmp_path: Path, end: str) -> None:
    last, expected = ENDS[end]
    code, noise, took = run(tmp_path, *PARTS.values(), end=last)
    assert (code, noise) == (expected, "")
    assert took < LIMIT


def test_an_exception_is_all_that_is_heard(tmp_path: Path) -> None:
    code, noise, took = run(tmp_path, *PARTS.values(), end='raise ValueError("the program\'s own")')
    assert code == 1
    assert noise.startswith("Traceback")
    assert noise.endswith("ValueError: the program's own\n")
    assert noise.count("Traceback") == 1
    assert took < LIMIT
