"""From a call's arguments to scope, key, fingerprint and memo, by code that is made once for each decorated function."""

# What callers bring here may be of any type.
# pyright: basic

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from keyledger._native import Fingerprint
from keyledger._parts import (
    SINGLE,
    check_text,
    key_of,
    key_of_many,
    memo_of,
    print_of,
    print_of_members,
    scope_of,
    scope_of_many,
)
from keyledger.errors import InvalidArgument

Rule = str | tuple[str, ...] | Callable[..., Any] | None

ALL = "(all)"
"""The fingerprint of all arguments."""

_Kind = inspect.Parameter
_VARIADIC = (_Kind.VAR_POSITIONAL, _Kind.VAR_KEYWORD)


class Identity(NamedTuple):
    """What a call is to the ledger."""

    scope: str
    key: str
    fingerprint: Fingerprint
    memo: bytes


class Rules(NamedTuple):
    """Where the parts of an identity come from: a parameter's name, several, or a callable that is given the same arguments."""

    scope: Rule
    key: Rule
    fingerprint: Rule
    memo: Rule


def identify_by(function: Callable[..., Any], rules: Rules) -> Callable[..., tuple[str, str, Fingerprint, bytes]]:
    """A function with the parameters of `function` that returns the parts of an `Identity`.

    Raises:
        TypeError: a rule names a parameter that `function` does not have, or takes its arguments in another way than it.

    """
    made = _Maker(function, rules)
    scope: dict[str, Any] = made.names
    exec(made.source(), scope)
    identify: Any = scope["identify"]
    identify.__defaults__, identify.__kwdefaults__ = made.defaults()
    # A wrong call is told in the words of the function that was called.
    identify.__name__, identify.__qualname__ = made.name, made.qualname
    return identify  # type: ignore[no-any-return]


class _Maker:
    def __init__(self, function: Callable[..., Any], rules: Rules) -> None:
        self.name = getattr(function, "__name__", "function")
        self.qualname = getattr(function, "__qualname__", self.name)
        self.parameters = inspect.signature(function).parameters
        self.rules = rules
        self.names: dict[str, Any] = {}

    def source(self) -> str:
        lines = (
            f"__keyledger_scope, __keyledger_key = {self._scope()}, {self._key()}",
            f"try: return __keyledger_scope, __keyledger_key, {self._fingerprint()}, {self._memo()}",
            f"except {self._named(InvalidArgument)}:",
            f"    {self._named(check_text)}(__keyledger_scope, __keyledger_key)",
            "    raise",
        )
        return "\n    ".join((f"def identify({self._signature()}):", *lines)) + "\n"

    def defaults(self) -> tuple[tuple[Any, ...] | None, dict[str, Any] | None]:
        given = [parameter for parameter in self.parameters.values() if parameter.default is not _Kind.empty]
        positional = tuple(parameter.default for parameter in given if parameter.kind is not _Kind.KEYWORD_ONLY)
        named = {parameter.name: parameter.default for parameter in given if parameter.kind is _Kind.KEYWORD_ONLY}
        return positional or None, named or None

    def _scope(self) -> str:
        rule = self.rules.scope
        if rule == SINGLE:
            return repr(SINGLE)
        return self._text("scope", rule, scope_of, scope_of_many)

    def _key(self) -> str:
        return self._text("key", self.rules.key, key_of, key_of_many)

    def _fingerprint(self) -> str:
        rule = self.rules.fingerprint
        if rule is None:
            return self._named(Fingerprint.unchecked())
        if rule == ALL:
            return f"{self._named(print_of_members)}({self._members(self._compared())})"
        if isinstance(rule, (str, tuple)):
            return f"{self._named(print_of_members)}({self._members(self._checked('fingerprint', rule))})"
        return f"{self._named(print_of)}({self._called(rule)})"

    def _memo(self) -> str:
        rule = self.rules.memo
        if rule is None:
            return "b''"
        if isinstance(rule, (str, tuple)):
            return f"{self._named(memo_of)}({self._members(self._checked('memo', rule))})"
        return f"{self._named(memo_of)}({self._called(rule)})"

    def _text(self, what: str, rule: Rule, one: Callable[..., str], many: Callable[..., str]) -> str:
        if isinstance(rule, str):
            (name,) = self._checked(what, rule)
            return f"({name} if {name}.__class__ is {self._named(str)} else {self._named(one)}({name}, {name!r}))"
        if isinstance(rule, tuple):
            names = self._checked(what, rule)
            return f"{self._named(many)}({names!r}, ({', '.join(names)},))"
        if rule is None or not callable(rule):
            raise TypeError(f"{self.qualname}: {what} is the name of a parameter, a tuple of names, or a callable")
        return f"{self._named(one)}({self._called(rule)}, {getattr(rule, '__name__', 'the callable')!r})"

    def _checked(self, what: str, rule: str | tuple[str, ...]) -> tuple[str, ...]:
        names = (rule,) if isinstance(rule, str) else rule
        if not names:
            raise TypeError(f"{self.qualname}: {what} names no parameter")
        for name in names:
            parameter = self.parameters.get(name)
            if parameter is None:
                known = ", ".join(self.parameters) or "none"
                raise TypeError(
                    f"{self.qualname}: {what} names {name!r}, which is not a parameter of it; those are: {known}"
                )
            if parameter.kind in _VARIADIC and what in ("scope", "key"):
                raise TypeError(f"{self.qualname}: {what} names {parameter}, which is not one value; give a callable")
        return names

    def _compared(self) -> tuple[str, ...]:
        """All but the receiver of a method, which is defined in a class: elsewhere `self` and `cls` are names like others."""
        names = tuple(self.parameters)
        owner, _, _ = self.qualname.rpartition(".")
        is_method = bool(owner) and not owner.endswith("<locals>")
        return names[1:] if is_method and names[:1] in (("self",), ("cls",)) else names

    def _members(self, names: tuple[str, ...]) -> str:
        return "{" + ", ".join(f"{name!r}: {name}" for name in names) + "}"

    def _named(self, value: Any) -> str:
        """A name for `value` which no parameter has."""
        for name, known in self.names.items():
            if known is value:
                return name
        name = f"__keyledger_{len(self.names)}"
        self.names[name] = value
        return name

    def _called(self, rule: Any) -> str:
        if inspect.iscoroutinefunction(rule):
            raise TypeError(f"{self.qualname}: {rule.__qualname__} is async; what names a call may not wait")
        try:
            inspect.signature(rule).bind(*self._example()[0], **self._example()[1])
        except TypeError as error:
            raise TypeError(f"{self.qualname}: {rule!r} is called with its arguments, and cannot be: {error}") from None
        except ValueError:
            pass  # Callables of C tell no signature.
        return f"{self._named(rule)}({', '.join(self._passed())})"

    def _example(self) -> tuple[list[None], dict[str, None]]:
        of = [parameter for parameter in self.parameters.values() if parameter.kind not in _VARIADIC]
        named = {parameter.name: None for parameter in of if parameter.kind is _Kind.KEYWORD_ONLY}
        return [None for parameter in of if parameter.name not in named], named

    def _passed(self) -> list[str]:
        form: dict[Any, str] = {_Kind.VAR_POSITIONAL: "*{0}", _Kind.VAR_KEYWORD: "**{0}", _Kind.KEYWORD_ONLY: "{0}={0}"}
        return [form.get(parameter.kind, "{0}").format(parameter.name) for parameter in self.parameters.values()]

    def _signature(self) -> str:
        """Parameters and kinds, without annotations; defaults are put in afterwards, as objects."""
        bare = [
            parameter.replace(
                annotation=_Kind.empty, default=parameter.default if parameter.default is _Kind.empty else None
            )
            for parameter in self.parameters.values()
        ]
        return str(inspect.Signature(bare))[1:-1]
