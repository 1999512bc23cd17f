"""Whether a plain JSON value is what a return annotation says."""

# What callers bring here may be of any type.
# pyright: basic

from __future__ import annotations

import collections.abc
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from keyledger._shapes import bare

Fits = Callable[[Any], bool]

_KINDS: dict[Any, type | tuple[type, ...]] = {
    None: type(None),
    type(None): type(None),
    bool: bool,
    int: int,
    # As type checkers take it: a whole number is a float, too (PEP 484).
    float: (int, float),
    str: str,
    list: list,
    dict: dict,
    collections.abc.Mapping: dict,
    collections.abc.MutableMapping: dict,
}
_ANYTHING = (Any, object, inspect.Parameter.empty)


def fits_of(annotation: Any) -> Fits | None:
    """What tells whether a value that JSON brought back is of the type. None: whatever it is, or a type that is no plain one."""
    annotation = bare(annotation)
    if not isinstance(annotation, collections.abc.Hashable) or annotation in _ANYTHING:
        return None
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _any_of([fits_of(argument) for argument in arguments])
    if origin is typing.Literal:
        known = {(type(value), value) for value in arguments}
        return lambda value: isinstance(value, collections.abc.Hashable) and (type(value), value) in known
    kind = _KINDS.get(annotation if origin is None else origin)
    if kind is None:
        return None
    if not arguments:
        return lambda value: isinstance(value, kind)
    return _with_members(kind, fits_of(arguments[-1]))


def _any_of(members: list[Fits | None]) -> Fits | None:
    known = [fits for fits in members if fits is not None]
    return None if len(known) < len(members) else lambda value: any(fits(value) for fits in known)


def _with_members(kind: type | tuple[type, ...], fits: Fits | None) -> Fits:
    if fits is None:
        return lambda value: isinstance(value, kind)
    if kind is dict:
        return lambda value: isinstance(value, dict) and all(map(fits, value.values()))
    return lambda value: isinstance(value, list) and all(map(fits, value))
