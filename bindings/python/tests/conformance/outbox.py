"""The steps of the outbox: opening it, deciding about entries, and looking into it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyledger import Entry

from . import shown
from .mail import Step, id_of, named, outbox, settings
from .sending import SENDING, enqueue_within
from .shown import at, told
from .values import shown_bytes, span, to_response, to_scope, to_text
from .world import World

__all__ = ["OUTBOX", "enqueue_within"]


def _cancel(world: World, step: Step) -> Any:
    def call() -> Any:
        answer = outbox(world).cancel(id_of(world, step["entry"]))
        return {"cancel": "cancelled" if answer.is_cancelled else "too_late", "entry": shown.entry(answer.entry)}

    return told(call)


def _resume_scope(world: World, step: Step) -> Any:
    def call() -> Any:
        resumed = outbox(world).resume(to_scope(step.get("scope")))
        return {"lanes": resumed.lanes, "entries": resumed.entries}

    return told(call)


def _decided(verb: str, *said: str) -> Callable[[World, Step], Any]:
    def act(world: World, step: Step) -> Any:
        words = {name: to_text(step[name]) for name in said}
        return told(lambda: shown.entry(getattr(outbox(world), verb)(id_of(world, step["entry"]), **words)))

    return act


def _resolve_entry(world: World, step: Step) -> Any:
    response = [to_response(step["response"])] if "response" in step else []
    said = {name: to_text(step[name]) for name in ("who", "note")}

    def call() -> Any:
        resolved = outbox(world).resolve(id_of(world, step["entry"]), step["outcome"], *response, **said)
        return named(world, step.get("as"), resolved)

    return told(call)


def _entry(world: World, step: Step) -> Any:
    def call() -> Any:
        entry, request = (look(id_of(world, step["entry"])) for look in (outbox(world).get, outbox(world).request))
        if entry is None or request is None:
            return {} if entry is request else {"half": True}
        return {**shown.entry(entry), "media_type": request[0], "request": shown_bytes(request[1])}

    return told(call) or None


def _list_entries(world: World, step: Step) -> Any:
    which = step.get("filter", {})
    wanted = {name: which[name] for name in ("lane", "state") if name in which}
    if "scope" in which:
        wanted["scope"] = to_scope(which["scope"])
    if "page" in which:
        wanted["limit"] = which["page"]

    def call() -> Any:
        entries: list[Entry] = []
        after = None
        while True:
            page = outbox(world).list(**wanted, after=after)
            entries += page.entries
            after = page.next
            if after is None:
                return {"entries": [shown.entry(entry) for entry in entries]}

    return told(call)


def _outbox_stats(world: World, _step: Step) -> Any:
    def call() -> Any:
        stats = outbox(world).stats()
        lanes = [
            {
                "scope": lane.scope,
                "lane": lane.lane,
                "reason": lane.held_reason,
                "held_since_at_ms": None if lane.held_since_ms is None else at(lane.held_since_ms),
                "paused_until_at_ms": None if lane.paused_until_ms is None else at(lane.paused_until_ms),
            }
            for lane in stats.lanes
        ]
        names = ("unsettled", "unsettled_bytes", "budget", "held_lanes")
        return {**{name: getattr(stats, name) for name in names}, "lanes": lanes, **stats.counts}

    return told(call)


def _changes(world: World, _step: Step) -> Any:
    def call() -> Any:
        changes = outbox(world).changes(world.mail.last_change)
        entries = list(iter(lambda: changes.next(0), None))
        world.mail.last_change = changes.last_change
        return {"entries": [shown.entry(entry) for entry in entries]}

    return told(call)


def _open_outbox(world: World, step: Step) -> Any:
    def call() -> None:
        own = {**(world.mail.settings or {}), **step["outbox"]}
        world.mail.outbox = world.ledger.outbox(**settings(own))
        world.mail.settings = own

    return told(call)


def _next_wakeup(world: World, step: Step) -> Any:
    def call() -> Any:
        wakeup = outbox(world).next_wakeup(to_scope(step.get("scope")))
        return {"wakeup_at_ms": None if wakeup is None else at(wakeup)}

    return told(call)


def _changes_of(world: World, step: Step) -> Any:
    return told(lambda: {"states": [next(outbox(world).changes_of(id_of(world, step["entry"]))).state]})


def _wait(world: World, step: Step) -> Any:
    return told(lambda: shown.entry(outbox(world).wait(id_of(world, step["entry"]), span(step["wait_ms"]))))


OUTBOX: dict[str, Callable[[World, Step], Any]] = {
    **SENDING,
    "open_outbox": _open_outbox,
    "next_wakeup": _next_wakeup,
    "cancel": _cancel,
    "resume_scope": _resume_scope,
    "resume_entry": _decided("resume_entry"),
    "requeue": _decided("requeue"),
    "dismiss": _decided("dismiss", "who", "note"),
    "resolve_entry": _resolve_entry,
    "entry": _entry,
    "list_entries": _list_entries,
    "outbox_stats": _outbox_stats,
    "changes": _changes,
    "changes_of": _changes_of,
    "wait": _wait,
}
