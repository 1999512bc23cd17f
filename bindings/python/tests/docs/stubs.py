"""The docstrings of `_native.pyi`, which editors show, are those of the native module, which are written once: in Rust.

python bindings/python/tests/docs/stubs.py     writes those that differ; then `ruff format`
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from keyledger import _native

STUBS = Path(__file__).parents[2] / "python" / "keyledger" / "_native.pyi"
WIDTH = 120

Node = ast.ClassDef | ast.FunctionDef


class Stub(NamedTuple):
    """A class, method, property or function of the stubs, and what it is at run time."""

    name: str
    node: Node
    real: Any

    @property
    def wanted(self) -> str:
        """What the native module says."""
        return inspect.cleandoc(getattr(self.real, "__doc__", None) or "")

    @property
    def is_as_wanted(self) -> bool:
        """However its lines are broken."""
        return words(ast.get_docstring(self.node) or "") == words(self.wanted)


def words(text: str) -> list[str]:
    return text.split()


def stubs(source: str) -> Iterator[Stub]:
    """Every public one, and the classes that only the package itself uses."""
    for node in ast.parse(source).body:
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef)) or node.name.startswith("_"):
            continue
        real = getattr(_native, node.name)
        yield Stub(node.name, node, real)
        for member in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("__"):
                yield Stub(f"{node.name}.{member.name}", member, getattr(real, member.name))


def lines_of(text: str, indent: str) -> list[str]:
    """A docstring, with lines as long as they may be."""
    blocks = [block for block in re.split(r"\n\s*\n", text) if block.strip()]
    broken = [_broken(block, WIDTH - len(indent)) for block in blocks]
    quote = '"""' if "\\" not in text else 'r"""'
    if len(broken) == 1 and len(broken[0]) == 1 and len(broken[0][0]) + len(indent) <= WIDTH - 6:
        return [f"{indent}{quote}{broken[0][0]}{chr(34) * 3}"]
    said = "\n\n".join("\n".join(block) for block in broken)
    return [(indent + line).rstrip() for line in (quote + said).split("\n")] + [f'{indent}"""']


def _broken(block: str, width: int) -> list[str]:
    lines = block.split("\n")
    if any(line.startswith(("    ", "- ", "* ", "```")) for line in lines):
        return lines
    return textwrap.wrap(" ".join(words(block)), width, break_long_words=False, break_on_hyphens=False)


def written(source: str) -> str:
    """The stubs with the docstrings of the native module."""
    lines = source.split("\n")
    for stub in sorted(stubs(source), key=lambda stub: -stub.node.lineno):
        if not stub.is_as_wanted and stub.wanted:
            _write(lines, stub)
    return "\n".join(lines)


def _write(lines: list[str], stub: Stub) -> None:
    first = stub.node.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.value.value != ...
    new = lines_of(stub.wanted, " " * (stub.node.col_offset + 4))
    if is_docstring:
        lines[first.lineno - 1 : first.end_lineno] = new
        return
    if isinstance(stub.node, ast.ClassDef):
        lines[first.lineno - 1 : first.lineno - 1] = new
        return
    # What stands behind the dots, such as a word for ruff, stays behind the colon.
    head = re.sub(r": \.\.\.", ":", lines[first.lineno - 1])
    lines[first.lineno - 1 : first.lineno] = [head, *new]


if __name__ == "__main__":
    STUBS.write_text(written(STUBS.read_text()))
