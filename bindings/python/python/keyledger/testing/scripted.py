"""A transport that says what the test told it to."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from keyledger._native import Delivery, DeliveryOutcome

Step: TypeAlias = "DeliveryOutcome | Exception | Callable[[Delivery], DeliveryOutcome]"


class Sent(NamedTuple):
    """One delivery that was sent."""

    scope: str
    operation: str
    key: str
    request: bytes


class ScriptedTransport:
    """Answers each delivery with the next step of a script: an outcome, an exception to raise, or a function of the delivery.

    Past the end of the script it answers yes. `sent` has what was sent, in order.

    Example:
        from keyledger.testing import ScriptedTransport

        entry, created = outbox.enqueue("user-7", "charge", b"990 cents", purpose="pay cart 42")
        transport = ScriptedTransport([DeliveryOutcome.retry("503"), DeliveryOutcome.yes("paid")])
        outbox.drain("user-7", transport, until=30)
        assert [sent.key for sent in transport.sent] == [entry.key, entry.key]

    """

    def __init__(self, script: Iterable[Step] = ()) -> None:
        """Nothing is sent yet."""
        self._script = deque(script)
        self._lock = threading.Lock()
        self.sent: list[Sent] = []

    def send(self, delivery: Delivery) -> DeliveryOutcome:
        """Note the delivery, and take the next step."""
        with self._lock:
            self.sent.append(Sent(delivery.scope, delivery.operation, delivery.key, delivery.request))
            step: Step = self._script.popleft() if self._script else DeliveryOutcome.yes("")
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, DeliveryOutcome) else step(delivery)
