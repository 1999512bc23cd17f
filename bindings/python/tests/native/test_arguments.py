"""Arguments of wrong types are TypeErrors, before anything is done; paths and bytes are taken in every form that Python has."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import keyledger
from keyledger import (
    Acquired,
    Batch,
    Begin,
    Claim,
    Fingerprint,
    HttpAnswer,
    HttpRequest,
    KeyId,
    Ledger,
    Operation,
    Response,
    Transaction,
)
from keyledger.http import Answer, Route, Stored

UNCHECKED = Fingerprint.unchecked()
ONCE = Operation("mail", "at_most_once")
LIST: Any = [1, 2, 3]


@pytest.fixture
def claim(ledger: Ledger) -> Claim:
    decision = ledger.begin(ONCE, "s", "1", UNCHECKED)
    assert isinstance(decision, Acquired)
    return decision.claim


CALLS: list[Callable[[Ledger, Claim], Any]] = [
    lambda ledger, claim: ledger.begin(ONCE, "s", "2", UNCHECKED, memo=LIST),
    lambda ledger, claim: ledger.begin_async(ONCE, "s", "2", UNCHECKED, memo=LIST),
    lambda ledger, claim: Begin(ONCE, "s", "2", UNCHECKED, memo=LIST),
    lambda ledger, claim: claim.complete(LIST),
    lambda ledger, claim: claim.fail(LIST),
    lambda ledger, claim: claim.complete_async(LIST),
    lambda ledger, claim: claim.complete_batch(Batch(), LIST),
    lambda ledger, claim: claim.complete_with(lambda tx: LIST),
    lambda ledger, claim: claim.complete_with(LIST),
    lambda ledger, claim: claim.record_step("a", LIST),
    lambda ledger, claim: claim.record_step_async("a", LIST),
    lambda ledger, claim: claim.step("a", lambda: LIST),
    lambda ledger, claim: ledger.record_step(claim.key_id, claim.fence, "a", LIST),
    lambda ledger, claim: ledger.complete(claim.key_id, claim.fence, LIST),
    lambda ledger, claim: ledger.resolve(claim.key_id, claim.fence, "completed", LIST, who="w", note="n"),
    lambda ledger, claim: ledger.get("rows", LIST),
    lambda ledger, claim: ledger.scan("rows", LIST),
    lambda ledger, claim: ledger.scan("rows", None, LIST),
    lambda ledger, claim: ledger.transaction(lambda tx: tx.put("rows", LIST, b"")),
    lambda ledger, claim: ledger.transaction(lambda tx: tx.put("rows", b"k", LIST)),
    lambda ledger, claim: ledger.transaction(lambda tx: tx.insert_unique("rows", b"k", LIST)),
    lambda ledger, claim: ledger.transaction(lambda tx: tx.compare_and_set("rows", b"k", LIST, None)),
    lambda ledger, claim: ledger.transaction(LIST),
    lambda ledger, claim: Batch().put("rows", b"k", LIST),
    lambda ledger, claim: Batch().put("rows", LIST, b"v"),
    lambda ledger, claim: Batch().delete("rows", LIST),
    lambda ledger, claim: Batch().insert_unique("rows", LIST, b"v"),
    lambda ledger, claim: Batch().compare_and_set("rows", b"k", None, LIST),
    lambda ledger, claim: Response("text/plain", LIST),
    lambda ledger, claim: Response.of_bytes(LIST),
    lambda ledger, claim: Fingerprint.of_bytes(LIST),
    lambda ledger, claim: Fingerprint.of_json_text(LIST),
    lambda ledger, claim: Fingerprint.of_http("POST", "/", body=LIST),
    lambda ledger, claim: keyledger.derive_key("space", LIST),
    lambda ledger, claim: ledger.outbox().enqueue("s", "mail", LIST, purpose="p"),
    lambda ledger, claim: HttpRequest("POST", "https://x/", [], LIST),
    lambda ledger, claim: HttpRequest("POST", "https://x/", [("A", LIST)]),
    lambda ledger, claim: HttpAnswer(200, [], LIST),
    lambda ledger, claim: Answer(200, [], LIST),
    lambda ledger, claim: Answer(200, [("A", LIST)], b""),
    lambda ledger, claim: Stored(200, [], LIST),
    lambda ledger, claim: Route.required("repeatable").receive("POST", [LIST]),
]


@pytest.mark.parametrize("call", CALLS)
def test_a_list_of_numbers_is_no_bytes(ledger: Ledger, claim: Claim, call: Callable[[Ledger, Claim], Any]) -> None:
    async def on_a_loop() -> Any:
        return call(ledger, claim)

    with pytest.raises(TypeError):
        asyncio.run(on_a_loop())
    assert not claim.is_settled
    assert claim.steps == []


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_have_many_forms(ledger: Ledger, claim: Claim, kind: Any) -> None:
    def given(text: bytes) -> Any:
        return kind(text)

    claim.record_step("a", given(b"1"))
    assert claim.recorded_step("a") == b"1"
    ledger.apply(Batch().put("rows", given(b"k"), given(b"v")))

    def write(tx: Transaction) -> Any:
        assert tx.get("rows", given(b"k")) == b"v"
        tx.put("rows", given(b"l"), given(b"w"))
        return given(b"done")

    assert claim.complete_with(write).body == b"done"
    assert ledger.scan("rows", given(b"k"), given(b"m")) == [(b"k", b"v"), (b"l", b"w")]
    assert Fingerprint.of_bytes(given(b"x")) == Fingerprint.of_bytes(b"x")
    assert keyledger.derive_key("space", given(b"x")) == keyledger.derive_key("space", b"x")


def test_a_view_of_every_second_byte_is_those_bytes() -> None:
    assert Response.of_bytes(memoryview(b"a-b-c")[::2]).body == b"abc"


@pytest.mark.parametrize("kind", [str, Path])
def test_the_admin_socket_has_a_place_of_its_own(short_path: Path, kind: Any) -> None:
    place = short_path / "elsewhere.sock"
    with keyledger.open(short_path / "file.kl", admin_socket=kind(place)), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(place))
    assert not place.exists()


def test_the_admin_socket_is_beside_the_file_or_nowhere(short_path: Path) -> None:
    with keyledger.open(short_path / "file.kl", admin_socket=True):
        assert [path for path in short_path.iterdir() if path.is_socket()]
    with keyledger.open(short_path / "file.kl", admin_socket=False):
        assert not [path for path in short_path.iterdir() if path.is_socket()]


def test_an_admin_socket_is_no_number(tmp_path: Path) -> None:
    wrong: Any = 5
    with pytest.raises(TypeError, match="admin_socket"):
        keyledger.open(tmp_path / "file.kl", admin_socket=wrong)


def test_a_key_id_is_text(ledger: Ledger) -> None:
    wrong: Any = b"s"
    with pytest.raises(TypeError):
        KeyId(wrong, "mail", "1")
