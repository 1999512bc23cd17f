"""`@ledger.idempotent(...)`: a function that runs once for each key, and answers the same ever after."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from keyledger._binding import ALL, Rule, Rules, identify_by
from keyledger._codec import Codec, JsonCodec
from keyledger._native import Acquired, Operation, Replay
from keyledger._running import Within, begun, run_claimed, run_claimed_async
from keyledger._settling import Course, Errors, Means
from keyledger.refused import Refused

if TYPE_CHECKING:
    from keyledger._claims import Span
    from keyledger._typed import Decorator
    from keyledger.ledger import Ledger

_TERMS = ("lease", "retention", "tombstone", "remembered_for", "max_attempts")


def idempotent(
    *,
    ledger: Ledger | Callable[[], Ledger],
    operation: str | Operation,
    effect: str | None = None,
    scope: str | tuple[str, ...] | Callable[..., Any],
    key: str | tuple[str, ...] | Callable[..., Any],
    fingerprint: Rule = ALL,
    memo: Rule = None,
    not_done: Errors = (),
    final: Errors = (),
    wait: Span | None = None,
    on_refused: Callable[[Refused], Any] | None = None,
    codec: Codec[Any] | None = None,
    heartbeat: bool = True,
    **terms: Any,
) -> Decorator:
    """Makes a function run once for each key; further calls get the stored result. Signature and type stay.

    For functions, methods, class methods, static methods and `async def`. `self` and `cls` are no part of a call's identity.

    Args:
        ledger: a ledger, or a callable that returns one, for decorating before it is open.
        operation: its name, or an `Operation`. Two functions of one name are one operation: they answer for each other.
        effect: `"in_ledger"`, `"repeatable"` or `"at_most_once"`. Required with a name.
        scope: whose key it is: the name of a parameter, a tuple of names, a callable that gets the same arguments, or `SINGLE`.
        key: likewise. Values are text, whole numbers or UUIDs; several are framed (F6). None and empty ones are errors.
        fingerprint: what tells a retry from another call: all arguments, unless you name some, or give a callable that makes a
            `Fingerprint`, bytes, or a JSON value. None, said on purpose: calls of one key are not compared (F7).
        memo: what to store for whoever recovers the record, up to 4 KiB: names of parameters (as a JSON object), or a callable.
        not_done: errors that mean it surely did not happen: the key is released.
        final: errors that are a final no: stored, and told to every retry as `ReplayedFailure`, or by the codec as themselves.
        wait: how long to wait for another call with the key, in seconds, before `Refused`.
        on_refused: called with the `Refused` in place of raising it; what it returns is returned.
        codec: how results are stored. Default: JSON by the return annotation (`JsonCodec`).
        heartbeat: whether a thread renews the lease while the function runs.
        **terms: `lease`, `retention`, `tombstone`, `remembered_for` in seconds, `max_attempts`: see `Operation`.

    Every other error goes by the effect, cancellation and interrupts included: AtMostOnce is parked, others are released (S8).
    An `async def` runs in a task of its own: a caller that is cancelled stops waiting, the function runs on, and its outcome is
    stored (S3). The result that the first caller gets is the stored one, read back: equal for everyone.

    Raises (when called):
        Refused: it was not run, and there is no result (S9).
        ReplayedFailure: a final no is stored.
        InvalidKey: the scope or key is missing or empty. Nothing was run or stored.
        ResultNotStored: it has run, and the codec cannot store what it returned: the key is parked.

    Raises (when decorating):
        TypeError: a generator function; a name that is no parameter; a return annotation that JSON cannot bring back.

    Example:
        @ledger.idempotent(operation="charge", effect="repeatable", scope="user_id", key="order_id")
        def charge(user_id: str, order_id: str, amount: int) -> dict[str, str]: ...

    """
    declared = _declared(operation, effect, terms)
    opened = ledger if callable(ledger) else lambda: ledger
    settings = _Settings(
        opened,
        declared,
        Rules(scope, key, fingerprint, memo),
        Means(not_done, final),
        wait,
        on_refused,
        codec,
        heartbeat,
    )
    return settings.decorate  # type: ignore[return-value]


def _declared(operation: str | Operation, effect: str | None, terms: dict[str, Any]) -> Operation:
    unknown = sorted(set(terms) - set(_TERMS))
    if unknown:
        raise TypeError(f"idempotent has no argument {unknown[0]!r}")
    if isinstance(operation, Operation):
        if effect is not None or terms:
            raise TypeError("the operation is declared: its effect and times are in it")
        return operation
    if effect is None:
        raise TypeError(
            "say the effect: in_ledger, repeatable or at_most_once; there is no default (contract, section 3)"
        )
    return Operation(operation, effect, **terms)


class _Settings:
    """What all functions of one decorator share."""

    def __init__(
        self,
        ledger: Callable[[], Ledger],
        operation: Operation,
        rules: Rules,
        means: Means,
        wait: Span | None,
        on_refused: Callable[[Refused], Any] | None,
        codec: Codec[Any] | None,
        heartbeat: bool,
    ) -> None:
        self.ledger, self.operation, self.rules, self.means = ledger, operation, rules, means
        self.wait, self.on_refused, self.codec, self.heartbeat = wait, on_refused, codec, heartbeat

    def decorate(self, function: Any) -> Any:
        if isinstance(function, (classmethod, staticmethod)):
            return type(function)(self.decorate(function.__func__))
        _refuse_generators(function)
        course = _LazyCourse(function, self.codec, self.means)
        calls = _Calls(self, function, identify_by(function, self.rules), course)
        wrapper = calls.asynchronous() if inspect.iscoroutinefunction(function) else calls.synchronous()
        return calls.dressed(wrapper)


class _LazyCourse:
    """The course of a function's outcomes. An annotation that names what comes later in its module is read at the first call."""

    def __init__(self, function: Any, codec: Codec[Any] | None, means: Means) -> None:
        self._function, self._means = function, means
        self._course = None if codec is None else Course(codec, means)
        if self._course is None:
            try:
                self.get()
            except NameError:
                pass

    def get(self) -> Course:
        if self._course is None:
            self._course = Course(JsonCodec(_returned_by(self._function)), self._means)
        return self._course


def _returned_by(function: Any) -> Any:
    plain = inspect.unwrap(function)
    try:
        return inspect.get_annotations(plain, eval_str=True).get("return", Any)
    except NameError:
        told = getattr(plain, "__annotations__", {}).get("return", Any)
        if not isinstance(told, str):
            return told
        return eval(told, getattr(plain, "__globals__", {}))


def _refuse_generators(function: Any) -> None:
    name = getattr(function, "__qualname__", repr(function))
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(
            f"{name} is a generator function: its results come one by one, and a stored answer is one; collect them in a "
            "function that returns a list, or make each of its steps idempotent"
        )
    if not callable(function):
        raise TypeError(f"{function!r} is not a function")


class _Calls:
    """The calls of one decorated function."""

    def __init__(self, settings: _Settings, function: Any, identify: Any, course: _LazyCourse) -> None:
        self.settings, self.function, self.identify, self.course = settings, function, identify, course

    def synchronous(self) -> Any:
        settings, identify, lazy, function = self.settings, self.identify, self.course, self.function
        ledger, operation, wait = settings.ledger, settings.operation, settings.wait

        def call(*args: Any, **kwargs: Any) -> Any:
            scope, key, fingerprint, memo = identify(*args, **kwargs)
            course = lazy.get()
            opened = ledger()
            decision = opened.begin(operation, scope, key, fingerprint, memo=memo, wait=wait)
            if decision.__class__ is Replay:
                return course.told(decision)
            if decision.__class__ is not Acquired:
                return self.refused(decision)
            return run_claimed(
                decision.claim,
                lambda: function(*args, **kwargs),
                course,
                lambda: opened.ask(operation, scope, key, fingerprint),
                heartbeat=settings.heartbeat,
            )

        return call

    def asynchronous(self) -> Any:
        settings, identify, lazy, function = self.settings, self.identify, self.course, self.function
        ledger, operation, wait = settings.ledger, settings.operation, settings.wait

        async def call(*args: Any, **kwargs: Any) -> Any:
            scope, key, fingerprint, memo = identify(*args, **kwargs)
            course = lazy.get()
            opened = ledger()
            decision = await begun(opened.begin_async(operation, scope, key, fingerprint, memo=memo, wait=wait))
            if decision.__class__ is Replay:
                return course.told(decision)
            if decision.__class__ is not Acquired:
                return await _awaited(self.refused(decision))
            return await run_claimed_async(
                decision.claim,
                lambda: function(*args, **kwargs),
                course,
                lambda: opened.ask(operation, scope, key, fingerprint),
                heartbeat=settings.heartbeat,
            )

        return call

    def refused(self, decision: Any) -> Any:
        refused = Refused(decision)
        if self.settings.on_refused is None:
            raise refused
        return self.settings.on_refused(refused)

    def dressed(self, wrapper: Any) -> Any:
        wrapper = functools.wraps(self.function)(wrapper)
        wrapper.operation = self.settings.operation
        wrapper.key_id = self.key_id
        wrapper.recover = self.recover
        wrapper.recover_async = self.recover_async
        return wrapper

    def key_id(self, *args: Any, **kwargs: Any) -> tuple[str, str, str]:
        scope, key, _, _ = self.identify(*args, **kwargs)
        return scope, self.settings.operation.name, key

    def recover(self, handler: Callable[[Any], Any], *, limit: int = 100) -> int:
        course, claims = self.course.get(), self.settings.ledger().recover(self.settings.operation, limit)
        for claim in claims:
            with Within(claim, heartbeat=self.settings.heartbeat):
                try:
                    course.found_out(claim, handler(claim))
                except BaseException as error:
                    course.not_found_out(claim, error)
                    raise
        return len(claims)

    async def recover_async(self, handler: Callable[[Any], Awaitable[Any]], *, limit: int = 100) -> int:
        course, claims = self.course.get(), self.settings.ledger().recover(self.settings.operation, limit)
        for claim in claims:
            with Within(claim, heartbeat=self.settings.heartbeat):
                try:
                    course.found_out(claim, await handler(claim))
                except BaseException as error:
                    course.not_found_out(claim, error)
                    raise
        return len(claims)


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
