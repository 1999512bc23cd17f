"""Clients that ask for the same keys until each is answered for good."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from collections import defaultdict

REQUESTS = 25
"""So many go out over one connection."""

Answers = dict[tuple[str, str], set[tuple[int, bytes]]]


class Crowd:
    """`many` clients, each of which asks for all keys, in an order of its own, each on one of the paths in turn."""

    def __init__(self, port: int, paths: tuple[str, ...], keys: int, many: int) -> None:
        self._port, self._paths, self._keys = port, paths, keys
        self._lock = threading.Lock()
        self.answers: Answers = defaultdict(set)
        self.sent = 0
        self._clients = [threading.Thread(target=self._client, args=(number,), daemon=True) for number in range(many)]

    def start(self) -> None:
        for client in self._clients:
            client.start()

    def is_done(self) -> bool:
        return not any(client.is_alive() for client in self._clients)

    def _client(self, number: int) -> None:
        path_of = lambda key: self._paths[(number + key) % len(self._paths)]  # noqa: E731
        open_ones = [(path_of(key), f"key-{key}") for key in range(self._keys)]
        random.Random(number).shuffle(open_ones)
        connection: _Connection | None = None
        while open_ones:
            later: list[tuple[str, str]] = []
            for path, key in open_ones:
                connection = connection or _Connection(self._port)
                answer = connection.post(path, key)
                if answer is None or connection.is_over():
                    connection = None
                if answer is None or b"in-progress" in answer[1] or answer[0] == 503:
                    later.append((path, key))
                    continue
                with self._lock:
                    self.answers[path, key].add(answer)
            with self._lock:
                self.sent += len(open_ones)
            open_ones = later
            if later:
                time.sleep(0.1)


class _Connection:
    """A connection that stays open for as long as its worker lives, and for some requests: one worker would have all of them else."""

    def __init__(self, port: int) -> None:
        self._socket: socket.socket | None = None
        self._left = REQUESTS
        with contextlib.suppress(OSError):
            self._socket = socket.create_connection(("127.0.0.1", port), 20)
        self._read = b""

    def post(self, path: str, key: str) -> tuple[int, bytes] | None:
        """Status and body; None where the connection broke."""
        if self._socket is None:
            time.sleep(0.05)
            return None
        head = f'POST {path} HTTP/1.1\r\nHost: x\r\nIdempotency-Key: "{key}"\r\nContent-Length: 2\r\n\r\n{{}}'
        try:
            self._socket.sendall(head.encode())
            return self._answer()
        except OSError:
            self._socket.close()
            return None

    def is_over(self) -> bool:
        """Whether the next request goes out over another one."""
        self._left -= 1
        if self._left or self._socket is None:
            return False
        self._socket.close()
        return True

    def _answer(self) -> tuple[int, bytes] | None:
        while b"\r\n\r\n" not in self._read:
            self._more()
        head, _, rest = self._read.partition(b"\r\n\r\n")
        lines = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = int(lines[b"content-length"])
        self._read = rest
        while len(self._read) < length:
            self._more()
        body, self._read = self._read[:length], self._read[length:]
        return int(head.split(b" ", 2)[1]), body

    def _more(self) -> None:
        assert self._socket is not None
        piece = self._socket.recv(1 << 16)
        if not piece:
            raise ConnectionResetError
        self._read += piece
