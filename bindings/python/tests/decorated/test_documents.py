"""The README, the guide and the examples: what they show is run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[4]
DOCUMENTS = ["bindings/python/README.md", "docs/python.md"]


class Bank:
    """The one that the README charges."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def charge(self, amount: int, idempotency_key: str) -> dict[str, str]:
        self.keys.append(idempotency_key)
        return {"receipt": str(amount)}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_blocks_of_a_document_run_one_after_the_other(
    document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert len(blocks) > 2
    bank = Bank()
    names: dict[str, Any] = {"bank": bank, "__name__": "document"}
    module = type(sys)("document")
    sys.modules["document"] = module
    module.__dict__.update(names)
    for number, block in enumerate(blocks):
        # Dataclasses look their module up.
        exec(compile(block, f"{document}, block {number}", "exec"), module.__dict__)
    module.__dict__["ledger"].close()
    assert len(bank.keys) == ("README" in document)


def test_the_readme_starts_with_what_to_type_and_ten_lines() -> None:
    lines = (ROOT / DOCUMENTS[0]).read_text().splitlines()
    assert "pip install keyledger" in lines[:6]
    first = re.findall(r"```python\n(.*?)```", "\n".join(lines), re.DOTALL)[0]
    assert len([line for line in first.splitlines() if line.strip()]) <= 10


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
