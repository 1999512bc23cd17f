"""Type checkers: what has to be refused is refused, and nothing else is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SETTINGS = HERE.parents[1] / "pyproject.toml"
CHECKERS = {
    "mypy": ["mypy", "--strict", "--no-warn-unused-ignores", "--config-file", str(SETTINGS)],
    "pyright": ["pyright", "--project", str(SETTINGS.parent), "--pythonpath", sys.executable],
}
USES = {uses.name: uses for uses in HERE.glob("*_refused.py") if uses.name != Path(__file__).name}


@pytest.mark.parametrize("checker", CHECKERS)
def test_lines_that_are_wrong_are_refused_and_no_others(checker: str) -> None:
    command = [sys.executable, "-m", *CHECKERS[checker], *map(str, USES.values())]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    told = re.findall(r"(\w+_refused\.py):(\d+)(?::\d+)?(?: -|:) error", ran.stdout)
    assert {(name, int(line)) for name, line in told} == set(wrong()), ran.stdout + ran.stderr


def wrong() -> list[tuple[str, int]]:
    return [
        (name, number)
        for name, uses in USES.items()
        for number, line in enumerate(uses.read_text().splitlines(), 1)
        if "# expect: error" in line
    ]


def test_there_are_lines_to_refuse_in_every_file() -> None:
    assert {name for name, _ in wrong()} == {"idempotent_refused.py", "outbox_refused.py"}
