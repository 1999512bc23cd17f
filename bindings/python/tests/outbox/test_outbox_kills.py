"""Kills of the client, of the server, and two processes on one outbox (O1, O2, O5, P2)."""

from __future__ import annotations

import threading
from pathlib import Path

from conftest import Library
from stage import Program, Server, eventually, outbox_of

from keyledger._native import HttpAnswer, HttpRequest

CLIENT = """
    import sys, time
    from pathlib import Path
    from keyledger._native import HttpRequest
    from keyledger.transports.httpx import HttpxTransport
    from stage import outbox_of
    outbox = outbox_of(Path(sys.argv[1]), shared=True, lease=1)
    for number in range(int(sys.argv[3])):
        outbox.enqueue("user", "charge", HttpRequest("POST", sys.argv[2], [], b"%d" % number), purpose=f"pay {number}")
    print("ready", flush=True)
    with outbox.driver("user", HttpxTransport()):
        time.sleep(600)
"""


def test_o2_a_client_killed_while_it_sends_sends_the_same_again(tmp_path: Path, server: Server) -> None:
    path, url = tmp_path / "outbox.kl", server.url("/slow/1")
    for kills in range(1, 4):
        client = Program(CLIENT, path, url, 1)
        server.wait_for(kills)
        client.kill()
    outbox = outbox_of(path, shared=True, lease=10)
    (entry,) = outbox.list().entries
    assert entry.may_have_taken_effect
    with outbox.driver("user", _transport()):
        assert HttpAnswer.of(entry.result(30)).status == 200
    seen = server.seen()
    assert len(seen) >= 4
    assert {(one["key"], one["body"]) for one in seen} == {(f'"{entry.key}"', "0")}


def test_o5_a_server_killed_in_mid_work_is_asked_again_with_the_same_key(server: Server, library: Library) -> None:
    outbox = outbox_of()
    entry = outbox.enqueue("user", "charge", HttpRequest("POST", server.url("/slow/1"), [], b"pay")).entry
    killer = threading.Thread(target=lambda: (server.wait_for(1), server.kill()))
    killer.start()
    library.send_all(outbox, until=0.5)
    killer.join()
    seen = outbox.get(entry)
    assert seen is not None
    assert (seen.is_settled, seen.may_have_taken_effect) == (False, True)
    server.start()
    library.send_all(outbox, until=5)
    assert HttpAnswer.of(entry.result(0)).status == 200
    assert {one["key"] for one in server.seen()} == {f'"{entry.key}"'}


def test_p2_two_processes_on_one_outbox_send_each_entry_once_while_both_live(tmp_path: Path, server: Server) -> None:
    path = tmp_path / "outbox.kl"
    clients = [Program(CLIENT, path, server.url("/slow/0.01"), 60) for _ in range(2)]
    outbox = outbox_of(path, shared=True, lease=1)
    eventually(lambda: outbox.stats().counts["answered"] == 60)
    for client in clients:
        client.kill()
    keys = [one["key"] for one in server.seen()]
    assert len(keys) == len(set(keys)) == 60


def _transport() -> object:
    from keyledger.transports.httpx import HttpxTransport  # noqa: PLC0415 - only here

    return HttpxTransport()
