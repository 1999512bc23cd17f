"""The outbox of a scenario: its settings, what was sent from it, and how entries are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyledger import Delivery, Entry, Lane, Ledger, Outbox

from . import shown
from .values import shown_bytes, span, to_text, whole_ms

if TYPE_CHECKING:
    from .world import World

Step = dict[str, Any]
# The number of an entry that was never there.
NOBODY = 1 << 52


@dataclass
class Handed:
    """What a scenario knows by the name of a delivery. The object is used up by settling."""

    id: int
    fence: int
    delivery: Delivery | None


class Mail:
    """The outbox of a scenario, what was sent from it, and the deliveries that have names."""

    def __init__(self, settings: Step | None) -> None:
        self.settings = settings
        self.outbox: Outbox | None = None
        self.deliveries: dict[str, Handed] = {}
        # Deliveries that no step names: kept, because dropping one ends its lease (O6).
        self.unnamed: list[Delivery] = []
        self.wire: list[tuple[str, str, bytes]] = []
        self.last_change = 0

    def open(self, ledger: Ledger) -> None:
        """By another process: objects of the old one are gone, names are not."""
        self.unnamed.clear()
        for handed in self.deliveries.values():
            handed.delivery = None
        self.outbox = None if self.settings is None else ledger.outbox(**settings(self.settings))

    def keep(self, name: str | None, delivery: Delivery) -> None:
        self.wire.append((delivery.key, delivery.media_type, delivery.request))
        if name is None:
            self.unnamed.append(delivery)
        else:
            self.deliveries[name] = Handed(delivery.id, delivery.fence, delivery)


def settings(given: Step) -> Step:
    own: Step = {}
    for name, value in given.items():
        match name:
            case "lanes":
                own[name] = [_lane(one) for one in value]
            case "backoff":
                own[name] = (span(value["base_ms"]), span(value["cap_ms"]), value["multiplier"])
            case "retry_budget":
                own[name] = (value["retries"], span(value["refill_ms"]))
            case "bounds":
                own[name] = (value["entries"], value["bytes"])
            case "max_tries" | "max_request_bytes":
                own[name] = value
            case _:
                own[name.removesuffix("_ms")] = span(value)
    return own


def _lane(declared: Step) -> Lane:
    name = to_text(declared["name"])
    if not declared["ordered"]:
        return Lane.unordered(name)
    return Lane.ordered(name, on_stuck_head=declared.get("on_stuck_head", "block"))


def outbox(world: World) -> Outbox:
    assert world.mail.outbox is not None, "the scenario has settings for an outbox"
    return world.mail.outbox


def id_of(world: World, name: str) -> int:
    return world.names.entries.get(name, (NOBODY, ""))[0]


def shown_delivery(delivery: Delivery) -> Step:
    return {
        **shown.entry(delivery.entry),
        "request": shown_bytes(delivery.request),
        "media_type": delivery.media_type,
        "in_doubt": delivery.is_in_doubt,
        "lease_left_ms": whole_ms(delivery.lease_left_seconds),
        "fence": delivery.fence,
    }


def named(world: World, name: str | None, entry: Entry) -> Step:
    if name is not None:
        world.names.entries[name] = (entry.id, entry.key)
    return shown.entry(entry)
