"""A server that remembers keys: `python server.py PORT JOURNAL`. What it does is in the path.

/ok answers; /slow/SECONDS answers later; /cut/N closes the connection on the first N tries of a key, after the work
was done; /status/CODE answers so, /status/CODE/N on the first N tries of a key; /signed wants Authorization: good;
/to/CODE redirects to /ok; /drip/SECONDS sends its body byte by byte; /field shows the fields of the request.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()
TRIES: Counter[str] = Counter()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        key = self.headers.get("Idempotency-Key", "")
        with LOCK:
            TRIES[key] += 1
            tries = TRIES[key]
            fields = [[name, value] for name, value in self.headers.items()]
            seen = {
                "path": self.path,
                "key": key,
                "body": body.decode(),
                "try": tries,
                "fields": fields,
                "port": self.client_address[1],
            }
            with open(sys.argv[2], "a") as journal:
                journal.write(json.dumps(seen) + "\n")
        _, what, *words = self.path.split("/")
        getattr(self, f"say_{what}")(tries, *words)

    def answer(self, status: int, text: str = "done", **fields: str) -> None:
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def say_ok(self, tries: int) -> None:
        self.answer(200, Set_Cookie="session=1", X_Try=str(tries))

    def say_slow(self, _tries: int, seconds: str) -> None:
        time.sleep(float(seconds))
        self.answer(200)

    def say_cut(self, tries: int, often: str) -> None:
        if tries > int(often):
            self.answer(200, "it was done before", Idempotent_Replayed="true")
        else:
            self.close_connection = True

    def say_status(self, tries: int, status: str, often: str = "1000000") -> None:
        if tries > int(often):
            self.answer(200)
        else:
            self.answer(int(status), "no")

    def say_signed(self, _tries: int) -> None:
        self.answer(200 if self.headers.get("Authorization") == "good" else 401)

    def say_to(self, _tries: int, status: str) -> None:
        self.answer(int(status), Location="/ok")

    def say_long(self, _tries: int, length: str) -> None:
        self.answer(200, "x" * int(length))

    def say_drip(self, _tries: int, seconds: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        for _ in range(100):
            self.wfile.write(b"x")
            self.wfile.flush()
            time.sleep(float(seconds) / 100)

    def log_message(self, *_words: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print("ready", flush=True)
    server.serve_forever()
