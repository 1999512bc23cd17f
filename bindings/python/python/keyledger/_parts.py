"""Arguments as text of keys, as fingerprints and as memos."""

# What callers bring here may be of any type.
# pyright: basic

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import uuid
from typing import Any, NoReturn

from keyledger._native import Claim, Fingerprint, Ledger, derive_key
from keyledger.errors import InvalidArgument, InvalidKey

SINGLE = "(single)"
"""The scope of a program with one principal, said on purpose (L3)."""

_EXACT_MAX = 2**53


def scope_of(value: Any, name: str) -> str:
    """A scope out of one argument."""
    return _text("scope", value, name)


def key_of(value: Any, name: str) -> str:
    """A key out of one argument."""
    return _text("key", value, name)


def scope_of_many(names: tuple[str, ...], values: tuple[Any, ...]) -> str:
    """A scope out of several arguments, framed: no two lists of them make the same one (F6)."""
    return _joined("scope", names, values)


def key_of_many(names: tuple[str, ...], values: tuple[Any, ...]) -> str:
    """A key out of several arguments, framed: no two lists of them make the same one (F6)."""
    return _joined("key", names, values)


def print_of_members(members: dict[str, Any]) -> Fingerprint:
    """The fingerprint of arguments by name: of their canonical JSON (F1)."""
    try:
        return Fingerprint.of_arguments(members, _plain)
    except InvalidArgument:
        return _print_of_wide(members)
    except TypeError as error:
        raise InvalidArgument(f"{error}; say with fingerprint= what tells this call from another") from None


def print_of(value: Any) -> Fingerprint:
    """The fingerprint of whatever a callable made: a fingerprint, bytes, or a JSON value."""
    if isinstance(value, Fingerprint):
        return value
    if isinstance(value, bytes):
        return Fingerprint.of_bytes(value)
    return print_of_members(value)


def memo_of(value: Any) -> bytes:
    """A memo: bytes and text as they are, other values as JSON."""
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else _ENCODE(value)).encode()


def _print_of_wide(members: Any) -> Fingerprint:
    """Integers that a double cannot hold count as their digits: numbers of orders often are as long as that."""
    try:
        return Fingerprint.of_json_text(_ENCODE(_digits(json.loads(_ENCODE(members)))))
    except ValueError as error:
        raise InvalidArgument(
            f"the arguments have no fingerprint: {error}; say with fingerprint= what to compare"
        ) from None


def _digits(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _digits(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_digits(member) for member in value]
    return str(value) if type(value) is int and abs(value) > _EXACT_MAX else value


def _text(what: str, value: Any, name: str) -> str:
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, str):
        return value
    if (isinstance(value, int) and not isinstance(value, bool)) or isinstance(value, uuid.UUID):
        return str(value)
    kind = "None" if value is None else f"a {type(value).__qualname__}"
    raise InvalidKey(
        f"{what}: {name} is {kind}; it has to be text, a whole number or a UUID, and there is none for no {what}"
    )


def _joined(what: str, names: tuple[str, ...], values: tuple[Any, ...]) -> str:
    parts = [_text(what, value, name) for name, value in zip(names, values, strict=True)]
    for name, part in zip(names, parts, strict=True):
        if not part:
            raise InvalidKey(f"{what}: {name} is empty; a part of a {what} is never left out")
    return derive_key(f"keyledger/python/{what}", *(part.encode() for part in parts))


def _plain(value: Any) -> Any:
    """What JSON has no word for, in an argument: enough of it to tell two calls apart."""
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return str(value.normalize())
    if isinstance(value, (uuid.UUID, datetime.timedelta)):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (Ledger, Claim)):
        return None
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return _refuse(value)


def _refuse(value: Any) -> NoReturn:
    raise TypeError(f"an argument holds a {type(value).__qualname__}, which is not JSON")


_ENCODE = json.JSONEncoder(default=_plain, allow_nan=False, separators=(",", ":")).encode
