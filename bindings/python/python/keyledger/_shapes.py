"""What a return annotation says about JSON: how its values are written, and read back as the same type."""

# What callers bring here may be of any type.
# pyright: basic

from __future__ import annotations

import base64
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import inspect
import json
import types
import typing
import uuid
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from keyledger import _models

Conversion = Callable[[Any], Any]

_ATOMS: frozenset[Any] = frozenset({Any, object, None, type(None), bool, int, float, str, inspect.Parameter.empty})
_LISTS: frozenset[Any] = frozenset({list, collections.abc.Sequence, collections.abc.Collection})
_DICTS: frozenset[Any] = frozenset({dict, collections.abc.Mapping, collections.abc.MutableMapping})
_SETS: frozenset[Any] = frozenset({set, frozenset, tuple})
_PLAIN = _ATOMS | _LISTS | _DICTS
_OF_MEMBERS = ("Required", "NotRequired", "ReadOnly")
"""What `TypedDict` says of members, by whichever of `typing` and `typing_extensions`."""
_TEXTS: dict[Any, tuple[Conversion, Conversion]] = {
    datetime.datetime: (datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    datetime.date: (datetime.date.isoformat, datetime.date.fromisoformat),
    datetime.time: (datetime.time.isoformat, datetime.time.fromisoformat),
    decimal.Decimal: (str, decimal.Decimal),
    uuid.UUID: (str, uuid.UUID),
    bytes: (lambda value: base64.b64encode(value).decode("ascii"), base64.b64decode),
}


class Unsupported(Exception):
    """JSON cannot bring values of this annotation back."""


class Shape(NamedTuple):
    """How values of a type are written as JSON values and read back. None: as they are."""

    write: Conversion | None
    read: Conversion | None


PLAIN = Shape(None, None)


def shape_of(annotation: Any) -> Shape:
    """The shape of a type, or `Unsupported` with the part of it that JSON has no room for."""
    return _Shapes().of(annotation)


class _Shapes:
    """Shapes by class, so that a class may mention itself."""

    def __init__(self) -> None:
        self._known: dict[Any, Shape] = {}

    def of(self, annotation: Any) -> Shape:
        annotation = bare(annotation)
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if arguments:
            return self._generic(annotation, origin, arguments)
        return self._simple(annotation if origin is None else origin)

    def _simple(self, annotation: Any) -> Shape:
        if not isinstance(annotation, collections.abc.Hashable):
            raise Unsupported(annotation)
        if annotation in _PLAIN or isinstance(annotation, typing.TypeVar):
            return PLAIN
        if annotation in _TEXTS:
            return Shape(*_TEXTS[annotation])
        if annotation in _SETS:
            return _each(PLAIN, typing.cast("Callable[[Any], Any]", annotation), always=True)
        if isinstance(annotation, type):
            return self._class(annotation)
        raise Unsupported(annotation)

    def _generic(self, annotation: Any, origin: Any, arguments: tuple[Any, ...]) -> Shape:
        if origin in (typing.Union, types.UnionType):
            return self._union(annotation, arguments)
        if origin is typing.Literal:
            return _of_literal(annotation, arguments)
        if origin in _LISTS:
            return _each(self.of(arguments[0]), list)
        if origin in (set, frozenset):
            return _each(self.of(arguments[0]), origin, always=True)
        if origin is tuple:
            return self._tuple(arguments)
        if origin in _DICTS:
            return self._dict(annotation, *arguments)
        raise Unsupported(annotation)

    def _union(self, annotation: Any, arguments: tuple[Any, ...]) -> Shape:
        """Which of the members a JSON value was, JSON tells of plain ones alone: so one that is not plain has only None beside it."""
        shapes = {argument: self.of(argument) for argument in arguments}
        special = [shape for shape in shapes.values() if shape != PLAIN]
        if not special:
            return PLAIN
        others = [argument for argument, shape in shapes.items() if shape == PLAIN and argument is not type(None)]
        if len(special) > 1 or others:
            raise Unsupported(annotation)
        return Shape(_unless_none(special[0].write), _unless_none(special[0].read))

    def _tuple(self, arguments: tuple[Any, ...]) -> Shape:
        if len(arguments) == 2 and arguments[1] is Ellipsis:  # noqa: PLR2004 (tuple[T, ...])
            return _each(self.of(arguments[0]), tuple, always=True)
        shapes = [self.of(argument) for argument in arguments]
        return Shape(
            lambda values: [_apply(shape.write, value) for shape, value in zip(shapes, values, strict=True)],
            lambda values: tuple(_apply(shape.read, value) for shape, value in zip(shapes, values, strict=True)),
        )

    def _dict(self, annotation: Any, name: Any, value: Any) -> Shape:
        of_value = self.of(value)
        if name is str and of_value == PLAIN:
            return PLAIN
        of_name = Shape(str, int) if name is int else self.of(name)
        if name not in (str, int) and name not in _TEXTS:
            raise Unsupported(annotation)
        return Shape(_items(of_name.write, of_value.write), _items(of_name.read, of_value.read))

    def _class(self, of: type) -> Shape:
        if of not in self._known:
            # A class that mentions itself finds this, which looks again when it is used.
            self._known[of] = Shape(
                lambda value: _apply(self._known[of].write, value), lambda value: _apply(self._known[of].read, value)
            )
            self._known[of] = self._known_class(of)
        return self._known[of]

    def _known_class(self, of: type) -> Shape:
        if issubclass(of, enum.Enum):
            return _of_enum(of)
        if _models.is_model(of):
            return _of_pydantic(of)
        if dataclasses.is_dataclass(of):
            hints = typing.get_type_hints(of, include_extras=True)
            return self._fields(of, {field.name: hints[field.name] for field in dataclasses.fields(of) if field.init})
        if issubclass(of, dict) and hasattr(of, "__total__"):
            return self._typed_dict(typing.get_type_hints(of, include_extras=True))
        if issubclass(of, tuple) and hasattr(of, "_fields"):
            return self._fields(of, typing.get_type_hints(of, include_extras=True))
        raise Unsupported(of)

    def _fields(self, of: type, hints: Mapping[str, Any]) -> Shape:
        shapes = {name: self.of(hint) for name, hint in hints.items()}
        if not _is_made_of(of, hints):
            raise Unsupported(of)
        return Shape(
            lambda value: {name: _apply(shape.write, getattr(value, name)) for name, shape in shapes.items()},
            lambda value: of(**{name: _apply(shapes[name].read, member) for name, member in value.items()}),
        )

    def _typed_dict(self, hints: Mapping[str, Any]) -> Shape:
        shapes = {name: self.of(hint) for name, hint in hints.items()}
        if all(shape == PLAIN for shape in shapes.values()):
            return PLAIN
        of = shapes.get
        return Shape(
            lambda value: {name: _apply(of(name, PLAIN).write, member) for name, member in value.items()},
            lambda value: {name: _apply(of(name, PLAIN).read, member) for name, member in value.items()},
        )


def bare(annotation: Any) -> Any:
    """The annotation without what says nothing about JSON."""
    while True:
        origin = typing.get_origin(annotation)
        if origin is typing.Annotated or getattr(origin, "_name", None) in _OF_MEMBERS:
            annotation = typing.get_args(annotation)[0]
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":
            annotation = annotation.__value__
        else:
            return annotation


def _apply(conversion: Conversion | None, value: Any) -> Any:
    return value if conversion is None else conversion(value)


def _unless_none(conversion: Conversion | None) -> Conversion:
    return lambda value: None if value is None else _apply(conversion, value)


def _each(shape: Shape, made: Callable[[Any], Any], *, always: bool = False) -> Shape:
    if shape == PLAIN and not always:
        return PLAIN
    return Shape(
        lambda values: [_apply(shape.write, value) for value in values],
        lambda values: made([_apply(shape.read, value) for value in values]),
    )


def _items(of_name: Conversion | None, of_value: Conversion | None) -> Conversion:
    return lambda members: {_apply(of_name, name): _apply(of_value, value) for name, value in members.items()}


def _of_literal(annotation: Any, values: tuple[Any, ...]) -> Shape:
    if all(isinstance(value, (str, int, type(None))) and not isinstance(value, enum.Enum) for value in values):
        return PLAIN
    raise Unsupported(annotation)


def _of_enum(of: type[enum.Enum]) -> Shape:
    """By value, if each of them comes back as its member."""
    try:
        if all(of(json.loads(json.dumps(member.value))) is member for member in of):
            return Shape(lambda member: member.value, of)
    except (TypeError, ValueError):
        pass
    raise Unsupported(of)


def _is_made_of(of: type, hints: Mapping[str, Any]) -> bool:
    """Whether the fields are enough to make one: an `InitVar` or an `__init__` of its own may want more."""
    try:
        inspect.signature(of).bind(**dict.fromkeys(hints))
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _of_pydantic(of: Any) -> Shape:
    never = _models.never_back(of)
    if never is not None:
        raise Unsupported(never)
    return Shape(_models.write, _models.reader(of))
