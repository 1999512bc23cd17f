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


@pytest.mark.parametrize("checker", CHECKERS)
def test_lines_that_are_wrong_are_refused_and_no_others(checker: str) -> None:
    uses = HERE / "idempotent_refused.py"
    wrong = {number for number, line in enumerate(uses.read_text().splitlines(), 1) if "# expect: error" in line}
    ran = subprocess.run(
        [sys.executable, "-m", *CHECKERS[checker], str(uses)], capture_output=True, text=True, check=False
    )
    told = re.findall(r"idempotent_refused\.py:(\d+)(?::\d+)?(?: -|:) error", ran.stdout)
    assert {int(line) for line in told} == wrong, ran.stdout + ran.stderr
