"""The interpreter's lock is let go of around every call that may sync, and by `begin` only then."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .locked import TICKS
from .scripts import PATIENCE_SECONDS, environment

pytestmark = pytest.mark.alone

SYNC_MS = 30
VERY_SLOW_MS = 100


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which a sync takes its time."""
    if sys.platform != "linux":
        pytest.skip("syncs are slowed by LD_PRELOAD")
    assert shutil.which("cc"), "a library that slows syncs has to be compiled: install a C compiler (Debian: gcc)"
    library = tmp_path_factory.mktemp("slow") / "slow_sync.so"
    source = Path(__file__).parent / "slow_sync.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return environment(LD_PRELOAD=str(library), KEYLEDGER_SYNC_MS=str(SYNC_MS))


def told(what: str, file: Path, place: dict[str, str]) -> Any:
    command = [sys.executable, "-m", "processes.locked", what, str(file)]
    ran = subprocess.run(command, env=place, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
    return json.loads(ran.stdout)


def test_others_run_during_every_call_that_syncs(slow: dict[str, str], tmp_path: Path) -> None:
    ticks: dict[str, int] = told("syncing", tmp_path / "locked.kl", slow)
    assert len(ticks) > 35
    # The lock is free while the disk is waited for: a sync of 30 ms is 30 ticks of an idle machine.
    assert {name: ticked for name, ticked in ticks.items() if ticked < TICKS} == {}


def test_begin_keeps_the_lock_where_nothing_has_to_be_waited_for(tmp_path: Path) -> None:
    ticks = told("quick", tmp_path / "locked.kl", environment())
    assert ticks == {"replay": 0, "in_progress": 0, "mismatch": 0, "in_ledger": 0, "decorated": 0}


def test_an_event_loop_is_in_time_beside_calls_that_sync(
    slow: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sixteen tasks that commit all the time: the loop never waits for the disk."""
    figures: dict[str, float] = told(
        "lateness", tmp_path / "locked.kl", {**slow, "KEYLEDGER_SYNC_MS": str(VERY_SLOW_MS)}
    )
    with capsys.disabled():
        print(
            f"\nevent loop beside {figures['calls']:.0f} calls on a disk of {VERY_SLOW_MS} ms a sync, {figures['seconds']:.1f} s: "
            f"late by {figures['p99_ms']:.1f} ms at p99, {figures['worst_ms']:.1f} ms at worst"
        )
    assert figures["calls"] == 240
    assert figures["looks"] > 50
    # Others of the machine make it late, too: it is held against what waiting for one sync would be.
    assert figures["p99_ms"] < VERY_SLOW_MS / 2
