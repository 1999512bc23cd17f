"""Arguments as text of keys, as fingerprints and as memos."""

# What callers bring here may be of any type.
# pyright: basic

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import ipaddress
import json
import pathlib
import uuid
from typing import Any, NoReturn

from keyledger._native import Claim, Fingerprint, Ledger, derive_key
from keyledger.errors import InvalidArgument, InvalidKey

SINGLE = "(single)"
"""The scope of a program with one principal, said on purpose (L3)."""

_DEEP = "they are nested too deeply, or in themselves"
_EXACT_MAX = 2**53
_CAPITALS = decimal.Context(capitals=1)
_NAMES = (str, int, float, type(None))
_WRITTEN = (
    pathlib.PurePath,
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
    ipaddress.IPv4Interface,
    ipaddress.IPv6Interface,
)
"""What is known by its text."""


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
        return _print_of_values(members)
    except RecursionError:
        raise InvalidArgument(
            f"the arguments have no fingerprint: {_DEEP}; say with fingerprint= what to compare"
        ) from None


def _print_of_values(members: Any) -> Fingerprint:
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
    try:
        return (value if isinstance(value, str) else _SHOW(value)).encode()
    except (RecursionError, ValueError) as error:
        why = _DEEP if isinstance(error, RecursionError) else error
        raise InvalidArgument(f"the memo cannot be stored: {why}") from None


def check_text(scope: str, key: str) -> None:
    """What is no text that UTF-8 can hold is no scope and no key (L1), whatever else the arguments have no word for."""
    for what, value in (("scope", scope), ("key", key)):
        _check_encoded(what, value)


def _check_encoded(what: str, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidKey(f"{what}: it is no text that UTF-8 can hold; encode it, or use a hash of it") from None


def _print_of_wide(members: Any) -> Fingerprint:
    """Integers that a double cannot hold count as their digits: numbers of orders often are as long as that."""
    try:
        return Fingerprint.of_json_text(_ENCODE(_digits(json.loads(_ENCODE(_told_apart(members))))))
    except (TypeError, ValueError) as error:
        raise InvalidArgument(
            f"the arguments have no fingerprint: {error}; say with fingerprint= what to compare"
        ) from None


def _told_apart(value: Any) -> Any:
    """The same, and names that are no text are told from text: JSON has one word for `1` and `"1"`. What is no name in JSON stays, and is refused."""
    if isinstance(value, dict):
        members = {name: _told_apart(member) for name, member in value.items()}
        if all(isinstance(name, str) for name in members) or not all(isinstance(name, _NAMES) for name in members):
            return members
        return {"\0names": sorted(([_ENCODE(name), member] for name, member in members.items()), key=_name)}
    if isinstance(value, (list, tuple)):
        return [_told_apart(element) for element in value]
    return value


def _name(named: list[Any]) -> str:
    return str(named[0])


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
        return _written(what, value, name)
    kind = "None" if value is None else f"a {type(value).__qualname__}"
    raise InvalidKey(
        f"{what}: {name} is {kind}; it has to be text, a whole number or a UUID, and there is none for no {what}"
    )


def _written(what: str, value: int | uuid.UUID, name: str) -> str:
    try:
        return str(value)
    except ValueError:  # Python writes no number of more than some thousand digits.
        raise InvalidKey(f"{what}: {name} is a number of too many digits; a {what} has up to 255 bytes") from None


def _joined(what: str, names: tuple[str, ...], values: tuple[Any, ...]) -> str:
    parts = [_text(what, value, name) for name, value in zip(names, values, strict=True)]
    for name, part in zip(names, parts, strict=True):
        if not part:
            raise InvalidKey(f"{what}: {name} is empty; a part of a {what} is never left out")
        _check_encoded(what, part)
    return derive_key(f"keyledger/python/{what}", *(part.encode() for part in parts))


def _plain(value: Any) -> Any:
    """What JSON has no word for, in an argument: enough of it to tell two calls apart."""
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return _exact(value)
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
    return _plain_members(value)


def _plain_members(value: Any) -> Any:
    """What has values of its own, all of them: what a model hides when it is printed tells two calls apart as well."""
    if hasattr(value, "get_secret_value"):
        return _told_apart(value.get_secret_value())
    if hasattr(type(value), "model_fields"):
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        return _told_apart({**fields, **(getattr(value, "model_extra", None) or {})})
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _told_apart({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    if isinstance(value, (set, frozenset)):
        return sorted((_told_apart(element) for element in value), key=_ENCODE)
    if isinstance(value, _WRITTEN) or type(value).__module__.startswith("pydantic"):
        return str(value)
    return _refuse(value)


def _exact(value: decimal.Decimal) -> str:
    """All digits of a number, however many and however it is written, whatever the thread's decimal context rounds to."""
    if not value.is_finite():
        return str(value)
    sign, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    bare = text.rstrip("0")
    places = int(exponent) + len(text) - len(bare) if bare else 0
    with decimal.localcontext(_CAPITALS):
        return str(decimal.Decimal((sign, tuple(map(int, bare or "0")), places)))


def _shown(value: Any) -> Any:
    """The same for memos, which people read: what a model hides stays hidden."""
    if hasattr(value, "get_secret_value"):
        return _refuse(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return _plain(value)


def _refuse(value: Any) -> NoReturn:
    raise TypeError(f"an argument holds a {type(value).__qualname__}, which is not JSON")


_ENCODE = json.JSONEncoder(default=_plain, allow_nan=False, separators=(",", ":")).encode
_SHOW = json.JSONEncoder(default=_shown, allow_nan=False, separators=(",", ":")).encode
