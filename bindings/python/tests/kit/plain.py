"""A transport as somebody might write it over the standard library: with one fault, or with none."""

from __future__ import annotations

import http.client
import time
import urllib.parse
import uuid

from keyledger import Delivery, DeliveryOutcome, HttpAnswer, HttpRequest, KeyField
from keyledger._native import HttpSend


class Plain:
    """`fault` names what it does wrong."""

    def __init__(self, fault: str | None = None) -> None:
        self._fault = fault

    def send(self, delivery: Delivery) -> DeliveryOutcome:
        send = HttpSend.of(delivery, KeyField())
        assert isinstance(send, HttpSend)
        url = urllib.parse.urlsplit(send.request.url)
        timeout = 60 if self._fault == "waits" else delivery.lease_left_seconds
        connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=timeout)
        has_left = False
        try:
            connection.connect()
            has_left = self._fault != "forgets doubt"
            return self._exchange(connection, send.request, send.fields)
        except (OSError, http.client.HTTPException) as error:
            if self._fault == "cut means no":
                return DeliveryOutcome.dead(str(error))
            return send.silent(str(error), may_have_left=has_left, hops=0)
        finally:
            connection.close()

    def _exchange(
        self, connection: http.client.HTTPConnection, request: HttpRequest, fields: list[tuple[str, bytes]]
    ) -> DeliveryOutcome:
        lines = {name: value.decode() for name, value in fields}
        if self._fault == "new key":
            lines["Idempotency-Key"] = str(uuid.uuid4())
        more = uuid.uuid4().bytes if self._fault == "other bytes" else b""
        lines["Content-Length"] = str(len(request.body + more))
        connection.request(request.method, "/", request.body + more, lines)
        answer = connection.getresponse()
        body = answer.read()
        if self._fault == "all is well":
            return DeliveryOutcome.yes(body)
        if self._fault == "errors are final" and answer.status >= 500:
            return DeliveryOutcome.no(body)
        return HttpAnswer(answer.status, answer.getheaders(), body).outcome(int(time.time() * 1000), 1 << 20)
