"""A real server on this machine that answers as a script says: it cuts connections, stalls, and says what a server may say."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import Self

_LINGER_NOT = struct.pack("ii", 1, 0)
_PATIENCE_SECONDS = 10.0


class Seen(NamedTuple):
    """A request as it came: its first line's method and path, its lines, its body."""

    method: str
    path: str
    fields: list[tuple[str, str]]
    body: bytes

    def all(self, name: str) -> list[str]:
        """The values of all lines of that name."""
        return [value for known, value in self.fields if known.lower() == name.lower()]


class Reply(NamedTuple):
    """What the server does with one request. `cut`: `"before"` it has read it, or `"after"`; `stall_seconds`: then it answers."""

    status: int = 200
    fields: Sequence[tuple[str, str]] = ()
    body: bytes = b"done"
    cut: str | None = None
    stall_seconds: float = 0

    def __str__(self) -> str:
        """The reply in a few words."""
        if self.cut is not None:
            return f"cut {self.cut} reading"
        fields = "".join(f" {name}: {value}" for name, value in self.fields)
        return f"{self.status}{fields}" + (f" after {self.stall_seconds} s" if self.stall_seconds else "")


class TransportServer:
    """Listens on a port of its own while its block runs. Past the end of the script it answers 200.

    `seen` has the requests that were read, in order.

    Example:
        from keyledger.testing import Reply, TransportServer

        with TransportServer([Reply(503), Reply(cut="after")]) as server:
            assert httpx.post(server.url).status_code == 503

    """

    def __init__(self, script: Iterable[Reply] = (), *, listens: bool = True) -> None:
        """Take a port; without `listens` connections to it are refused until `listen`."""
        self._script = deque(script)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", 0))
        self._listens = listens
        self.seen: list[Seen] = []

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/"

    def __enter__(self) -> Self:
        if self._listens:
            self.listen()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped.set()
        # One that never listened cannot be shut down, and need not be.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def listen(self) -> None:
        """From now on it answers."""
        self._socket.listen()
        threading.Thread(target=self._accept, name="keyledger-transport-server", daemon=True).start()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(_PATIENCE_SECONDS)
        with self._lock:
            reply = self._script.popleft() if self._script else Reply()
        with connection, contextlib.suppress(OSError, ValueError):
            self._answer(connection, reply)

    def _answer(self, connection: socket.socket, reply: Reply) -> None:
        if reply.cut == "before":
            connection.recv(1)
            return _reset(connection)
        seen = _read(connection)
        with self._lock:
            self.seen.append(seen)
        if reply.cut == "after":
            return _reset(connection)
        self._stopped.wait(reply.stall_seconds)
        lines = [*reply.fields, ("Content-Length", str(len(reply.body))), ("Connection", "close")]
        head = f"HTTP/1.1 {reply.status} Said\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines) + "\r\n"
        connection.sendall(head.encode("latin-1") + reply.body)
        return None


def _reset(connection: socket.socket) -> None:
    """Ends it without a word, as a machine does that loses power."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
    connection.close()


def _read(connection: socket.socket) -> Seen:
    stream = connection.makefile("rb")
    method, path, _ = stream.readline().decode("latin-1").split(" ", 2)
    fields: list[tuple[str, str]] = []
    while line := stream.readline().decode("latin-1").strip():
        name, _, value = line.partition(":")
        fields.append((name.strip(), value.strip()))
    lengths = [int(value) for name, value in fields if name.lower() == "content-length"]
    return Seen(method, path, fields, stream.read(lengths[0]) if lengths else b"")
