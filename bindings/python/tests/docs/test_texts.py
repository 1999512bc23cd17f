"""Every block of Python in the package's README, the top README and the guide runs as it stands, in a process and a folder of its own.

The words after `python` say how: `continued` runs it behind the blocks above it, `pytest` runs its tests. A block of `text` right
behind one is what it prints, to the letter.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import keyledger

ROOT = Path(__file__).parents[4]
TEXTS = ("bindings/python/README.md", "docs/python.md", "README.md")
FENCE = re.compile(
    r"^```python *(?P<how>[^\n]*)\n(?P<code>.*?)^```\n(?:\n```text\n(?P<prints>.*?)^```$)?", re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    """A block of code, how it is run, and what it prints."""

    where: str
    how: str
    code: str
    prints: str | None


def blocks_of(text: str, name: str) -> list[Block]:
    """The blocks of a text. One that continues has the code of those above it, back to the last that does not."""
    blocks: list[Block] = []
    before = ""
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        how, code = found["how"], found["code"]
        if how != "pytest":
            before = code = (before if how == "continued" else "") + code
        blocks.append(Block(f"{name}:{line}", how, code, found["prints"]))
    return blocks


BLOCKS = [block for name in TEXTS for block in blocks_of((ROOT / name).read_text(), name)]


@pytest.mark.parametrize("block", [pytest.param(block, id=block.where) for block in BLOCKS])
def test_a_block_runs_as_it_stands(block: Block, tmp_path: Path) -> None:
    assert block.how in ("", "continued", "pytest"), f"{block.where}: {block.how!r} is no way to run it"
    ran = run_in(tmp_path, block)
    assert ran.returncode == 0, f"{block.where}\n{ran.stdout}{ran.stderr}"
    if block.prints is not None:
        assert ran.stdout == block.prints, block.where


def test_every_block_is_as_type_checkers_want_it(tmp_path: Path) -> None:
    """`mypy --strict`, as whoever copies a block may have it."""
    told = mypy_of(tmp_path, BLOCKS)
    assert told.returncode == 0, told.stdout + told.stderr


def test_a_block_that_is_typed_wrongly_is_found(tmp_path: Path) -> None:
    told = mypy_of(tmp_path, [Block("x:1", "", "import keyledger\nkeyledger.in_memory().outbx()\n", None)])
    assert "outbx" in told.stdout


def mypy_of(folder: Path, blocks: list[Block]) -> subprocess.CompletedProcess[str]:
    settings = ROOT / "bindings" / "python" / "pyproject.toml"
    for block in blocks:
        name = re.sub(r"\W", "_", block.where)
        (folder / f"{name}.py").write_text(block.code)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        str(settings),
        "--cache-dir",
        str(folder / "cache"),
    ]
    names = sorted(file.name for file in folder.glob("*.py"))
    return subprocess.run([*command, *names], cwd=folder, capture_output=True, text=True, check=False)


def test_the_package_is_shown_with_what_to_type_and_ten_lines() -> None:
    for text in (TEXTS[0], TEXTS[2]):
        first = next(block for block in BLOCKS if block.where.startswith(f"{text}:"))
        assert len([line for line in first.code.splitlines() if line.strip()]) <= 10, text
        assert "import keyledger" in first.code
    assert "pip install keyledger" in (ROOT / TEXTS[0]).read_text().splitlines()[:5]


def test_every_text_has_blocks_and_a_block_of_another_language_is_none() -> None:
    assert {block.where.split(":")[0] for block in BLOCKS} == set(TEXTS)
    assert blocks_of("```rust\nfn main() {}\n```\n", "a text") == []


def test_blocks_of_one_text_do_not_share_a_file_so_that_they_can_be_run_in_one_sitting() -> None:
    for text in TEXTS:
        alone = [block.code for block in BLOCKS if block.where.startswith(f"{text}:") and block.how == ""]
        assert all(re.search(r"^import keyledger$", code, re.MULTILINE) for code in alone), text
        files = [file for code in alone for file in set(re.findall(r'keyledger\.open\("([^"]+)"', code))]
        assert len(set(files)) == len(files) > 0, text


def test_a_block_that_is_wrong_is_found(tmp_path: Path) -> None:
    text = (
        "```python\nx = 1\nassert x == 2\n```\n\ntext\n\n```python pytest\ndef test_it():\n    assert 1 == 2\n```\n\n"
        "```python\nprint('a')\n```\n\n```text\nb\n```\n\n```python continued\nraise SystemExit(3)\n```\n"
    )
    wrong = blocks_of(text, "a text")
    assert [block.where for block in wrong] == ["a text:1", "a text:8", "a text:13", "a text:21"]
    assert [run_in(tmp_path, block).returncode for block in wrong] == [1, 1, 0, 3]
    assert run_in(tmp_path, wrong[2]).stdout != wrong[2].prints
    assert wrong[3].code == "print('a')\nraise SystemExit(3)\n"


def run_in(folder: Path, block: Block) -> subprocess.CompletedProcess[str]:
    """Runs a block; a claim that it forgets is an error."""
    file = folder / "test_block.py"
    file.write_text(block.code)
    how = (
        ["-m", "pytest", "-q", "-p", "no:cacheprovider"] if block.how == "pytest" else ["-W", "error::ResourceWarning"]
    )
    return subprocess.run(
        [sys.executable, *how, str(file)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )


@pytest.mark.parametrize("name", ["Ledger", "Claim", "Outbox", "Entry", "Delivery"])
def test_the_guide_says_which_calls_have_a_twin_for_asyncio(name: str) -> None:
    (row,) = re.findall(rf"^\| `{name}` \| (.*) \|$", (ROOT / "docs" / "python.md").read_text(), re.MULTILINE)
    names = dir(getattr(keyledger, name))
    assert sorted(re.findall(r"`(\w+)`", row)) == [each for each in names if f"{each}_async" in names]
