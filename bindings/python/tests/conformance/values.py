"""Between the JSON of scenarios and the values of the package."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import keyledger
from keyledger import Fingerprint, Operation, Response

# The longest span that Python has is longer than the longest that the core has: both count as for ever (L5).
LONGEST = timedelta.max


def is_bytes(value: Any) -> bool:
    return isinstance(value, dict) and ("hex" in value or "repeat" in value)


def to_bytes(value: Any) -> bytes:
    """Text as UTF-8, `hex`, or `repeat` and `times`."""
    if isinstance(value, str):
        return value.encode()
    if "hex" in value:
        return bytes.fromhex(value["hex"])
    return (value["repeat"] * value["times"]).encode()


def to_text(value: Any) -> str:
    """Text, also what UTF-8 cannot hold: `utf16` in code units, and bytes as Python has them in arguments and names of files (PEP 383)."""
    if isinstance(value, dict) and "utf16" in value:
        units = value["utf16"].replace(" ", "")
        return bytes.fromhex(units).decode("utf-16-be", "surrogatepass")
    return to_bytes(value).decode(errors="surrogateescape")


def shown_bytes(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"hex": value.hex()}


def to_response(value: Any) -> Response:
    if isinstance(value, dict):
        if "empty" in value:
            return Response.empty()
        if "json" in value:
            return Response.json(value["json"])
    named = value.get("media_type", "text/plain") if isinstance(value, dict) else "text/plain"
    return Response(named, to_bytes(value.get("text", value) if isinstance(value, dict) else value))


def shown_response(response: Response) -> dict[str, Any]:
    if response.omitted is not None:
        length, sha256 = response.omitted
        return {"media_type": response.media_type, "omitted": {"length": length, "sha256": sha256.hex()}}
    assert response.body is not None
    return {"media_type": response.media_type, "body": shown_bytes(response.body)}


def expected_response(value: Any) -> dict[str, Any]:
    """In the form of `shown_response`, with the media type only where it is named."""
    if isinstance(value, dict) and "omitted" in value:
        shown: dict[str, Any] = {"omitted": value["omitted"]}
    elif isinstance(value, dict) and "empty" in value:
        shown = {"body": ""}
    else:
        shown = {"body": shown_bytes(to_bytes(value.get("text", value) if isinstance(value, dict) else value))}
    if isinstance(value, dict) and "media_type" in value:
        shown["media_type"] = value["media_type"]
    return shown


def to_fingerprint(value: Any) -> Fingerprint:
    if isinstance(value, dict) and "unchecked" in value:
        return Fingerprint.unchecked()
    return Fingerprint.of_bytes(b"request-1" if value is None else to_bytes(value))


def to_scope(value: Any) -> str:
    if isinstance(value, dict) and "single" in value:
        return keyledger.SINGLE
    return "tenant-1" if value is None else to_text(value)


def to_key(value: Any) -> str:
    return "key-1" if value is None else to_text(value)


def span(value: Any) -> timedelta:
    return LONGEST if value == "max" else timedelta(milliseconds=value)


def whole_ms(seconds: float) -> int:
    return round(seconds * 1000)


def to_operation(declared: dict[str, Any], alias: str) -> Operation:
    spans = ("lease", "retention", "tombstone", "remembered_for")
    settings: dict[str, Any] = {name: span(declared[f"{name}_ms"]) for name in spans if f"{name}_ms" in declared}
    if "max_attempts" in declared:
        settings["max_attempts"] = declared["max_attempts"]
    return Operation(operation_name(declared, alias), declared["effect"], **settings)


def operation_name(declared: dict[str, Any], alias: str) -> str:
    return to_text(declared["name"]) if "name" in declared else alias
