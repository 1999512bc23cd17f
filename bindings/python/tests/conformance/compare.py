"""What happened against what was expected, by the rules of bindings/conformance/README.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .values import expected_response, is_bytes, shown_bytes, to_bytes

BYTES = {"memo", "value", "request"}
RESPONSES = {"response", "replayed_failure"}


@dataclass
class Names:
    """What steps before have given names."""

    fences: dict[str, int] = field(default_factory=dict)
    entries: dict[str, tuple[int, str]] = field(default_factory=dict)


def difference(expected: Any, actual: Any, names: Names, path: str = "") -> str | None:
    """Where they differ first; None where `actual` is as `expected` says."""
    if isinstance(expected, dict):
        if "at_least" in expected or "at_most" in expected:
            return _outside(path, expected, actual)
        if is_bytes(expected):
            return _equal(path, shown_bytes(to_bytes(expected)), actual)
        if isinstance(actual, dict):
            members = (_member(path, name, value, actual, names) for name, value in expected.items())
            return next((told for told in members if told), None)
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        pairs = (difference(e, a, names, f"{path}/{i}") for i, (e, a) in enumerate(zip(expected, actual, strict=True)))
        return next((told for told in pairs if told), None)
    return _equal(path, expected, actual)


def _member(path: str, name: str, expected: Any, actual: dict[str, Any], names: Names) -> str | None:
    path = f"{path}/{name}"
    match name:
        case "any_order":
            return None
        case "fence_above":
            return _fence(path, expected, actual, names, lambda found, named: found > named)
        case "fence_equals":
            return _fence(path, expected, actual, names, lambda found, named: found == named)
        case "is":
            return _entry(path, expected, actual.get("id"), names, 0)
        case "successor_is":
            return _entry(path, expected, actual.get("successor"), names, 0)
        case "key_of":
            return _entry(path, expected, actual.get("key"), names, 1)
        case "message_has":
            held = expected in actual.get("message", "")
            return None if held else f"{path}: expected {expected!r} in {actual.get('message')!r}"
    if name in RESPONSES:
        return difference(expected_response(expected), actual.get(name), names, path)
    if name in BYTES:
        return _equal(path, shown_bytes(to_bytes(expected)), actual.get(name))
    if name not in actual:
        return f"{path}: expected {expected!r}, and there is no such member"
    return difference(expected, actual[name], names, path)


def _fence(path: str, name: str, actual: Any, names: Names, holds: Callable[[int, int], bool]) -> str | None:
    found, named = actual.get("fence"), names.fences.get(name)
    if found is not None and named is not None and holds(found, named):
        return None
    return f"{path}: fence {found}, that of {name} is {named}"


def _entry(path: str, name: str, found: Any, names: Names, which: int) -> str | None:
    if name not in names.entries:
        return f"{path}: no entry has been named {name}"
    return _equal(path, names.entries[name][which], found)


def _outside(path: str, bounds: dict[str, int], actual: Any) -> str | None:
    is_in = (
        isinstance(actual, int) and bounds.get("at_least", actual) <= actual and actual <= bounds.get("at_most", actual)
    )
    return None if is_in else f"{path}: expected {bounds}, found {actual!r}"


def _equal(path: str, expected: Any, actual: Any) -> str | None:
    same = type(expected) is type(actual) and expected == actual
    return None if same else f"{path}: expected {_short(expected)}, found {_short(actual)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else text[:300] + "..."
