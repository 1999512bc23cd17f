"""Flask, on a threaded werkzeug server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from flask import Flask, Response, request
from werkzeug.serving import WSGIRequestHandler, make_server

from keyledger.wsgi import IdempotencyMiddleware

from .handler import Ending, Play
from .served_asgi import METHODS, claim_or_none, principal
from .stage import World


class Quiet(WSGIRequestHandler):
    """HTTP/1.1, so that bodies may come and go in chunks, and without a log."""

    protocol_version = "HTTP/1.1"

    def log(self, *_: Any) -> None:
        """Nothing."""


class WsgiServer:
    """A werkzeug whose app is what `make` makes of each world."""

    def __init__(self, make: Any, *, joins: bool = False) -> None:
        self.joins = joins
        self._make, self._app = make, None
        self._lock, self._active = threading.Lock(), 0
        self._server = make_server("127.0.0.1", 0, self._serve, threaded=True, request_handler=Quiet)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.port: int = self._server.server_port

    def _serve(self, environ: Any, start_response: Any) -> Iterator[bytes]:
        self._count(1)
        returned: Any = None
        try:
            if environ.get("HTTP_USER") == "sent-away":
                start_response("401 Unauthorized", [("Content-Length", "12")])
                yield b"who are you?"
            else:
                returned = self._app(environ, start_response)
                yield from returned
        finally:
            if hasattr(returned, "close"):
                returned.close()
            self._count(-1)

    def _count(self, by: int) -> None:
        with self._lock:
            self._active += by

    def serve(self, world: World) -> None:
        self._app = self._make(world)

    def is_idle(self) -> bool:
        return self._active == 0

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()


def play(world: World) -> Play:
    """Plays to the point where a handler answers."""
    run = world.script.begin()
    if not run.waits_after:
        _wait(world)
    run.act(claim_or_none())
    if run.waits_after:
        _wait(world)
    return run


def _wait(world: World) -> None:
    if gate := world.gate.pass_through():
        gate.wait()


def flask(world: World) -> Any:
    """Flask, whose own pages for errors are out of the way."""
    app = Flask(__name__)
    app.config["PROPAGATE_EXCEPTIONS"] = True

    @app.route("/", defaults={"rest": ""}, methods=METHODS, provide_automatic_options=False)
    @app.route("/<path:rest>", methods=METHODS, provide_automatic_options=False)
    def handler(rest: str) -> Response:
        request.get_data()
        return respond(play(world).end())

    def scope(environ: Any) -> str | None:
        return principal(environ.get("HTTP_USER"))

    return IdempotencyMiddleware(app.wsgi_app, ledger=world.ledger, route=lambda _: world.route, scope=scope)


def respond(ending: Ending) -> Response:
    if ending.answer is None:
        raise ValueError("the handler raises")
    breaks = ending.breaks or ending.raises
    response = Response(pieces(ending.answer.body) if breaks else ending.answer.body, ending.answer.status)
    del response.headers["Content-Type"]
    for name, value in ending.answer.fields:
        if name.lower() == "content-length":
            response.headers.remove(name)
        response.headers.add(name, value.decode("latin-1"))
    return response


def pieces(body: bytes) -> Iterator[bytes]:
    yield body
    raise ValueError("the body raises")
