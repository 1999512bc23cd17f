"""Pydantic's models as JSON values, and which of them do not come back."""

# What callers bring here may be of any type.
# pyright: basic

from __future__ import annotations

import json
import typing
from collections.abc import Iterator
from typing import Any


def is_model(of: Any) -> bool:
    """Whether it is a class of models."""
    return isinstance(of, type) and hasattr(of, "model_validate_json") and hasattr(of, "model_dump")


def write(model: Any) -> Any:
    """A model as a JSON value."""
    return model.model_dump(mode="json", by_alias=True, round_trip=True)


def reader(of: Any) -> typing.Callable[[Any], Any]:
    """What reads a model of the class. From JSON text: a strict model takes a `Decimal` from a string there alone."""
    return lambda value: of.model_validate_json(json.dumps(value))


def never_back(of: Any) -> str | None:
    """A field of a class of models, or of one within it, that is surely not read as it is written; None if none is seen.

    That is one which is left out, one which is written under a name that is not read, and a secret, which is written as stars. Where a
    class writes or reads by functions of its own, nothing is sure.
    """
    return next(_never_back(of, set()), None)


def _never_back(of: Any, seen: set[Any]) -> Iterator[str]:
    if of in seen:
        return
    seen.add(of)
    own = getattr(of, "__pydantic_decorators__", None)
    if getattr(own, "model_serializers", None) or getattr(own, "model_validators", None):
        return
    config = getattr(of, "model_config", {})
    is_by_name = any(config.get(name) for name in ("populate_by_name", "validate_by_name"))
    has_writers = bool(getattr(own, "field_serializers", None) or config.get("json_encoders"))
    for name, field in of.model_fields.items():
        is_named = is_by_name or field.validation_alias is None
        read = {*_names(field.validation_alias), *([name] if is_named else [])}
        classes = list(_classes(field.annotation))
        is_starred = (
            not has_writers and not field.metadata and any(hasattr(each, "get_secret_value") for each in classes)
        )
        if field.exclude or is_starred or (field.serialization_alias or name) not in read:
            yield f"{of.__qualname__}.{name}"
        for part in filter(is_model, classes):
            yield from _never_back(part, seen)


def _names(alias: Any) -> set[str]:
    choices = getattr(alias, "choices", [alias])
    return {choice for choice in choices if isinstance(choice, str)}


def _classes(annotation: Any) -> Iterator[Any]:
    """The classes that an annotation speaks of."""
    named = typing.get_origin(annotation) or annotation
    if isinstance(named, type):
        yield named
    for argument in typing.get_args(annotation):
        yield from _classes(argument)
