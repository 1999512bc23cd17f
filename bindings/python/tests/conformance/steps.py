"""Does the steps of a scenario. `ACTS` has one function for each; those on rows and the outbox's are in files of their own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import keyledger
from keyledger import (
    Begin,
    Claim,
    Fingerprint,
    KeyledgerError,
    Operation,
    Refused,
    ReplayedFailure,
    Response,
)

from . import shown
from .checking import Differs, Raised, Step, check
from .outbox import OUTBOX
from .rows import ROWS
from .shown import told
from .values import span, to_bytes, to_fingerprint, to_key, to_response, to_scope
from .world import Held, World


class NotDone(Raised):
    """The same, in the list of those that say: it surely did not happen."""


class Final(Raised):
    """The same, in the list of those that are a final no; with the response to store."""

    def __init__(self, text: str, handler: Step) -> None:
        super().__init__(text)
        self.response = to_response(handler["response"])


def run_steps(world: World, steps: list[Step]) -> None:
    for number, step in enumerate(steps, 1):
        try:
            _one(world, step)
        except Differs as differs:
            raise Differs(f"step {number} ({step['do']}): {differs}") from None


def _one(world: World, step: Step) -> None:
    before = world.file_bytes() if step.get("file") == "unchanged" else None
    world.ran = False
    happened = ACTS[step["do"]](world, step)
    if "expect" in step:
        check(world, step["expect"], happened)
    if step.get("ran", world.ran) != world.ran:
        raise Differs(f"ran: expected {step['ran']}, found {world.ran}")
    if before is not None and before != world.file_bytes():
        raise Differs("the step changed the file")


def _repeat(world: World, step: Step) -> None:
    for _ in range(step["times"]):
        run_steps(world, step["steps"])


# Begin.


def _arguments(world: World, step: Step) -> tuple[Operation, str, str, Fingerprint]:
    fingerprint = to_fingerprint(step.get("fingerprint"))
    return (world.operation(step["op"]), to_scope(step.get("scope")), to_key(step.get("key")), fingerprint)


def _asked(world: World, step: Step) -> Begin:
    wait = {"wait": span(step["wait_ms"])} if "wait_ms" in step else {}
    return Begin(*_arguments(world, step), memo=to_bytes(step.get("memo", "")), **wait)


def _keep(world: World, step: Step, decided: Any) -> Any:
    told = shown.decision(decided)
    if isinstance(decided, keyledger.Acquired):
        world.keep(step.get("as"), step["op"], decided.claim)
    return told


def _begin(world: World, step: Step) -> Any:
    def call() -> Any:
        asked = _asked(world, step)
        return _keep(world, step, world.ledger.begin_with(asked))

    return told(call)


def _begin_many(world: World, step: Step) -> Any:
    def call() -> Any:
        decided = world.ledger.begin_many([_asked(world, begin) for begin in step["begins"]])
        return [_keep(world, begin, one) for begin, one in zip(step["begins"], decided, strict=True)]

    return told(call)


# Settling.


def _target(world: World, step: Step) -> Any:
    on = step.get("on")
    return world.claims[step["claim"]].key_id if on is None else world.key_id(on)


def _settle(verb: str, argument: Callable[[Step], tuple[Any, ...]]) -> Callable[[World, Step], Any]:
    def act(world: World, step: Step) -> Any:
        if step.get("by") == "fence":
            fence = world.names.fences[step["claim"]]
            return told(lambda: getattr(world.ledger, verb)(_target(world, step), fence, *argument(step)))
        held = world.claims[step["claim"]]
        happened = told(lambda: getattr(world.claim(step["claim"]), verb)(*argument(step)))
        if happened == "ok" and verb in {"complete", "fail", "release", "park"}:
            held.claim = None
        return happened

    return act


def _heartbeat(world: World, step: Step) -> Any:
    lease = {"lease": span(step["lease_ms"])} if "lease_ms" in step else {}
    if step.get("by") != "fence":
        return told(lambda: world.claim(step["claim"]).heartbeat(**lease))
    held = world.claims[step["claim"]]
    given = lease.get("lease", world.operation(held.op).lease_seconds)
    return told(lambda: world.ledger.heartbeat(held.key_id, world.names.fences[step["claim"]], given))


def _step(world: World, step: Step) -> Any:
    def value() -> bytes:
        world.ran = True
        return to_bytes(step["value"])

    return told(lambda: {"value": shown.shown_bytes(world.claim(step["claim"]).step(step["name"], value))})


def _drop(world: World, step: Step) -> None:
    world.claims[step["claim"]].claim = None


# Records.


def _inspect(world: World, step: Step) -> Any:
    try:
        key_id = world.key_id(step)
        view = world.ledger.inspect(key_id)
    except KeyledgerError as error:
        return shown.failed(error)
    if view is None:
        return None
    if "as" in step:
        world.names.fences[step["as"]] = view.fence
        world.claims[step["as"]] = Held(key_id, step["op"], None)
    return shown.record(view)


def _filter(world: World, which: Step) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    if "op" in which:
        wanted["operation"] = world.operation_name(which["op"])
    if "scope" in which:
        wanted["scope"] = to_scope(which["scope"])
    if "state" in which:
        wanted["state"] = which["state"]
    if "page" in which:
        wanted["limit"] = which["page"]
    return wanted


def _list(world: World, step: Step) -> Any:
    def call() -> Any:
        wanted, keys, after = _filter(world, step["filter"]), [], None
        while True:
            page = world.ledger.list(**wanted, after=after)
            keys += [view.key_id.key for view in page.records]
            after = page.next
            if after is None:
                return {"keys": sorted(keys)}

    return told(call)


def _recover(world: World, step: Step) -> Any:
    def call() -> Any:
        claims: list[Claim] = world.ledger.recover(world.operation(step["op"]), step["limit"])
        if step.get("any_order"):
            claims.sort(key=lambda claim: (claim.key_id.scope.encode(), claim.key_id.key.encode()))
        happened = {"claims": [shown.claim(claim) for claim in claims]}
        names = step.get("as", [])
        for number, claim in enumerate(claims):
            world.keep(names[number] if number < len(names) else None, step["op"], claim)
        return happened

    return told(call)


def _verdict(step: Step) -> dict[str, Any]:
    response = {"response": to_response(step["response"])} if "response" in step else {}
    return {"outcome": step["outcome"], "who": step["who"], "note": step["note"], **response}


def _resolve(world: World, step: Step) -> Any:
    fence = world.names.fences[step["fence"]]
    return told(lambda: world.ledger.resolve(world.key_id(step), fence, **_verdict(step)))


def _resolve_many(world: World, step: Step) -> Any:
    wanted = _filter(world, step["filter"])
    return told(lambda: {"resolved": world.ledger.resolve_many(**_verdict(step), **wanted)})


_FORGOTTEN = ("settled", "released", "tombstones", "unsettled", "kept_unsettled", "entries", "kept_entries")
_COUNTED = ("in_progress", "released", "completed", "failed", "parked", "tombstones")


def _members(of: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(of, name) for name in names}


def _forget(world: World, step: Step) -> Any:
    even = step["even_if_unknown"]
    return told(lambda: _members(world.ledger.forget(world.key_id(step), even_if_unknown=even), _FORGOTTEN))


def _forget_scope(world: World, step: Step) -> Any:
    scope, even = to_scope(step["scope"]), step["even_if_unknown"]
    return told(lambda: _members(world.ledger.forget_scope(scope, even_if_unknown=even), _FORGOTTEN))


def _sweep(world: World, step: Step) -> Any:
    names = ("tombstoned", "removed", "entries_removed", "more")
    return told(lambda: _members(world.ledger.sweep(step["limit"]), names))


def _stats(world: World, _step: Step) -> Any:
    def call() -> Any:
        stats = world.ledger.stats()
        oldest = stats.oldest_unsettled_at_ms
        return {
            **_members(stats, _COUNTED),
            "lapsed": stats.lapsed.count,
            "due": stats.due.count,
            "oldest_unsettled_at_ms": None if oldest is None else shown.at(oldest),
        }

    return told(call)


# Run.


def _run(world: World, step: Step) -> Any:
    handler = step["handler"]

    def handle(claim: Claim) -> Response:
        world.ran = True
        ran = world.ran
        if "claim" in handler:
            check(world, handler["claim"], shown.claim(claim))
        run_steps(world, handler.get("during", []))
        world.ran = ran
        if "returns" in handler:
            return to_response(handler["returns"])
        raise {"not_done": NotDone, "final": Final}.get(handler.get("class"), Raised)(handler["raises"], handler)

    try:
        asked = _arguments(world, step)
        response = world.ledger.run(*asked, handle, not_done=(NotDone,), final=(Final,))
        return {"response": shown.shown_response(response)}
    except Raised as raised:
        return {"raised": str(raised.args[0])}
    except Refused as refused:
        decided = shown.decision(refused.decision)
        return {"refused": refused.code, **decided}
    except ReplayedFailure as failure:
        return {"replayed_failure": shown.shown_response(failure.response)}
    except KeyledgerError as error:
        return shown.failed(error)


def _plain(verb: str) -> Callable[[World, Step], Any]:
    return lambda world, _step: told(getattr(world.ledger, verb))


ACTS: dict[str, Callable[[World, Step], Any]] = {
    "advance": lambda world, step: world.clock.advance(span(step["ms"])),
    "jump": lambda world, step: world.clock.jump_wall(step["ms"]),
    "repeat": _repeat,
    "restart": lambda world, _step: world.restart(),
    "kill": lambda world, _step: world.kill(),
    "suspend": _plain("suspend"),
    "resume": _plain("resume"),
    "reopen": _plain("reopen"),
    "close": _plain("close"),
    "begin": _begin,
    "begin_many": _begin_many,
    "complete": _settle("complete", lambda step: (to_response(step["response"]),)),
    "fail": _settle("fail", lambda step: (to_response(step["response"]),)),
    "release": _settle("release", lambda _step: ()),
    "park": _settle("park", lambda step: (step["reason"],)),
    "record_step": _settle("record_step", lambda step: (step["name"], to_bytes(step["value"]))),
    "heartbeat": _heartbeat,
    "step": _step,
    "drop": _drop,
    "look": lambda world, step: shown.claim(world.claim(step["claim"])),
    "derive_key": lambda world, step: world.claim(step["claim"]).derive_key(step["name"]),
    "inspect": _inspect,
    "list": _list,
    "recover": _recover,
    "resolve": _resolve,
    "resolve_many": _resolve_many,
    "forget": _forget,
    "forget_scope": _forget_scope,
    "sweep": _sweep,
    "stats": _stats,
    "run": _run,
    **ROWS,
    **OUTBOX,
}


def well(world: World) -> None:
    """Nothing in the file is at odds with anything else (I7), where the scenario has left it open."""
    with suppress(keyledger.errors.Closed, keyledger.errors.Suspended):
        checked = world.ledger.check()
        assert checked.is_well, checked.faults
