"""The examples that are scripts, run as their first lines say."""

from __future__ import annotations

import os
import runpy
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from running import EXAMPLES


def lines_of(name: str, **environment: str) -> list[str]:
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_the_agents_tools_do_each_call_once_in_the_next_process_too(tmp_path: Path) -> None:
    first = lines_of("agent_tool.py", AGENT_FOLDER=str(tmp_path))
    assert first == [
        "call-1 12A is booked",
        "call-1 12A is booked",
        "call-1 mismatch: this key was used for another request; take a new key for a new operation",
        "call-2 failed: nobody answered the phone in time",
        "call-2 parked: nobody knows whether the operation happened; it is held for a person, find out first",
    ]
    second = lines_of("agent_tool.py", AGENT_FOLDER=str(tmp_path))
    assert second == [*first[:3], first[4], first[4]]
    assert len((tmp_path / "airline.log").read_text().splitlines()) == 1


def test_the_agents_mail_goes_out_once() -> None:
    sent, again, refused = lines_of("outbox_agent_tool.py")
    assert sent == 'call-1 sent: {"id": "mail-0"}'
    assert again == 'call-1 was sent before: {"id": "mail-0"}'
    assert refused == "call-2 refused: that is no address"


def test_each_invoice_arrives_once_though_their_program_is_killed_twice() -> None:
    first, second, resumed, all_there = lines_of("outbox_invoices.py")
    for line, at_least in ((first, 300), (second, 600)):
        killed, arrived = line.split("; ")
        assert killed == "the program is killed"
        assert at_least <= int(arrived.split()[0]) < 1000
    assert resumed.startswith("this run has sent ")
    assert all_there.startswith("each of 1000 invoices has arrived under one key; ")


def test_the_office_files_no_half_of_an_invoice() -> None:
    """Its sender was killed after the first bytes of the body: the whole one comes under the same key."""
    office: Any = runpy.run_path(str(EXAMPLES / "outbox_invoices.py"))["Office"]()
    threading.Thread(target=office.serve_forever, daemon=True).start()
    head = b"POST /invoices HTTP/1.1\r\nHost: office\r\nIdempotency-Key: k\r\nContent-Length: 9\r\n\r\n"
    for body, answer in ((b"invo", b""), (b"invoice 1", b"HTTP/1.1 200 OK")):
        with socket.create_connection(office.server_address, 20) as connection:
            connection.sendall(head + body)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1000).partition(b"\r\n")[0] == answer
    assert (office.arrived, office.again) == ({"k": "invoice 1"}, 0)
    office.shutdown()
    office.server_close()


def test_every_example_says_how_to_run_it_and_is_run() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    for example in EXAMPLES.glob("*.py"):
        docstring = example.read_text().split('"""')[1]
        commands = [line.strip() for line in docstring.splitlines() if line.startswith("    ")]
        assert any(example.stem in command for command in commands), f"{example.name} does not say how to run it"
        assert example.stem in tests, f"no test runs {example.name}"
