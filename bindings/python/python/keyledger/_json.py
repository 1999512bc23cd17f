"""JSON as Python writes it, for the core to read: strictly, and without what JSON cannot hold."""

# What callers bring here may be of any type.
# pyright: basic

from __future__ import annotations

import json
from typing import Any

_encoder = json.JSONEncoder(allow_nan=False, separators=(",", ":"), check_circular=True)
_sorting = json.JSONEncoder(
    allow_nan=False, separators=(",", ":"), check_circular=True, ensure_ascii=False, sort_keys=True
)


def dumps(value: Any) -> str:
    """The text of a JSON value. Names of members are text: Python would write `1` and `"1"` alike, and True as `"true"`."""
    _check_names(value)
    return _encoder.encode(value)


def body(value: Any) -> str:
    """The same for the body of a request: equal values are equal text."""
    _check_names(value)
    return _sorting.encode(value)


def _check_names(value: Any) -> None:
    if isinstance(value, dict):
        for name, member in value.items():
            if not isinstance(name, str):
                raise TypeError(f"a member's name is a {type(name).__qualname__}, not text")
            _check_names(member)
    elif isinstance(value, (list, tuple)):
        for element in value:
            _check_names(element)
