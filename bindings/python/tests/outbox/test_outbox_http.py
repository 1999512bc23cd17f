"""Requests over HTTP, with every library, against a real server (C1 to C4, O2, O5 to O9, O14)."""

from __future__ import annotations

import re
import socket
from typing import Any

import pytest
from conftest import Library
from stage import Server, outbox_of

from keyledger import Outbox, errors
from keyledger._native import DeliveryOutcome, Entry, HttpAnswer, HttpRequest, KeyField
from keyledger.transports import NotNow, SignedOut


def put(outbox: Outbox, url: str, **wishes: Any) -> Entry:
    request = HttpRequest("POST", url, [("Content-Type", "text/plain")], b"pay 9.90")
    return outbox.enqueue("user", "charge", request, **wishes).entry


def test_o5_a_200_answers_the_entry_with_status_fields_and_body(server: Server, library: Library) -> None:
    outbox = outbox_of()
    entry = put(outbox, server.url("/ok"))
    library.send_all(outbox)
    answer = HttpAnswer.of(entry.result(0))
    assert (answer.status, answer.body, answer.field("x-try")) == (200, b"done", "1")
    assert [seen["body"] for seen in server.seen()] == ["pay 9.90"]


def test_c1_each_request_has_one_key_field_and_the_entrys_key(server: Server, library: Library) -> None:
    outbox = outbox_of()
    entry = put(outbox, server.url("/ok"))
    library.send_all(outbox)
    lines = [value for name, value in server.seen()[0]["fields"] if name.lower() == "idempotency-key"]
    assert lines == [f'"{entry.key}"']


def test_c1_the_key_goes_bare_and_under_another_name_where_it_is_wanted_so(server: Server, library: Library) -> None:
    outbox = outbox_of()
    entry = put(outbox, server.url("/ok"))
    library.send_all(outbox, key_field=KeyField("X-Request-Id", quoted=False))
    assert ["X-Request-Id", entry.key] in server.seen()[0]["fields"]


def test_o2_the_same_key_and_bytes_go_out_on_every_try_and_a_late_yes_counts(server: Server, library: Library) -> None:
    outbox = outbox_of()
    entry = put(outbox, server.url("/cut/3"))
    library.send_all(outbox, until=10)
    assert HttpAnswer.of(entry.result(0)).body == b"it was done before"
    seen = server.seen()
    assert len(seen) == 4
    assert len({(one["key"], one["body"]) for one in seen}) == 1


@pytest.mark.parametrize(
    ("path", "state"),
    [("/status/404", "answered"), ("/status/401", "held"), ("/status/403", "held"), ("/status/503", "pending")],
)
def test_o8_each_status_means_what_the_contract_says(server: Server, library: Library, path: str, state: str) -> None:
    outbox = outbox_of(backoff=(60, 60, 1))
    entry = put(outbox, server.url(path))
    library.send_all(outbox)
    seen = outbox.get(entry)
    assert seen is not None
    assert (seen.state, seen.is_yes) == (state, False)
    assert seen.may_have_taken_effect == (path == "/status/503")


def test_o9_a_refused_connection_leaves_nothing_in_doubt_and_a_cut_one_does(server: Server, library: Library) -> None:
    outbox = outbox_of(backoff=(60, 60, 1))
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        refused = put(outbox, f"http://127.0.0.1:{closed.getsockname()[1]}/")
        nowhere = put(outbox, "http://no-such-host.invalid/")
        cut = put(outbox, server.url("/cut/1"))
        library.send_all(outbox)
    in_doubt = [outbox.get(one).may_have_taken_effect for one in (refused, nowhere, cut)]  # type: ignore[union-attr]
    assert in_doubt == [False, False, True]


def test_c2_redirects_are_followed_with_the_same_key_where_method_and_origin_stay(
    server: Server, library: Library
) -> None:
    outbox = outbox_of()
    followed, stayed = put(outbox, server.url("/to/308")), put(outbox, server.url("/to/303"))
    library.send_all(outbox)
    assert HttpAnswer.of(followed.result(0)).body == b"done"
    with pytest.raises(errors.AnsweredNo) as no:
        stayed.result(0)
    assert HttpAnswer.of(no.value.response).status == 303
    assert re.search(r"its response says why: \d+ bytes of application/http, status 303$", str(no.value))
    paths = {(one["path"], one["key"]) for one in server.seen()}
    assert paths == {("/to/308", f'"{followed.key}"'), ("/ok", f'"{followed.key}"'), ("/to/303", f'"{stayed.key}"')}


def test_c4_nobody_waits_past_the_lease(server: Server, library: Library) -> None:
    outbox = outbox_of(lease=0.3, backoff=(60, 60, 1))
    slow, drip = put(outbox, server.url("/slow/5")), put(outbox, server.url("/drip/5"))
    drained = library.send_all(outbox)
    assert drained.counts["answered"] == 0
    for entry in (slow, drip):
        seen = outbox.get(entry)
        assert seen is not None
        assert seen.may_have_taken_effect


def test_o14_credentials_are_refused_in_a_request_and_supplied_at_each_send(server: Server, library: Library) -> None:
    outbox = outbox_of()
    transport = library.make(authorize=lambda *_: {"Authorization": "good"}, secret=["X-Api-Key"])
    for name in ("Authorization", "Cookie", "x-api-key", "Idempotency-Key"):
        with pytest.raises(errors.InvalidArgument):
            transport.request("POST", server.url("/signed"), headers={name: "1"})
    asked = transport.request("POST", server.url("/signed"), json={"b": 1, "a": "é"})
    assert asked.body == '{"a":"é","b":1}'.encode()
    entry = outbox.enqueue("user", "charge", asked).entry
    library.drain(outbox, transport)
    assert HttpAnswer.of(entry.result(0)).status == 200


def test_o8_a_401_holds_the_lane_until_there_are_other_credentials(server: Server, library: Library) -> None:
    outbox, tokens = outbox_of(), ["bad"]
    entry = put(outbox, server.url("/signed"))
    transport = library.make(authorize=lambda *_: {"Authorization": tokens[0]})
    library.drain(outbox, transport)
    with pytest.raises(errors.EntryHeld) as held:
        entry.result(5)
    assert held.value.entry.is_held_with_lane
    library.drain(outbox, transport)
    assert len(server.seen()) == 1, "the same credentials are not tried again"
    tokens[0] = "good"
    library.drain(outbox, transport)
    assert HttpAnswer.of(entry.result(0)).status == 200


@pytest.mark.parametrize(
    ("raised", "state"), [(SignedOut(), "held"), (NotNow("later"), "pending"), (ValueError("s3cret"), "pending")]
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_o8_without_credentials_nothing_is_sent_and_nothing_is_in_doubt(
    server: Server, library: Library, raised: Exception, state: str
) -> None:
    def authorize(_scope: str, _request: HttpRequest) -> dict[str, str]:
        raise raised

    outbox = outbox_of(backoff=(60, 60, 1))
    entry = put(outbox, server.url("/ok"))
    library.send_all(outbox, authorize=authorize)
    seen = outbox.get(entry)
    assert seen is not None
    assert (seen.state, seen.may_have_taken_effect, server.seen()) == (state, False, [])
    assert "s3cret" not in "".join(one.error for one in seen.errors)


def test_o14_an_answers_cookies_do_not_go_out_with_the_next_request(server: Server, library: Library) -> None:
    outbox, transport = outbox_of(), library.make()
    for _ in range(2):
        put(outbox, server.url("/ok"))
    library.drain(outbox, transport, in_flight=1)
    assert len(server.seen()) == 2
    assert not [name for one in server.seen() for name, _ in one["fields"] if name.lower() == "cookie"]


def test_connections_are_kept_and_used_again(server: Server, library: Library) -> None:
    outbox = outbox_of()
    for _ in range(20):
        put(outbox, server.url("/ok"))
    library.drain(outbox, library.make(), in_flight=2)
    ports = {one["port"] for one in server.seen()}
    assert len(server.seen()) == 20
    assert len(ports) <= 2


def test_s4_of_an_answer_that_is_too_long_status_and_fields_are_kept(server: Server, library: Library) -> None:
    outbox = outbox_of()
    entry = put(outbox, server.url("/long/1000"))
    library.send_all(outbox, answer_bytes_max=999)
    answer = HttpAnswer.of(entry.result(0))
    assert (answer.status, answer.is_whole, answer.body) == (200, False, b"")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_o8_the_caller_can_say_otherwise_and_a_classifier_that_raises_counts_as_a_retry(
    server: Server, library: Library
) -> None:
    def classify(answer: HttpAnswer, usual: DeliveryOutcome) -> DeliveryOutcome:
        if answer.body == b"no":
            return DeliveryOutcome.dead(f"{usual.kind}: it says no")
        raise ValueError

    outbox = outbox_of(backoff=(60, 60, 1))
    no, ok = put(outbox, server.url("/status/404")), put(outbox, server.url("/ok"))
    library.send_all(outbox, classify=classify)
    with pytest.raises(errors.EntryDead, match="no: it says no"):
        no.result(0)
    with pytest.raises(errors.NoResultYet) as later:
        ok.result(0)
    assert [one.error for one in later.value.entry.errors] == ["the classifier raised ValueError on 200"]


def test_o9_what_is_no_http_request_is_dead_without_being_sent(library: Library) -> None:
    outbox = outbox_of()
    entry = outbox.enqueue("user", "charge", b"anything").entry
    library.send_all(outbox)
    with pytest.raises(errors.EntryDead, match="application/http"):
        entry.result(0)
