"""What is refused at the border says what to write instead; what is printed looks like Python."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import keyledger
from keyledger import (
    Acquired,
    AlreadyOpen,
    Begin,
    Fingerprint,
    HttpAnswer,
    HttpRequest,
    InvalidArgument,
    KeyId,
    Ledger,
    Operation,
)

UNCHECKED = Fingerprint.unchecked()
ONCE = Operation("mail", "at_most_once")
WRONG: Any = {"a": 1}


def test_what_a_fingerprint_is_made_of_is_none(ledger: Ledger) -> None:
    for asks in (
        lambda: ledger.begin(ONCE, "s", "1", WRONG),
        lambda: ledger.ask(ONCE, "s", "1", WRONG),
        lambda: Begin(ONCE, "s", "1", WRONG),
        lambda: ledger.claim(ONCE, "s", "1", WRONG),
    ):
        with pytest.raises(TypeError, match=r"keyledger\.fingerprint\(\.\.\.\) makes one"):
            asks()


def test_what_a_response_is_made_of_is_none(ledger: Ledger) -> None:
    decision = ledger.begin(ONCE, "s", "1", UNCHECKED)
    assert isinstance(decision, Acquired)
    with pytest.raises(TypeError, match=r"not dict: keyledger\.Response\.json\(\.\.\.\) makes one"):
        decision.claim.complete(WRONG)
    decision.claim.complete(keyledger.Response.json(WRONG))


def test_a_decorator_without_a_scope_is_told_of_single(ledger: Ledger) -> None:
    settings: Any = {"operation": "mail", "effect": "repeatable", "key": "key"}
    with pytest.raises(TypeError, match=r"needs scope=.*scope=keyledger\.SINGLE"):
        ledger.idempotent(**settings)


def test_who_opens_a_ledger_twice_is_told_of_shared(ledger: Ledger, tmp_path: Any) -> None:
    with pytest.raises(AlreadyOpen, match=r"shared=True") as told:
        keyledger.open(tmp_path / "file.kl")
    assert "clone" not in str(told.value)
    with pytest.raises(AlreadyOpen, match=r"go on with the handle that has it"):
        Ledger(tmp_path / "file.kl")


def test_settings_of_the_outbox_are_refused_by_name(ledger: Ledger) -> None:
    for name, wrong in (("backoff", 3), ("retry_budget", 3), ("bounds", 3), ("max_tries", "3"), ("lanes", [3])):
        with pytest.raises(TypeError, match=name):
            ledger.outbox(**{name: wrong})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="backoff is a tuple of three"):
        ledger.outbox(backoff=(1, 2))  # type: ignore[arg-type]


def test_the_fields_of_a_request_are_pairs_or_a_mapping() -> None:
    pairs = HttpRequest("POST", "https://x/", [("A", "b"), ("C", b"d")])
    mapping = HttpRequest("POST", "https://x/", {"A": "b", "C": b"d"})
    assert bytes(mapping) == bytes(pairs)
    assert mapping.fields == [("A", b"b"), ("C", b"d")]
    assert HttpAnswer(200, {"A": "b"}).field("a") == "b"


def test_the_body_of_a_request_is_bytes_text_or_json() -> None:
    assert HttpRequest("POST", "https://x/", body="s\u00e4ge").body == "s\u00e4ge".encode()
    posted = HttpRequest("POST", "https://x/", json={"cents": 1999})
    assert (posted.fields, posted.body) == ([("Content-Type", b"application/json")], b'{"cents":1999}')
    assert HttpRequest("POST", "https://x/", json={"a": "\u00e4", "b": 1}).body == '{"a":"\u00e4","b":1}'.encode()
    assert HttpRequest("POST", "https://x/", json={"b": 1, "a": "\u00e4"}).body == '{"a":"\u00e4","b":1}'.encode()
    own = HttpRequest("POST", "https://x/", {"content-type": "application/vnd.x+json"}, json=[1])
    assert own.fields == [("content-type", b"application/vnd.x+json")]
    with pytest.raises(TypeError, match="not both"):
        HttpRequest("POST", "https://x/", body=b"1", json=[1])
    with pytest.raises(InvalidArgument):
        HttpRequest("POST", "https://x/", json={1, 2})
    with pytest.raises(TypeError, match="'body'"):
        HttpRequest("POST", "https://x/", body=WRONG)


def test_a_key_id_unpacks_compares_and_looks_up(ledger: Ledger) -> None:
    @ledger.idempotent(operation="mail", effect="at_most_once", scope="user", key="order")
    def mail(user: str, order: str) -> str:
        return "sent"

    mail("ann", "1")
    key_id = mail.key_id("ann", "1")
    scope, operation, key = key_id
    assert (scope, operation, key) == key_id == ("ann", "mail", "1")
    assert key_id == KeyId("ann", "mail", "1") != KeyId("ann", "mail", "2")
    assert hash(key_id) == hash(("ann", "mail", "1"))
    assert (key_id[2], key_id[:2], len(key_id)) == ("1", ("ann", "mail"), 3)
    assert key_id < KeyId("ann", "mail", "2") < ("bob", "a", "a")
    assert key_id != 3
    assert eval(repr(key_id)) == key_id
    record = ledger.inspect(key_id)
    assert record is not None
    assert record.key_id == key_id


def test_what_is_printed_looks_like_python(ledger: Ledger) -> None:
    claim: Any = ledger.begin(ONCE, "s", "1", UNCHECKED)
    claim.claim.complete("done")
    outbox = ledger.outbox()
    outbox.enqueue("s", "mail", b"1", purpose="it's")
    outbox.enqueue("s", "mail", b"1", purpose="other")
    outbox.lease_due("s")[0].settle(keyledger.DeliveryOutcome.retry("it's busy"))
    entry = next(entry for entry in outbox.list().entries if entry.errors)
    printed = {
        "Stats": repr(ledger.stats()),
        "Swept": repr(ledger.sweep()),
        "FileCheck": repr(ledger.check()),
        "Page": repr(ledger.list()),
        "EntryPage": repr(outbox.list(limit=1)),
        "OutboxStats": repr(outbox.stats()),
        "TryError": repr(entry.errors[0]),
    }
    assert re.fullmatch(
        r"Stats\(in_progress=0, released=0, completed=1, failed=0, parked=0, tombstones=0, file_bytes=\d+, "
        r"oldest_unsettled_at_ms=None, lapsed=<AtLeast 0>, due=<AtLeast 0>, last_sweep=None\)",
        printed["Stats"],
    )
    assert printed["Page"] == "<Page: 1 records>"
    assert printed["EntryPage"] == "<EntryPage: 1 entries, more after entry 1>"
    assert re.fullmatch(r"""TryError\(at_ms=\d+, error="it's busy"\)""", printed["TryError"])
    assert printed["OutboxStats"].startswith("OutboxStats(counts={'pending': ")
    for text in printed.values():
        assert not re.search(r"Some\(|\bNone \}|: true|: false| object at 0x", text), text


def test_every_default_can_be_read() -> None:
    for name, public in vars(keyledger._native).items():
        for member, told in inspect.getmembers(public) if inspect.isclass(public) else [("", public)]:
            signature = getattr(told, "__text_signature__", None)
            assert signature is None or "..." not in signature, f"{name}.{member}{signature}"
