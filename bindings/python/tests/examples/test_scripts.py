"""The examples, each run as its first lines say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]

SAYS = {
    "agent_tool.py": [
        "call-1 12A is booking 1",
        "call-1 12A is booking 1",
        "call-1 mismatch: this key was used for another request",
        "call-2 failed: nobody answered",
        "call-2 parked: nobody knows",
        "bookings: 1",
    ],
    "celery_mail.py": [
        "sent to ann@example.org",
        "sent to ann@example.org (and once only)",
        "lost: no answer",
        "rejected: parked: nobody knows",
        "found out: 1",
        "sent to lost@example.org, as the log says",
        "mails sent: 2",
    ],
}


@pytest.mark.parametrize("example", SAYS)
def test_an_example_does_what_its_first_lines_say(example: str) -> None:
    script = ROOT / "examples" / "python" / example
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    said = [line for line in ran.stdout.splitlines() if line]
    assert [line[: len(begins)] for line, begins in zip(said, SAYS[example], strict=True)] == SAYS[example]
