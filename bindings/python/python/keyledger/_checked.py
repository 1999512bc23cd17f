"""What callers say when they decorate, claim or run is checked before anything is begun."""

# What callers bring here may be of any type.
# pyright: basic

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from keyledger import _native
from keyledger._native import Begin, Fingerprint, Operation
from keyledger._settling import Means

if TYPE_CHECKING:
    from keyledger._settling import Errors
    from keyledger._values import Span

ErrorClasses = type[BaseException] | Collection[type[BaseException]]
"""Classes of errors: a tuple of them, a list, a set, or one class."""

_CODEC = ("encode", "decode", "encode_error", "decode_error")


def means_of(not_done: ErrorClasses, final: ErrorClasses) -> Means:
    """What a handler's errors mean.

    Raises:
        TypeError: something in the lists is no class of errors, or a class is in both.

    """
    means = Means(_errors("not_done", not_done), _errors("final", final))
    for kind in means.not_done:
        if kind in means.final:
            raise TypeError(
                f"{kind.__qualname__} is in not_done and in final: it means one of them, and of a class and one that is "
                "derived from it the narrower counts"
            )
    return means


def _errors(name: str, given: Any) -> Errors:
    kinds = (given,) if isinstance(given, type) else given
    if not isinstance(kinds, (tuple, list, set, frozenset)):
        raise TypeError(f"{name} is a {type(given).__qualname__}; it has to be a tuple of classes of errors")
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError(f"{name} has {kind!r}, which is no class of errors")
    return tuple(kinds)


def check_operation(operation: Operation, wait: Span | None) -> None:
    """Raises what `begin` would, of a name, of times or of a wait that no ledger takes. No ledger of the caller's is asked."""
    begin = Begin(operation, "scope", "key", Fingerprint.unchecked(), wait=wait)
    scratch = _native.Ledger(None)
    try:
        scratch.begin_with(begin)
    finally:
        scratch.close()


def check_codec(codec: Any) -> None:
    """Raises `TypeError` for what cannot store results."""
    if codec is None:
        return
    if isinstance(codec, type):
        raise TypeError(
            f"codec is the class {codec.__qualname__}; it has to be one of its objects: {codec.__qualname__}(...)"
        )
    if not all(callable(getattr(codec, method, None)) for method in _CODEC):
        raise TypeError(
            f"codec is a {type(codec).__qualname__}; it has to be a keyledger.Codec, such as JsonCodec(int)"
        )


def check_on_refused(given: Any) -> None:
    """Raises `TypeError` for what cannot be called."""
    if given is not None and not callable(given):
        raise TypeError(
            f"on_refused is a {type(given).__qualname__}; it has to be a function, which is given the Refused"
        )
