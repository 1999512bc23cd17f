"""Whether a result that was read back is the one that was stored."""

# What callers bring here may be of any type.
# pyright: basic

from __future__ import annotations

import dataclasses
import datetime
import decimal
from typing import Any

_BY_TEXT = (datetime.datetime, datetime.time, decimal.Decimal)
"""Equal ones may say they are not: a time that a clock shows twice (PEP 495), a number that is none."""


def is_same(result: Any, again: Any) -> bool:
    """By their own equality and, where that says no for a reason that is none, by their parts.

    A tuple that comes back as a list is the same: JSON has one kind of list. Values of a class that has no equality are the same if
    their classes are.
    """
    if result == again:
        return True
    if type(result) is tuple and isinstance(again, list):
        result = list(result)
    if type(result) is not type(again):
        return False
    if isinstance(result, _BY_TEXT):
        return str(result) == str(again)
    if isinstance(result, (list, tuple)):
        return len(result) == len(again) and all(map(is_same, result, again))
    if isinstance(result, dict) and isinstance(again, dict):
        return result.keys() == again.keys() and all(is_same(value, again[name]) for name, value in result.items())
    parts = _parts(result)
    if parts is None:
        equality: Any = type(result).__eq__
        return equality is object.__eq__
    return all(is_same(getattr(result, name), getattr(again, name)) for name in parts) and is_same(
        getattr(result, "__pydantic_extra__", None), getattr(again, "__pydantic_extra__", None)
    )


def _parts(value: Any) -> list[str] | None:
    """The names of what a value is made of. What a model keeps privately is no part of it."""
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value) if field.compare]
    fields = getattr(type(value), "model_fields", None)
    return list(fields) if isinstance(fields, dict) else None
