"""Enqueueing, leasing, sending by a script, and settling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyledger import Batch, Delivery, DeliveryOutcome, Enqueue, Report, Transaction

from .mail import Step, named, outbox, shown_delivery
from .shown import told
from .values import shown_bytes, span, to_bytes, to_fingerprint, to_key, to_response, to_scope, to_text
from .world import START_MS, World

LIMIT = 10

# Enqueueing.


def _wanted(step: Step) -> Enqueue:
    own: Step = {name: to_text(step[name]) for name in ("lane", "purpose") if name in step}
    if "key" in step:
        own["key"] = to_key(step["key"])
    if "fingerprint" in step:
        own["fingerprint"] = to_fingerprint(step["fingerprint"])
    if "send_by_at_ms" in step:
        own["send_by"] = START_MS + step["send_by_at_ms"]
    return Enqueue(
        to_scope(step.get("scope")),
        to_text(step.get("operation", "charge")),
        to_bytes(step.get("request", "request-1")),
        media_type=to_text(step.get("media_type", "text/plain")),
        even_if_answered=step.get("even_if_answered", False),
        **own,
    )


def _enqueue(world: World, step: Step) -> Any:
    return told(lambda: _enqueued(world, step, outbox(world).enqueue(_wanted(step))))


def _enqueued(world: World, step: Step, enqueued: Any) -> Step:
    return {"created": enqueued.created, "entry": named(world, step.get("as"), enqueued.entry)}


def enqueue_within(world: World, to: Transaction | Batch, call: Step) -> Any:
    """`enqueue` inside a transaction or a batch."""
    answered = to.enqueue(outbox(world), _wanted(call))
    return None if isinstance(answered, Batch) else _enqueued(world, call, answered)


def _enqueue_many(world: World, step: Step) -> Any:
    def call() -> Any:
        answers = outbox(world).enqueue_many([_wanted(one) for one in step["enqueues"]])
        return [_enqueued(world, one, answered) for one, answered in zip(step["enqueues"], answers, strict=True)]

    return told(call)


def _find(world: World, step: Step) -> Any:
    lane = to_text(step.get("lane", "default"))

    def call() -> Any:
        found = outbox(world).find(to_scope(step.get("scope")), to_text(step["purpose"]), lane)
        return {} if found is None else named(world, step.get("as"), found)

    return told(call) or None


# Sending.


def _outcome(value: Step) -> DeliveryOutcome:
    kinds = ("yes", "no", "retry", "dead", "unknown", "hold_lane", "hold_entry")
    kind = next(kind for kind in kinds if kind in value)
    given = value[kind]
    outcome: DeliveryOutcome = getattr(DeliveryOutcome, kind)(to_response(given) if kind in ("yes", "no") else given)
    for mark in ("replayed", "not_taken", "not_counted", "pausing_lane"):
        if value.get(mark):
            outcome = getattr(outcome, mark)()
    for mark in ("not_before", "key_expires_after"):
        if f"{mark}_ms" in value:
            outcome = getattr(outcome, mark)(span(value[f"{mark}_ms"]))
    return outcome


def _kept(world: World, names: list[str], deliveries: list[Delivery]) -> list[Step]:
    for number, delivery in enumerate(deliveries):
        world.mail.keep(names[number] if number < len(names) else None, delivery)
    return [shown_delivery(delivery) for delivery in deliveries]


def _leased(world: World, step: Step, limit: int) -> list[Delivery]:
    return outbox(world).lease_due(to_scope(step.get("scope")), step.get("limit", limit))


def _lease_due(world: World, step: Step) -> Any:
    return told(lambda: {"deliveries": _kept(world, step.get("as", []), _leased(world, step, LIMIT))})


def _deliver(world: World, step: Step) -> Any:
    script, names = step["script"], step.get("as", [])

    def call() -> Any:
        deliveries = _leased(world, step, len(script))
        assert len(deliveries) <= len(script)
        given = [names[i] if i < len(names) else f"scripted {i}" for i in range(len(deliveries))]
        shown = _kept(world, given, deliveries)
        deliveries.clear()
        settled = [_answered(world, name, answer) for name, answer in zip(given, script, strict=False)]
        return {"deliveries": shown, "settled": settled}

    return told(call)


def _answered(world: World, name: str, answer: Any) -> Any:
    if answer == "silence":
        handed = world.mail.deliveries[name]
        if handed.delivery is not None:
            # Its process hears nothing and says nothing: not even that it has let go.
            handed.delivery.report(DeliveryOutcome.retry("silence"))
            handed.delivery = None
        return None
    if answer == "drop":
        return _drop(world, {"delivery": name})
    return _settle(world, {"delivery": name, "outcome": answer})


def _settle(world: World, step: Step) -> Any:
    handed, outcome = world.mail.deliveries[step["delivery"]], _outcome(step["outcome"])
    delivery = handed.delivery
    if delivery is None:
        return told(lambda: outbox(world).settle(Report(handed.id, handed.fence, outcome)))
    happened = told(lambda: delivery.settle(outcome))
    if happened == "ok":
        handed.delivery = None
    return happened


def _report(world: World, step: Step) -> Report:
    handed, outcome = world.mail.deliveries[step["delivery"]], _outcome(step["outcome"])
    delivery, handed.delivery = handed.delivery, None
    return Report(handed.id, handed.fence, outcome) if delivery is None else delivery.report(outcome)


def _settle_and_lease(world: World, step: Step) -> Any:
    reports = [_report(world, one) for one in step["reports"]]

    def call() -> Any:
        turn = outbox(world).settle_and_lease(reports, to_scope(step.get("scope")), step.get("limit", LIMIT))
        settled = ["ok" if error is None else {"error": error.code} for error in turn.settled]
        return {"settled": settled, "deliveries": _kept(world, step.get("as", []), turn.deliveries)}

    return told(call)


def _drop(world: World, step: Step) -> None:
    handed = world.mail.deliveries[step["delivery"]]
    if handed.delivery is not None:
        handed.delivery.drop()
    handed.delivery = None


def _wire(world: World, _step: Step) -> Any:
    requests = sorted({(media_type, request) for _, media_type, request in world.mail.wire})
    return {
        "sends": len(world.mail.wire),
        "keys": len({key for key, _, _ in world.mail.wire}),
        "requests": [shown_bytes(request) for _, request in requests],
    }


SENDING: dict[str, Callable[[World, Step], Any]] = {
    "enqueue": _enqueue,
    "enqueue_many": _enqueue_many,
    "find": _find,
    "lease_due": _lease_due,
    "deliver": _deliver,
    "settle": _settle,
    "settle_and_lease": _settle_and_lease,
    "drop_delivery": _drop,
    "wire": _wire,
}
