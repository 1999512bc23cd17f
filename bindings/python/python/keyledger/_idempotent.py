"""`@ledger.idempotent(...)`: a function that runs once for each key, and answers the same ever after."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict, overload

from keyledger._binding import ALL, Rule, Rules, identify_by
from keyledger._checked import ErrorClasses, check_codec, check_on_refused, check_operation, means_of
from keyledger._codec import Codec, JsonCodec
from keyledger._declared import declare
from keyledger._kept import RESULT, Asked
from keyledger._native import Acquired, KeyId, Operation, Replay
from keyledger._recovery import Recovery
from keyledger._refused import Refused
from keyledger._running import run_claimed, run_claimed_async
from keyledger._settling import Course, Means
from keyledger._unbegun import awaited, called_of, has_run, is_async, is_generating

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from keyledger._ledger import Ledger
    from keyledger._typed import Decorator
    from keyledger._values import Effect, EffectName, Span

_TERMS = ("lease", "retention", "tombstone", "remembered_for", "max_attempts")


Named = str | tuple[str, ...] | Callable[..., Any]
"""A parameter's name, several, or a callable that is given the same arguments."""


class _Asks(TypedDict, total=False):
    fingerprint: Rule
    memo: Rule
    not_done: ErrorClasses
    final: ErrorClasses
    wait: Span
    codec: Codec[Any]
    heartbeat: bool


class Terms(_Asks, total=False):
    """The arguments of `idempotent` that a task of Celery's has as well."""

    lease: Span
    retention: Span
    tombstone: Span
    remembered_for: Span
    max_attempts: int


class _Whose(TypedDict):
    scope: Named
    key: Named


class _WhenRefused(TypedDict, total=False):
    on_refused: Callable[[Refused], Any]


class ByName(_Whose, Terms, _WhenRefused):
    """The arguments of `idempotent` with the name of an operation, whose effect has to be said."""

    operation: str
    effect: EffectName | Effect


class Declared(_Whose, _Asks, _WhenRefused):
    """The arguments of `idempotent` with an `Operation`, which has the effect and the times."""

    operation: Operation


class _Needed(_Whose):
    operation: str | Operation


class Settings(_Needed, Terms, _WhenRefused, total=False):
    """The arguments of `idempotent`, but for its ledger."""

    effect: EffectName | Effect


@overload
def idempotent(*, ledger: Ledger | Callable[[], Ledger], **settings: Unpack[ByName]) -> Decorator: ...
@overload
def idempotent(*, ledger: Ledger | Callable[[], Ledger], **settings: Unpack[Declared]) -> Decorator: ...
def idempotent(*, ledger: Ledger | Callable[[], Ledger], **settings: Unpack[Settings]) -> Decorator:
    """Makes a function run once for each key; further calls get the stored result. Signature and type stay.

    For functions, methods, class methods, static methods, objects with a `__call__`, and `async def` of each. `self` and
    `cls` are no part of a call's identity.

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
        final: errors that are a final no: stored, and told to every retry as `ReplayedFailure`, or by the codec as themselves. Where
            a class is in one list and one that is derived from it in the other, the narrower counts.
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
        TypeError: it returned a coroutine, or a generator that its codec does not take. Nothing of that has run.
        ResultUnreadable: it was done, and somebody settled it with what the codec cannot read.

    Raises (when decorating):
        TypeError: a generator function; a name that is no parameter; a return annotation that JSON cannot bring back; a class of
            errors that is in both lists; an argument of another type; another function of the ledger whose operation has the same
            name and another effect.
        InvalidArgument, InvalidKey: a time, a number of attempts or a name of an operation that no ledger takes.

    Example:
        @keyledger.idempotent(ledger=ledger, operation="charge", effect="repeatable", scope="user_id", key="order_id")
        def charge(user_id: str, order_id: str, amount: int) -> dict[str, int]:
            bank.charge(amount, idempotency_key=keyledger.current_claim().derive_key("charge"))
            return {"charged": amount}

        assert charge("user-7", "order-1034", 990) == charge("user-7", "order-1034", 990) == {"charged": 990}

    """
    opened: Callable[[], Ledger] = ledger if callable(ledger) else lambda: ledger
    return _Decoration(opened, settings, declare=functools.partial(declare, ledger)).decorate


def _declared(settings: Settings) -> Operation:
    operation, effect = settings["operation"], settings.get("effect")
    terms: dict[str, Any] = {name: settings[name] for name in _TERMS if name in settings}  # type: ignore[literal-required]
    if isinstance(operation, Operation):
        if effect is not None or terms:
            raise TypeError("the operation is declared: its effect and times are in it")
        return operation
    if effect is None:
        raise TypeError("say the effect: in_ledger, repeatable or at_most_once; there is no default (section 3)")
    return Operation(operation, effect, **terms)


class _Decoration:
    """What all functions of one decorator share."""

    def __init__(
        self, ledger: Callable[[], Ledger], settings: Settings, *, declare: Callable[[Operation, Any], None]
    ) -> None:
        _check_names(settings)
        self.declare = declare
        self.ledger, self.operation = ledger, _declared(settings)
        self.rules = Rules(settings["scope"], settings["key"], settings.get("fingerprint", ALL), settings.get("memo"))
        self.means = means_of(settings.get("not_done", ()), settings.get("final", ()))
        self.on_refused, self.codec = settings.get("on_refused"), settings.get("codec")
        check_operation(self.operation, settings.get("wait"))
        check_codec(self.codec)
        check_on_refused(self.on_refused)
        self.heartbeat = settings.get("heartbeat", True)
        self.asks: dict[str, Any] = {"wait": settings["wait"]} if "wait" in settings else {}

    def decorate(self, function: Any) -> Any:
        """The function, to be called as before."""
        wrapped: Any = function
        if isinstance(function, (classmethod, staticmethod)):
            return type(wrapped)(self.decorate(wrapped.__func__))
        _refuse_generators(function)
        course = _LazyCourse(function, self.codec, self.means)
        calls = _Calls(self, function, identify_by(function, self.rules), course)
        wrapper = calls.asynchronous() if is_async(function) else calls.synchronous()
        dressed = calls.dressed(wrapper)
        self.declare(self.operation, dressed)
        return dressed


_MISSING = {
    "key": "key=: the parameter that names what is to happen once",
    "operation": "operation=: its name in the ledger",
    "scope": "scope=: the parameter that says whose key it is, or scope=keyledger.SINGLE in a program with one principal",
}


def _check_names(settings: Settings) -> None:
    unknown = set(settings) - Settings.__required_keys__ - Settings.__optional_keys__
    missing = Settings.__required_keys__ - set(settings)
    if unknown or missing:
        said = f"has no argument {min(unknown)!r}" if unknown else f"needs {_MISSING[min(missing)]}"
        raise TypeError(f"idempotent {said}")


class _LazyCourse:
    """The course of a function's outcomes. An annotation that names what comes later in its module is read at the first call."""

    def __init__(self, function: Any, codec: Codec[Any] | None, means: Means) -> None:
        self._function, self._means = function, means
        self.course = None if codec is None else Course(codec, means)
        if self.course is None:
            with contextlib.suppress(NameError):
                self.get()

    def get(self) -> Course:
        if self.course is None:
            self.course = Course(JsonCodec(_returned_by(self._function)), self._means)
        return self.course


def _returned_by(function: Any) -> Any:
    plain = called_of(inspect.unwrap(function))
    try:
        return inspect.get_annotations(plain, eval_str=True).get("return", Any)
    except NameError:
        told = getattr(plain, "__annotations__", {}).get("return", Any)
        if not isinstance(told, str):
            return told
        return eval(told, getattr(plain, "__globals__", {}))


def _refuse_generators(function: Any) -> None:
    name = getattr(function, "__qualname__", repr(function))
    if is_generating(function):
        raise TypeError(
            f"{name} is a generator function: its results come one by one, and a stored answer is one; collect them in a "
            "function that returns a list, or make each of its steps idempotent"
        )
    if not callable(function):
        raise TypeError(f"{function!r} is not a function")


class _Calls:
    """The calls of one decorated function."""

    def __init__(self, settings: _Decoration, function: Any, identify: Any, course: _LazyCourse) -> None:
        self.settings, self.function, self.identify, self.course = settings, function, identify, course

    def synchronous(self) -> Any:
        settings, identify, lazy, function = self.settings, self.identify, self.course, self.function
        ledger, operation, asks, name = settings.ledger, settings.operation, settings.asks, settings.operation.name

        def call(*args: Any, **kwargs: Any) -> Any:
            scope, key, fingerprint, memo = identify(*args, **kwargs)
            course = lazy.course or lazy.get()
            opened = ledger()
            begin = functools.partial(opened.begin, operation, scope, key, fingerprint)
            with Asked(functools.partial(begin, memo=memo, **asks) if memo or asks else begin) as asked:
                decision = asked[RESULT]
                if decision.__class__ is Replay:
                    return course.told(decision, (scope, name, key))
                if type(decision) is not Acquired:
                    return self.refused(decision, KeyId(scope, name, key))
                return run_claimed(
                    asked,
                    functools.partial(function, *args, **kwargs),
                    course,
                    functools.partial(opened.ask, operation, scope, key, fingerprint),
                    heartbeat=settings.heartbeat,
                    check=functools.partial(has_run, function, codec=course.codec),
                )

        return call

    def asynchronous(self) -> Any:
        settings, identify, lazy, function = self.settings, self.identify, self.course, self.function
        ledger, operation, asks, name = settings.ledger, settings.operation, settings.asks, settings.operation.name

        async def call(*args: Any, **kwargs: Any) -> Any:
            scope, key, fingerprint, memo = identify(*args, **kwargs)
            course = lazy.get()
            opened = ledger()
            begin = functools.partial(opened.begin_async, operation, scope, key, fingerprint, memo=memo, **asks)
            with Asked(begin) as asked:
                decision = asked[RESULT] = await asked[RESULT]
                if decision.__class__ is Replay:
                    return course.told(decision, (scope, name, key))
                if type(decision) is not Acquired:
                    return await awaited(self.refused(decision, KeyId(scope, name, key)))
                return await run_claimed_async(
                    asked,
                    functools.partial(function, *args, **kwargs),
                    course,
                    functools.partial(opened.ask, operation, scope, key, fingerprint),
                    heartbeat=settings.heartbeat,
                    check=functools.partial(has_run, function, codec=course.codec),
                )

        return call

    def refused(self, decision: Any, key_id: KeyId) -> Any:
        refused = Refused(decision, key_id)
        if self.settings.on_refused is None:
            raise refused
        return self.settings.on_refused(refused)

    def dressed(self, wrapper: Any) -> Any:
        wrapper = functools.wraps(self.function)(wrapper)
        wrapper.operation = self.settings.operation
        wrapper.key_id = self.key_id
        settings = self.settings
        recovery = Recovery(settings.ledger, settings.operation, self.course.get, heartbeat=settings.heartbeat)
        for name in ("recover", "recover_async", "resolve", "resolve_async"):
            setattr(wrapper, name, getattr(recovery, name))
        return wrapper

    def key_id(self, *args: Any, **kwargs: Any) -> KeyId:
        """Whose record a call's is, by its arguments: to look it up. Nothing is run.

        Example:
            @ledger.idempotent(operation="mail", effect="at_most_once", scope="user", key="order")
            def mail(user: str, order: str) -> str:
                return "sent"

            mail("ann", "order-1034")
            record = ledger.inspect(mail.key_id("ann", "order-1034"))

        """
        scope, key, _, _ = self.identify(*args, **kwargs)
        return KeyId(scope, self.settings.operation.name, key)
