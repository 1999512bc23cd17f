"""What the decorator makes of a function, for type checkers: the same signature and type, and a few names more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from keyledger._native import Claim, KeyId, Operation, RecordView

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)
T = TypeVar("T")


class Bound(Protocol, Generic[P, R_co]):
    """A method that was decorated, of an object."""

    operation: Operation

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Runs once for each key."""
        ...


class _TakesClass(Protocol, Generic[S_contra, Q, R_co]):
    """A class method, as it was decorated: it is given the class first."""

    def __call__(self, cls: type[S_contra], /, *args: Q.args, **kwargs: Q.kwargs) -> R_co: ...


class Idempotent(Protocol, Generic[P, R_co]):
    """A function that was decorated. At run time it is a plain function with these attributes; `help` of each tells all of it."""

    __name__: str
    operation: Operation

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Runs once for each key."""
        ...

    # Type checkers look class methods up here, too.
    @overload
    def __get__(self: _TakesClass[S, Q, R], instance: None, owner: type[S], /) -> Bound[Q, R]: ...
    @overload
    def __get__(self: _TakesClass[S, Q, R], instance: S, owner: Any = None, /) -> Bound[Q, R]: ...
    @overload
    def __get__(self, instance: None, owner: Any, /) -> Idempotent[P, R_co]: ...
    @overload
    def __get__(self: Idempotent[Concatenate[S, Q], R], instance: S, owner: Any = None, /) -> Bound[Q, R]: ...

    def key_id(self, *args: P.args, **kwargs: P.kwargs) -> KeyId:
        """Whose record a call's is: to look it up. Nothing is run."""
        ...

    @overload
    def recover(
        self: Idempotent[P, Coroutine[Any, Any, T]], handler: Callable[[Claim], T], *, limit: int = 100
    ) -> int: ...
    @overload
    def recover(self, handler: Callable[[Claim], Any], *, limit: int = 100) -> int:
        """Hands `handler` the claims of lost calls, and says how many there were; what it returns is the result of that call (section 4)."""
        ...

    def recover_async(
        self, handler: Callable[[Claim], Awaitable[Any]], *, limit: int = 100
    ) -> Coroutine[Any, Any, int]:
        """`recover` on an event loop, with an async handler."""
        ...

    @overload
    def resolve(
        self: Idempotent[P, Coroutine[Any, Any, T]], record: RecordView, result: T, *, who: str, note: str
    ) -> None: ...
    @overload
    def resolve(self: Idempotent[P, R], record: RecordView, result: R, *, who: str, note: str) -> None:
        """Settles a parked call for a person, who found out that it was done: `Ledger.resolve` with a result of the function's own."""
        ...

    @overload
    def resolve_async(
        self: Idempotent[P, Coroutine[Any, Any, T]], record: RecordView, result: T, *, who: str, note: str
    ) -> Coroutine[Any, Any, None]: ...
    @overload
    def resolve_async(
        self: Idempotent[P, R], record: RecordView, result: R, *, who: str, note: str
    ) -> Coroutine[Any, Any, None]:
        """`resolve` on an event loop."""
        ...


class Decorator(Protocol):
    """What `idempotent(...)` returns."""

    @overload
    def __call__(self, function: classmethod[S, P, R], /) -> classmethod[S, P, R]: ...
    @overload
    def __call__(self, function: staticmethod[P, R], /) -> staticmethod[P, R]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, function: Callable[P, R], /) -> Idempotent[P, R]: ...
