"""Compares what came with what was expected."""

from __future__ import annotations

import json
from email.utils import formatdate
from typing import Any

from keyledger.http import Answer, Stored

from .scenarios import bytes_of

START_MS = 1_000_000_000_000
TYPES = "https://github.com/keyledger/keyledger/blob/main/docs/http.md"


def texts(answer: Answer, name: str) -> list[str]:
    return [value.decode(errors="replace") for line, value in answer.fields if line.lower() == name.lower()]


def compare(got: Answer | None, expected: dict[str, Any], *, joins: bool = False) -> None:
    """`joins` where a framework has one line of a name: several are one list then (RFC 9110, section 5.3)."""
    if expected.get("broken"):
        assert got is None, f"the answer did not break off: {got}"
        return
    assert got is not None, "the answer broke off"
    assert got.status == expected["status"], f"the status is {got.status}: {got.fields} {got.body[:600]!r}"
    if "body" in expected:
        assert got.body[:600] == bytes_of(expected["body"])[:600]
        assert got.body == bytes_of(expected["body"])
    if "lacks" in expected:
        assert expected["lacks"].encode() not in got.body
    for name, lines in expected.get("fields", {}).items():
        wanted = [] if lines is None else lines if isinstance(lines, list) else [lines]
        is_list = joins and len(wanted) > 1 and name != "Set-Cookie"
        assert texts(got, name) == ([", ".join(wanted)] if is_list else wanted), name
    if "replayed" in expected:
        assert texts(got, "Idempotent-Replayed") == (["true"] if expected["replayed"] else []), got.body[:600]
    if "problem" in expected:
        _compare_problem(got, expected)
    if "retry_after" in expected:
        least, most = expected["retry_after"]
        (seconds,) = texts(got, "Retry-After")
        assert least <= int(seconds) <= most
    if "expires_at_ms" in expected:
        second = (START_MS + expected["expires_at_ms"]) // 1000
        assert texts(got, "Idempotency-Key-Expires") == [formatdate(second, usegmt=True)]


def _compare_problem(got: Answer, expected: dict[str, Any]) -> None:
    assert texts(got, "Content-Type") == ["application/problem+json"], got.body[:600]
    problem = json.loads(got.body)
    assert problem["type"] == f"{TYPES}#{expected['problem']}"
    assert problem["status"] == got.status
    assert isinstance(problem["title"], str)
    assert isinstance(problem["detail"], str)
    if "advice" in expected:
        assert problem.get("key_advice") == expected["advice"]


def compare_record(view: Any, expected: dict[str, Any] | None) -> None:
    """`view` is what the ledger has under the key, or None."""
    if view is None or expected is None:
        assert view is None, f"there is {view.state}"
        assert expected is None, "there is none"
        return
    assert view.state == expected["state"]
    if "effect" in expected:
        assert view.effect == expected["effect"]
    if view.response is None:
        assert not {"status", "body", "fields", "omitted", "derived"} & expected.keys()
        return
    stored = Stored.of_response(view.response)
    if "status" in expected:
        assert stored.status == expected["status"]
    if "fields" in expected:
        assert {name.lower(): value.decode(errors="replace") for name, value in stored.fields} == expected["fields"]
    if "body" in expected or "derived" in expected:
        body = (
            bytes_of(expected["body"]) if "body" in expected else view.key_id.derive_key(expected["derived"]).encode()
        )
        assert stored.body == body
    assert (stored.body is None) == expected.get("omitted", False)
