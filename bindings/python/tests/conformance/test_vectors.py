"""Fingerprints and derived keys: equal hex to every other language (section 8)."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

import keyledger
from keyledger import Fingerprint, KeyId, Members

VECTORS = json.loads((Path(__file__).resolve().parents[3] / "conformance" / "vectors.json").read_text())

Case = dict[str, Any]


def cases(name: str) -> Any:
    listed = VECTORS[name]
    return pytest.mark.parametrize("case", listed, ids=[case.get("name", str(at)) for at, case in enumerate(listed)])


def text(case: Case) -> bytes:
    return bytes.fromhex(case["hex"]) if "hex" in case else case["text"].encode()


def members(case: Case) -> Members | None:
    if "leave_out" in case:
        return Members.leave_out(*case["leave_out"])
    return Members.only(*case["only"]) if "only" in case else None


def parts(case: Case) -> list[bytes]:
    return [bytes.fromhex(part) for part in case["parts_hex"]]


@cases("json")
def test_f1_json_text(case: Case) -> None:
    assert Fingerprint.of_json_text(text(case)).hex == case["sha256"]


@cases("numbers")
def test_f1_numbers(case: Case) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(case["bits"]))
    if "sha256" not in case:
        with pytest.raises(keyledger.errors.InvalidArgument):
            Fingerprint.of_json(number)
        return
    assert Fingerprint.of_json(number).hex == case["sha256"]
    assert Fingerprint.of_json_text(text(case)).hex == case["sha256"]


@cases("refused")
def test_f1_refused(case: Case) -> None:
    with pytest.raises(keyledger.errors.InvalidArgument):
        Fingerprint.of_json_text(text(case))


@cases("pointers")
def test_f4_pointers(case: Case) -> None:
    assert Fingerprint.of_json_text(text(case), members=members(case)).hex == case["sha256"]


@cases("bytes")
def test_f2_bytes(case: Case) -> None:
    assert Fingerprint.of_bytes(*parts(case)).hex == case["sha256"]


@cases("http")
def test_f3_http(case: Case) -> None:
    made = Fingerprint.of_http(
        case["method"],
        case["path"],
        query=case["query"],
        content_type=case["content_type"] or None,
        body=bytes.fromhex(case["body_hex"]),
        members=members(case),
    )
    assert made.hex == case["sha256"]


@cases("derive")
def test_f6_derived_keys(case: Case) -> None:
    assert keyledger.derive_key(case["namespace"], *parts(case)) == case["key"]


@cases("claim_derive")
def test_e3_keys_of_claims(case: Case) -> None:
    key_id = KeyId(case["scope"], case["operation"], case["key"])
    assert key_id.derive_key(case["name"]) == case["derived"]
