"""Idempotency keys for FastAPI: on one endpoint, or on all of a router.

Both run after authentication: `scope` is a dependency like any other, with dependencies of its own, and says whose
key it is.

Example:
    from fastapi import Depends, FastAPI
    from keyledger.fastapi import IdempotencyRoute, RequestClaim, Route, idempotent

    def scope(user: str = Depends(current_user)) -> str:
        return user

    app = FastAPI()
    app.router.route_class = IdempotencyRoute

    @app.post("/charges", status_code=201)
    @idempotent(ledger=ledger, route=Route.required("repeatable"), scope=scope)
    def charge(cents: int, claim: RequestClaim) -> dict[str, int]:
        bank.charge(cents, idempotency_key=claim.derive_key("charge"))
        return {"charged": cents}

"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Annotated, Any, NamedTuple, TypeVar
from weakref import WeakSet

from fastapi import Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.params import Depends as DependsOn
from fastapi.routing import APIRoute

from keyledger import _current
from keyledger._exchange import Exchange, Receive, Send, send_answer
from keyledger._http import HELD, Head, LedgerOf, asked, chosen, no_scope
from keyledger._native import Answer, Claim, Route
from keyledger._openapi import documented
from keyledger.asgi import Connection, RouteOf, guarded, head_of, key_lines, read, ruled, run_apart

__all__ = ["Answer", "IdempotencyRoute", "RequestClaim", "Route", "claim", "idempotent", "route_class"]

_TERMS = "__keyledger_terms__"
_PENDING = "keyledger.pending"
_REQUEST, _PRINCIPAL = "keyledger_request", "keyledger_principal"

_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""Methods that change nothing, beside which an endpoint may have one that takes keys."""

_added: WeakSet[Callable[..., Any]] = WeakSet()
"""Endpoints that an `IdempotencyRoute` has, as they were given to it: what is put around them later is never called."""

_F = TypeVar("_F", bound=Callable[..., Any])


class _Terms(NamedTuple):
    ledger: LedgerOf
    route: Route | RouteOf
    scope: Callable[..., Any]
    is_of_router: bool = False


class _Pending(NamedTuple):
    """A request under a key whose principal is not known yet."""

    route: Route
    key: str
    head: Head
    body: bytes
    receive: Receive
    exchange: Exchange


def claim() -> Claim | None:
    """The claim, as a dependency: `claim: Claim = Depends(keyledger.fastapi.claim)`, or `claim: RequestClaim`.

    None where a request is not protected: without a key on a route where it is optional, or with a method that takes
    none. It belongs on the endpoint: other dependencies are resolved before there is a claim.
    """
    raise RuntimeError(
        "there is no claim yet: ask for it in the endpoint itself, which has to be @idempotent or of a route_class"
    )


RequestClaim = Annotated[Claim, Depends(claim)]
"""The annotation of an endpoint's parameter that is to be the claim."""


def idempotent(*, ledger: LedgerOf, route: Route | RouteOf, scope: Callable[..., Any]) -> Callable[[_F], _F]:
    """One endpoint: below `@app.post(...)`, of an app or router whose `route_class` is `IdempotencyRoute`.

    `scope` is a dependency that returns whose key it is, such as the id of a user: text, a whole number or a UUID. Where
    it returns None, or raises what is no `HTTPException`, the answer is 401, and no record is touched. `route` may be a function of the ASGI
    connection scope. `ledger` may be a function that returns one.

    Every method of the endpoint but the safe ones has to be one that `route` takes keys with: POST and PATCH, unless
    `Route.required(..., other_methods=["PUT"])` says more.

    Raises:
        TypeError: the endpoint is a generator; it was added to its router before, as it is above `@app.post(...)`;
            when the route is added, it has a method that takes no keys.

    The endpoint runs in a task of its own: a client that goes away stops neither it nor the storing. Its claim is
    `keyledger.current_claim()`, `request.state.claim`, and a parameter annotated as `RequestClaim`.
    """

    def decorate(endpoint: _F) -> _F:
        _refuse_added(endpoint)
        return _wrapped(endpoint, _Terms(ledger, route, scope))  # type: ignore[return-value]

    return decorate


def route_class(*, ledger: LedgerOf, route: Route | RouteOf, scope: Callable[..., Any]) -> type[IdempotencyRoute]:
    """The same for all endpoints of a router: `APIRouter(route_class=route_class(...))`. The arguments are those of `idempotent`.

    Requests of methods that `route` does not take keys with pass, as they do where there is no ledger.
    """
    terms = _Terms(ledger, route, scope, is_of_router=True)
    return type("IdempotencyRoute", (IdempotencyRoute,), {"terms": terms})


class IdempotencyRoute(APIRoute):
    """The class of routes whose endpoints are `@idempotent`. Others are served as ever."""

    terms: _Terms | None = None

    def __init__(self, path: str, endpoint: Callable[..., Any], **settings: Any) -> None:
        _remember(endpoint)
        if self.terms is not None and not hasattr(endpoint, _TERMS):
            endpoint = _wrapped(endpoint, self.terms)
        self._own: _Terms | None = getattr(endpoint, _TERMS, None)
        if self._own is not None and isinstance(self._own.route, Route):
            if not self._own.is_of_router:
                _refuse_methods(endpoint, self._own.route, settings.get("methods") or ("GET",))
            settings = documented(self._own.route, settings)
        super().__init__(path, endpoint, **settings)

    async def handle(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Serves a request: the body is read before anything parses it; the ledger is asked once the principal is known."""
        if self._own is None:
            return await super().handle(scope, receive, send)
        route = chosen(self._own.route, scope)
        key = None if route is None else route.receive(scope["method"], key_lines(scope))
        if route is None or key is None:
            return await super().handle({**scope, _PENDING: None}, receive, send)
        head = head_of(scope)
        if isinstance(key, Answer):
            return await send_answer(send, key, scope["method"])
        body = await read(receive, head, route)
        if isinstance(body, Answer):
            return await send_answer(send, body, scope["method"])
        exchange = Exchange(route, send, scope)
        pending = _Pending(route, key, head, body, receive, exchange)
        return await run_apart(super().handle, {**guarded(scope), _PENDING: pending}, body, exchange)


def _plain(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """What lives as long as the endpoint: a method is made anew each time that it is looked up."""
    function: Callable[..., Any] = getattr(endpoint, "__func__", endpoint)
    return function


def _remember(endpoint: Callable[..., Any]) -> None:
    with contextlib.suppress(TypeError):  # Not all objects that can be called can be remembered.
        _added.add(_plain(endpoint))


def _refuse_added(endpoint: Callable[..., Any]) -> None:
    try:
        is_added = _plain(endpoint) in _added
    except TypeError:
        return
    if is_added:
        raise TypeError(
            f"{_name_of(endpoint)} is in a router already, where @idempotent would protect nothing: put @idempotent(...) "
            "below @app.post(...), next to the function"
        )


def _refuse_methods(endpoint: Callable[..., Any], route: Route, methods: Iterable[str]) -> None:
    """An endpoint that is @idempotent runs once, whatever its method; a safe one passes beside one that takes keys."""
    own = {method.upper() for method in methods}
    may_pass = _SAFE if own & set(route.methods) else frozenset[str]()
    unprotected = sorted(own.difference(route.methods, may_pass))
    if unprotected:
        raise TypeError(
            f"{_name_of(endpoint)} is @idempotent, and its route takes keys with {', '.join(route.methods)} alone, so that "
            f"nothing would protect it: say Route.required(..., other_methods={unprotected})"
        )


def _name_of(endpoint: Callable[..., Any]) -> str:
    return str(getattr(endpoint, "__qualname__", repr(endpoint)))


def _wrapped(endpoint: Callable[..., Any], terms: _Terms) -> Callable[..., Any]:
    """The endpoint behind the ledger, with parameters for what FastAPI is to resolve before it."""
    if inspect.isgeneratorfunction(endpoint) or inspect.isasyncgenfunction(endpoint):
        raise TypeError(f"{endpoint.__qualname__} is a generator: return a StreamingResponse instead")
    signature = _signature_of(endpoint)
    own = {name: parameter for name, parameter in signature.parameters.items() if not _is_claim(parameter)}
    wants_claim = [name for name in signature.parameters if name not in own]

    @functools.wraps(endpoint)
    async def guard(*, keyledger_request: Request, keyledger_principal: object, **given: Any) -> Any:
        granted = await _granted(terms, keyledger_request, keyledger_principal, endpoint)
        if isinstance(granted, Answer):
            return Response(status_code=granted.status)
        given.update(dict.fromkeys(wants_claim, granted))
        if inspect.iscoroutinefunction(endpoint):
            return await endpoint(**given)
        return await run_in_threadpool(endpoint, **given)

    asked_for = [
        inspect.Parameter(_REQUEST, inspect.Parameter.KEYWORD_ONLY, default=Depends(_request), annotation=Request),
        inspect.Parameter(_PRINCIPAL, inspect.Parameter.KEYWORD_ONLY, default=Depends(_guarded_scope(terms.scope))),
    ]
    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own.values()]
    # Not of the endpoint as it was: FastAPI looks through wrappers at what is wrapped.
    del guard.__wrapped__
    guard.__signature__ = signature.replace(parameters=[*parameters, *asked_for])  # type: ignore[attr-defined]
    setattr(guard, _TERMS, terms)
    return guard


async def _granted(
    terms: _Terms, request: Request, principal: object, endpoint: Callable[..., Any]
) -> Claim | Answer | None:
    """What the ledger says, now that the principal is known; None where nothing has to be asked."""
    if _PENDING not in request.scope:
        raise RuntimeError(
            f"{endpoint.__qualname__} is @idempotent, and its route is no IdempotencyRoute: nothing would protect it. "
            "Set app.router.route_class, or APIRouter(route_class=...), before the endpoint is added"
        )
    pending: _Pending | None = request.scope[_PENDING]
    if pending is None:
        return None
    exchange = pending.exchange
    question = asked(terms.ledger, pending.route, principal, pending.key, pending.head, pending.body)
    if isinstance(question, Answer):
        exchange.answer = question
        return question
    if question.key_id in request.scope.get(HELD, ()):
        return _current.current_claim()
    ruling = await ruled(question, pending.route, pending.receive)
    if not isinstance(ruling, Claim):
        # Where the client has gone while it waited nobody reads this.
        exchange.answer = ruling or pending.route.not_available()
        return exchange.answer
    exchange.grant(question, ruling)
    _current.enter(ruling)
    request.state.claim = ruling
    return ruling


def _signature_of(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function, eval_str=True)
    except NameError:
        # A name that is there for type checkers alone: FastAPI says what it makes of it.
        return inspect.signature(function)


def _is_claim(parameter: inspect.Parameter) -> bool:
    said = (parameter.default, *getattr(parameter.annotation, "__metadata__", ()))
    return any(isinstance(each, DependsOn) and each.dependency is claim for each in said)


def _request(request: Request) -> Request:
    return request


def _guarded_scope(scope: Callable[..., Any]) -> Callable[..., Any]:
    """The scope function, whose errors are a 401; what it raises as an answer of its own is that (H13)."""
    if not inspect.isfunction(scope) or inspect.isgeneratorfunction(scope) or inspect.isasyncgenfunction(scope):
        return scope
    if inspect.iscoroutinefunction(scope):

        async def guard_async(**given: Any) -> Any:
            try:
                return await scope(**given)
            except Exception as error:
                return _no_scope(error)

        guard: Callable[..., Any] = guard_async
    else:

        def guard_sync(**given: Any) -> Any:
            try:
                return scope(**given)
            except Exception as error:
                return _no_scope(error)

        guard = guard_sync
    signature = _signature_of(scope)
    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in signature.parameters.values()]
    guard.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return guard


def _no_scope(error: Exception) -> None:
    if hasattr(error, "status_code"):
        raise error
    no_scope(error)
