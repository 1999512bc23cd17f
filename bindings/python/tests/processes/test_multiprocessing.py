"""multiprocessing, by all its ways to start a child (P2, P3)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from .scripts import PATIENCE_SECONDS, environment

METHODS = ["fork", "spawn", "forkserver"]


def answers(method: str, mode: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "processes.crew", method, str(folder / "crew.kl"), mode]
    ran = subprocess.run(
        command,
        env=environment(CREW_LOG=str(folder / "log")),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout)
    assert told["faults"] == []
    assert told["parent"] == ["replay", "replay", "acquired"]
    assert "open its file there" in told["sent"]
    return told


@pytest.mark.parametrize("method", METHODS)
def test_p2_a_shared_ledger_works_in_parent_and_children(method: str, tmp_path: Path) -> None:
    told = answers(method, "shared", tmp_path)
    assert told["own"] == ["in_progress", "replay", "acquired"]
    if method == "fork":
        assert told["inherited"] == ["in_progress", "replay", "acquired"]
    # Forty calls of five orders, by three workers: each ran once, and everybody was told by whom.
    assert Counter((tmp_path / "log").read_text().split()) == Counter("01234")
    by_order = [set(told["numbers"][order::5]) for order in range(5)]
    assert [len(processes) for processes in by_order] == [1] * 5


@pytest.mark.parametrize("method", METHODS)
def test_p2_p3_an_exclusive_ledger_is_its_openers_alone_and_says_what_to_do(method: str, tmp_path: Path) -> None:
    told = answers(method, "exclusive", tmp_path)
    name, code, advice = told["own"]
    assert (name, code) == ("AlreadyOpen", "already_open")
    assert "open it everywhere with shared=True" in advice
    if method == "fork":
        name, code, advice = told["inherited"]
        assert (name, code) == ("Forked", "forked")
        assert "open the ledger after forking" in advice
