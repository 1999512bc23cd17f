"""1,000 invoices submitted over HTTP by a program that is killed twice and started again: each arrives once.

    pip install "keyledger[httpx]"
    python examples/python/outbox_invoices.py

Without arguments it is the office, which receives invoices, starts the program, kills it and starts it again. With
`submit` it is the program.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import keyledger
from keyledger import SINGLE, Enqueue, HttpRequest, Ledger, Outbox
from keyledger.transports.httpx import HttpxTransport

INVOICES = 1000
KILLED_AT = (300, 600)


def submit(path: Path, office: str) -> None:
    """The program. However often it is killed, it does the same: enqueue every invoice, and drain."""
    with keyledger.open(path) as ledger:
        outbox = open_outbox(ledger)
        # Those of an earlier run are found by their purpose, sent or not.
        outbox.enqueue_many([invoice(number, office) for number in range(INVOICES)])
        drained = outbox.drain(SINGLE, HttpxTransport(), until=60, in_flight=16, progress=True)
        print(f"this run has sent {drained.sent} and settled {drained.settled}")


def open_outbox(ledger: Ledger) -> Outbox:
    """What a killed run had in flight is sent again when its lease is over: for an invoice two seconds are plenty."""
    return ledger.outbox(lease=2, backoff=(0.1, 1, 2))


def invoice(number: int, office: str) -> Enqueue:
    """One request to be sent, under a purpose of its own."""
    request = HttpRequest("POST", office, [("Content-Type", "text/plain")], b"invoice %d" % number)
    return Enqueue(SINGLE, "submit invoice", request, purpose=f"invoice {number}")


class Office(ThreadingHTTPServer):
    """Receives invoices, and knows them by their keys."""

    daemon_threads = True

    def __init__(self) -> None:
        """Listen on a free port."""
        super().__init__(("127.0.0.1", 0), Desk)
        self.arrived: dict[str, str] = {}
        self.again = 0
        self.lock = threading.Lock()

    def handle_error(self, *_words: object) -> None:
        """Say nothing of connections that ended because their program was killed."""

    def receive(self, key: str, text: str) -> None:
        """File an invoice, unless it is there."""
        with self.lock:
            self.again += key in self.arrived
            self.arrived.setdefault(key, text)


class Desk(BaseHTTPRequestHandler):
    """One connection to the office."""

    server: Office
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Take an invoice, and give a receipt."""
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:
            return  # Whoever sent it was killed in the middle: it is none.
        self.server.receive(self.headers["Idempotency-Key"], body.decode())
        self.send_response(200)
        self.send_header("Content-Length", "8")
        self.end_headers()
        self.wfile.write(b"received")

    def log_message(self, *_words: object) -> None:
        """Say nothing of each request."""


def main() -> None:
    """The office."""
    office = Office()
    threading.Thread(target=office.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "invoices.kl"
        command = [sys.executable, __file__, "submit", str(path), f"http://127.0.0.1:{office.server_port}/invoices"]
        for count in KILLED_AT:
            program = subprocess.Popen(command)
            while len(office.arrived) < count:
                assert program.poll() is None, "the program has ended too early"
                time.sleep(0.01)
            program.kill()
            program.wait()
            # At once, and so before what the next program prints.
            print(f"the program is killed; {len(office.arrived)} invoices have arrived", flush=True)
        subprocess.run(command, check=True)
        assert len(office.arrived) == len(set(office.arrived.values())) == INVOICES
        with keyledger.open(path) as ledger:
            assert open_outbox(ledger).stats().counts["answered"] == INVOICES
        print(f"each of {INVOICES} invoices has arrived under one key; {office.again} came again, and were known")


if __name__ == "__main__":
    if sys.argv[1:2] == ["submit"]:
        submit(Path(sys.argv[2]), sys.argv[3])
    else:
        main()
