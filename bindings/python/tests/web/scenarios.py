"""The files of bindings/conformance/http, read: see the README there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[3] / "conformance" / "http"


@dataclass(frozen=True)
class Scenario:
    """One of them, with the members of its file's route."""

    file: str
    name: str
    only: list[str]
    route: dict[str, Any]
    handlers: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    runs: int

    def __str__(self) -> str:
        return f"{self.file}: {self.name}"


def all_of_them() -> list[Scenario]:
    return [scenario for path in sorted(FOLDER.glob("*.json")) for scenario in _of(path)]


def _of(path: Path) -> list[Scenario]:
    whole = json.loads(path.read_text(encoding="utf-8"))
    return [
        Scenario(
            file=path.stem,
            name=raw["name"],
            only=raw.get("only", []),
            route={**whole["route"], **raw.get("route", {})},
            handlers=_listed(raw.get("handler", {})),
            steps=raw["steps"],
            runs=raw["runs"],
        )
        for raw in whole["scenarios"]
    ]


def _listed(handler: Any) -> list[dict[str, Any]]:
    return handler if isinstance(handler, list) else [handler]


def bytes_of(given: Any) -> bytes:
    """Bytes as a file has them: text, hexadecimal digits, or a text that repeats."""
    if isinstance(given, str):
        return given.encode()
    return bytes.fromhex(given["hex"]) if "hex" in given else (given["repeat"] * given["times"]).encode()


def field_lines(lines: list[str]) -> list[tuple[str, bytes]]:
    split = [line.split(": ", 1) for line in lines]
    return [(name, value.encode()) for name, value in split]


class Request:
    """A request, with what is so when it is not said."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.method: str = raw.get("method", "POST")
        self.target: str = raw.get("target", "/charges")
        self.user: str | None = raw.get("user", "ada")
        self.keys: list[str] = raw.get("keys", ['"key-1"'])
        self.type: str | None = raw.get("type", "application/json")
        self.fields: list[str] = raw.get("fields", [])
        self.body = bytes_of(raw.get("body", '{"amount":5}'))
        self.pieces: int | None = raw.get("pieces")

    def lines(self) -> list[str]:
        """Its field lines, but for those that frame it."""
        user = [] if self.user is None else [f"User: {self.user}"]
        kind = [] if self.type is None else [f"Content-Type: {self.type}"]
        return [*user, *(f"Idempotency-Key: {key}" for key in self.keys), *kind, *self.fields]
