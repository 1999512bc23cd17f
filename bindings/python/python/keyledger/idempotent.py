"""Functions that happen once for each key: `@ledger.idempotent(...)`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, overload

from typing_extensions import ParamSpec, TypeVar

from keyledger._binding import ALL, Rule, Rules, identify_by
from keyledger._codec import Codec, JsonCodec
from keyledger._native import Acquired, Claim, Fingerprint, Operation
from keyledger._running import begun, run_claimed, run_claimed_async
from keyledger._settling import Course, Errors, Means
from keyledger.errors import KeyledgerError, Refused

if TYPE_CHECKING:
    from keyledger.ledger import Ledger

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")

Span = float | timedelta


class Idempotent(Generic[P, R]):
    """A decorated function: called like the function itself, also as a method. Made by `Ledger.idempotent`."""

    operation: Operation
    """What it was declared as."""

    __wrapped__: Callable[P, R]

    def __init__(self, function: Callable[P, R], terms: _Terms) -> None:
        self.operation = terms.operation(function)
        self._terms, self._codec = terms, terms.codec_of(function)
        self._course = Course(self._codec, Means(terms.not_done, terms.final))
        self._identify = identify_by(function, terms.rules)
        self._function = function
        self._is_async = inspect.iscoroutinefunction(function)
        functools.update_wrapper(self, function)
        if self._is_async:
            # For whoever asks `iscoroutinefunction` of it, such as frameworks.
            self._is_coroutine_marker = _MARK

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._called(args, kwargs)  # type: ignore[no-any-return]

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._is_async:
            return self._call_async(args, kwargs)
        identity, memo = self._identity(args, kwargs)
        ledger = self._terms.ledger_now()
        decision = ledger.begin(*identity, memo=memo, wait=self._terms.wait)
        if type(decision) is Acquired:
            return run_claimed(
                decision.claim,
                lambda: self._function(*args, **kwargs),
                self._course,
                lambda: ledger.ask(*identity),
                heartbeat=self._terms.heartbeat,
            )
        return self._told(decision)

    async def _call_async(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        identity, memo = self._identity(args, kwargs)
        ledger = self._terms.ledger_now()
        decision = await begun(ledger.begin_async(*identity, memo=memo, wait=self._terms.wait))
        if type(decision) is Acquired:
            function: Any = self._function
            return await run_claimed_async(
                decision.claim,
                lambda: function(*args, **kwargs),
                self._course,
                lambda: ledger.ask(*identity),
                heartbeat=self._terms.heartbeat,
            )
        return self._told(decision)

    def _identity(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Operation, str, str, Fingerprint], bytes]:
        scope, key, fingerprint, memo = self._identify(*args, **kwargs)
        return (self.operation, scope, key, fingerprint), memo

    def _told(self, decision: Any) -> Any:
        try:
            return self._course.told(decision)
        except Refused as refused:
            if self._terms.on_refused is None:
                raise
            return self._terms.on_refused(refused)

    def recover(self, handler: Callable[[Claim], object], limit: int = 100) -> int:
        """Hands `handler` the claims of this operation whose owner was lost, or that are parked without a person having looked.

        The handler finds out what happened, and settles the claim: `claim.complete(charge.stored(result))` for a yes, `claim.release()`
        only if it surely did not happen. `claim.memo` says what the call was, where `memo=` was given. Returns how many there were. An
        error of the handler ends that claim's lease, and is raised.
        """
        claims = self._terms.ledger_now().recover(self.operation, limit)
        for claim in claims:
            with claim:
                handler(claim)
        return len(claims)

    def stored(self, result: R) -> Any:
        """The `Response` that a call which returned `result` would have stored: for recovery handlers and `Ledger.resolve`."""
        return self._codec.encode(result)

    @overload
    def __get__(self, instance: None, owner: type) -> Idempotent[P, R]: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., R]: ...

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


# What `inspect.markcoroutinefunction` sets on Python 3.12 and later; older ones look at the function alone.
_MARK = getattr(inspect, "_is_coroutine_mark", True)


class _Terms:
    """What a decorator was told."""

    def __init__(  # noqa: PLR0913
        self,
        ledger: Ledger | Callable[[], Ledger],
        operation: str | Operation | None,
        effect: str | None,
        rules: Rules,
        codec: Codec[Any] | None,
        settings: dict[str, Any],
        *,
        not_done: Errors,
        final: Errors,
        wait: Span | None,
        on_refused: Callable[[Refused], Any] | None,
        heartbeat: bool,
    ) -> None:
        self.ledger, self._operation, self._effect = ledger, operation, effect
        self.rules, self._codec, self._settings = rules, codec, settings
        self.not_done, self.final, self.wait = _errors("not_done", not_done), _errors("final", final), wait
        self.on_refused, self.heartbeat = on_refused, heartbeat

    def ledger_now(self) -> Ledger:
        """The ledger, opened by now."""
        return self.ledger() if callable(self.ledger) else self.ledger

    def operation(self, function: Callable[..., Any]) -> Operation:
        """The operation: declared elsewhere, or here by name and effect."""
        if isinstance(self._operation, Operation):
            if self._effect is not None or self._settings:
                raise TypeError("a declared Operation brings its own effect and terms; change them there")
            return self._operation
        if self._effect is None:
            raise TypeError(
                "say which effect it has: effect='in_ledger', 'repeatable' or 'at_most_once'; it decides what a crash means"
            )
        name = self._operation or f"{function.__module__}.{function.__qualname__}"
        return Operation(name, self._effect, **self._settings)

    def codec_of(self, function: Callable[..., Any]) -> Codec[Any]:
        """The caller's codec, or JSON for what the function says that it returns."""
        if self._codec is not None:
            return self._codec
        return JsonCodec(_returned(function))


def _errors(what: str, errors: Any) -> Errors:
    classes = errors if isinstance(errors, tuple) else (errors,)
    for error in classes:
        if not (isinstance(error, type) and issubclass(error, BaseException)):
            raise TypeError(f"{what} is a tuple of exception classes; {error!r} is none")
    return classes


def _returned(function: Callable[..., Any]) -> Any:
    annotation = inspect.signature(function).return_annotation
    if annotation is inspect.Signature.empty:
        return Any
    if not isinstance(annotation, str):
        return annotation
    # Names that are there for type checkers alone say nothing at run time.
    try:
        return inspect.signature(function, eval_str=True).return_annotation
    except (NameError, TypeError):
        return Any


def decorator(terms: _Terms) -> Callable[[Any], Any]:
    """What `idempotent` returns."""

    def decorate(function: Any) -> Any:
        if isinstance(function, (classmethod, staticmethod)):
            return type(function)(decorate(function.__func__))
        if not callable(function):
            raise TypeError(f"{function!r} is not a function")
        name = getattr(function, "__qualname__", repr(function))
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(
                f"{name} is a generator: it has no one result that could be stored and told again; return a list, or decorate "
                "what consumes it"
            )
        try:
            return Idempotent(function, terms)
        except KeyledgerError as error:
            raise TypeError(f"{name}: {error}") from error

    return decorate


def idempotent(  # noqa: PLR0913
    *,
    ledger: Ledger | Callable[[], Ledger],
    key: Rule,
    scope: Rule,
    operation: str | Operation | None = None,
    effect: str | None = None,
    fingerprint: Rule = ALL,
    memo: Rule = None,
    not_done: Errors = (),
    final: Errors = (),
    wait: Span | None = None,
    codec: Codec[Any] | None = None,
    on_refused: Callable[[Refused], Any] | None = None,
    heartbeat: bool = True,
    **terms: Any,
) -> Callable[[Callable[P, R]], Idempotent[P, R]]:
    """Makes a function happen once for each key: the first call runs it and stores what it returns; later ones are told that.

    `ledger`: the ledger, or a function that returns it (asked at each call: for what is opened later, or after forking).
    `scope`, `key`: the name of a parameter, a tuple of names, or a callable that is given the same arguments; `keyledger.SINGLE` is the
    scope of a program with one principal. A missing or empty key is an error, never one record for all.
    `operation`: its name, by default that of the function with its module, or a declared `Operation`. `effect`: `in_ledger`,
    `repeatable` or `at_most_once`; it decides what an error or a crash means, and there is no default.
    `fingerprint`: what tells another call under the same key from a retry: by default all arguments (but `self` and `cls`), else names or
    a callable; None compares nothing, on purpose (F7). `memo`: what recovery handlers are to know, in the same forms.
    `not_done`, `final`: exception classes that mean "it surely did not happen", and "a final no, told again to every retry". All others go
    by the effect (S8). `wait`: how long to wait for somebody who is at it. `codec`: how results are stored; by default `JsonCodec` of the
    return annotation, never pickle. `on_refused`: called with the `Refused` in place of raising it; what it returns is the result.
    `heartbeat`: renew the lease while the function runs. `terms`: `lease`, `retention`, `tombstone`, `remembered_for`,
    `max_attempts`, as for `Operation`.

    An `async def` runs in a task of its own: a caller that is cancelled loses no outcome (S3). Inside, `keyledger.current_claim()` is the
    claim.

    Raises, when decorating:
        TypeError: a generator; a rule that names no parameter; a return annotation that JSON cannot bring back; a missing effect.

    Example:
        @keyledger.idempotent(ledger=ledger, effect="repeatable", scope="user_id", key="order_id", final=(CardDeclined,))
        def charge(user_id: str, order_id: str, amount: int) -> Receipt:
            return bank.charge(amount, idempotency_key=keyledger.current_claim().derive_key("charge"))
    """
    rules = Rules(scope, key, fingerprint, memo)
    return decorator(
        _Terms(
            ledger,
            operation,
            effect,
            rules,
            codec,
            terms,
            not_done=not_done,
            final=final,
            wait=wait,
            on_refused=on_refused,
            heartbeat=heartbeat,
        )
    )
