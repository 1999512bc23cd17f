"""Idempotency keys for Django: a middleware, or a decorator of one view; sync and async.

Example:
    from django.http import JsonResponse
    from keyledger.django import Route, idempotent, middleware

    # shop/idempotency.py
    def scope(request):
        return str(request.user.pk) if request.user.is_authenticated else None

    by_key = middleware(ledger=ledger, route=Route.optional("repeatable"), scope=scope)

    # settings.py: after whatever checks credentials, before whatever reads bodies
    MIDDLEWARE = [..., "django.contrib.auth.middleware.AuthenticationMiddleware", "shop.idempotency.by_key"]

    # or, on one view
    @idempotent(ledger=ledger, route=Route.required("repeatable"), scope=scope)
    def charge(request):
        return JsonResponse(bank.charge(990, idempotency_key=request.claim.derive_key("charge")))

"""

# Django has no types.
# pyright: basic

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

from asgiref.sync import async_to_sync, iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.handlers.exception import response_for_exception
from django.core.signals import got_request_exception
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import UnreadablePostError

from keyledger import _kept, asgi, wsgi
from keyledger._course import Course, Held, never_asked
from keyledger._django import answered, refuse_in_transaction, run_async, spoken, whole
from keyledger._http import Head, LedgerOf, asked, chosen
from keyledger._kept import RESULT, Kept
from keyledger._native import Answer, Asked, Claim, Route

__all__ = ["Answer", "Route", "idempotent", "middleware"]

ScopeOf = Callable[[HttpRequest], Any]
RouteOf = Callable[[HttpRequest], "Route | None"]

_F = TypeVar("_F", bound=Callable[..., Any])
_Reply: TypeAlias = "HttpResponse | StreamingHttpResponse"

_MAPPED = (Http404, PermissionDenied, MultiPartParserError, BadRequest, SuspiciousOperation)
"""What Django has an answer for."""


class _Terms(NamedTuple):
    ledger: LedgerOf
    route: Route | RouteOf
    scope: ScopeOf


class _Question(NamedTuple):
    """A request that the ledger is to be asked about."""

    route: Route
    asked: Asked
    body: bytes


def middleware(*, ledger: LedgerOf, route: Route | RouteOf, scope: ScopeOf) -> Callable[[Callable[..., Any]], Any]:
    """What MIDDLEWARE names. `route` is a `Route`, or a function of the request: None where keys are inert.

    `scope` is a function of the request, async or not, that says whose key it is: text, a whole number or a UUID;
    raising, or returning None, is a 401 and touches no record. `ledger` may be a function that returns one, such as where it is opened after forking.

    A view finds its claim as `request.claim` and `keyledger.current_claim()`; an async one runs in a task of its own,
    which a client that goes away does not cancel. An error that Django has no answer for, and no other middleware
    has, is told as a problem with advice.
    """
    terms = _Terms(ledger, route, scope)

    def make(get_response: Callable[..., Any]) -> Any:
        return (_AsyncMiddleware if iscoroutinefunction(get_response) else _Middleware)(get_response, terms)

    make.sync_capable = make.async_capable = True  # type: ignore[attr-defined]
    return make


def idempotent(*, ledger: LedgerOf, route: Route | RouteOf, scope: ScopeOf) -> Callable[[_F], _F]:
    """The same for one view, sync or async: below the decorators that check credentials.

    What the view raises is answered by Django where it has an answer, such as a 404, and settled by that status.

    The outcome is stored when the view returns, so the view's own transactions have to be over by then. In one that is open around it, by
    ATOMIC_REQUESTS or `transaction.atomic`, which might still be undone, nothing is run: `ImproperlyConfigured`. Put
    `@transaction.non_atomic_requests` above and `with transaction.atomic():` into the view; or use the `middleware`, around all of it.
    """
    terms = _Terms(ledger, route, scope)

    def decorate(view: _F) -> _F:
        if inspect.iscoroutinefunction(view):

            @functools.wraps(view)
            async def guarded_async(request: HttpRequest, *args: Any, **given: Any) -> Any:
                async def call(same: HttpRequest) -> Any:
                    try:
                        return await view(same, *args, **given)
                    except _MAPPED as error:
                        return await sync_to_async(response_for_exception, thread_sensitive=False)(same, error)

                return await _serve_async(terms, request, call)

            return guarded_async  # type: ignore[return-value]

        @functools.wraps(view)
        def guarded(request: HttpRequest, *args: Any, **given: Any) -> Any:
            def call(same: HttpRequest) -> Any:
                ran = Kept(partial(view, same, *args, **given))
                try:
                    return ran[RESULT]
                except _MAPPED as error:
                    return response_for_exception(same, error)

            return _serve(terms, request, call)

        return guarded  # type: ignore[return-value]

    return decorate


class _Middleware:
    def __init__(self, get_response: Callable[..., Any], terms: _Terms) -> None:
        self._get_response, self._terms = get_response, terms

    def __call__(self, request: HttpRequest) -> Any:
        return _serve(self._terms, request, self._get_response)

    def process_exception(self, request: Any, exception: Exception) -> None:
        """Django makes a 500 of it, and tells whoever listens; the client is told more."""
        if not isinstance(exception, _MAPPED):
            request.keyledger_raised = exception


class _AsyncMiddleware(_Middleware):
    def __init__(self, get_response: Callable[..., Any], terms: _Terms) -> None:
        super().__init__(get_response, terms)
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> Any:
        async def call(same: HttpRequest) -> Any:
            return _unless_raised(same, await self._get_response(same))

        return await _serve_async(self._terms, request, call)


class _Told(Exception):
    """The view raised, and Django has logged it."""


def _unless_raised(request: Any, response: _Reply) -> _Reply:
    """The response, unless it is the page that Django makes of an error that nobody handles."""
    raised = getattr(request, "keyledger_raised", None)
    if raised is not None and response.status_code == 500:  # noqa: PLR2004
        raise _Told from raised
    return response


def _serve(terms: _Terms, request: HttpRequest, call: Callable[[HttpRequest], Any]) -> Any:
    route, key = _received(terms, request)
    if route is None or key is None:
        return call(request)
    told = key if isinstance(key, Answer) else _asked(terms, request, route, key, _principal(terms, request))
    if isinstance(told, Answer):
        return answered(told, request)
    if _is_held(request, told):
        return call(request)
    refuse_in_transaction()
    with _kept.Asked(told.asked.rule) as granted:
        ruling = granted[RESULT]
        if isinstance(ruling, Answer):
            return answered(ruling, request)
        _hold(request, told, ruling)
        course = Course(route, told.asked, granted, request.method or "")
        answer = course.run(partial(_heard, request, call), partial(_spoken, request), partial(_whole, request))
        try:
            return answered(answer, request)
        except BaseException:
            never_asked(answer)
            raise


async def _serve_async(terms: _Terms, request: HttpRequest, call: Callable[[HttpRequest], Any]) -> Any:
    route, key = _received(terms, request)
    if route is None or key is None:
        return await call(request)
    if isinstance(key, Answer):
        return answered(key, request)
    told = _asked(terms, request, route, key, await _principal_async(terms, request))
    if isinstance(told, Answer):
        return answered(told, request)
    ruling = None if _is_held(request, told) else await told.asked.rule_async()
    if ruling is None:
        return await call(request)
    if isinstance(ruling, Answer):
        return answered(ruling, request)
    _hold(request, told, ruling)
    return await run_async(route, told.asked, ruling, request, lambda: _heard_async(request, call))


def _heard(request: HttpRequest, call: Callable[[HttpRequest], Any]) -> Any:
    """Runs the view; an error that Django is not to make a page of is told to whoever listens for errors."""
    ran = Kept(partial(call, request))
    try:
        return ran[RESULT]
    except Exception:
        got_request_exception.send(sender=None, request=request)
        raise


def _spoken(request: HttpRequest, response: _Reply) -> Held:
    return spoken(_unless_raised(request, response))


def _whole(request: HttpRequest, response: _Reply) -> Answer | None:
    try:
        return whole(_unless_raised(request, response))
    except _Told:
        return None


async def _heard_async(request: HttpRequest, call: Callable[[HttpRequest], Any]) -> Any:
    try:
        return await call(request)
    except _Told:
        raise
    except Exception:
        await got_request_exception.asend(sender=None, request=request)
        raise


def _received(terms: _Terms, request: HttpRequest) -> tuple[Route | None, str | Answer | None]:
    route = chosen(terms.route, request)
    line = request.META.get("HTTP_IDEMPOTENCY_KEY")
    lines = [] if line is None else [line.encode("latin-1")]
    return route, None if route is None else route.receive(request.method or "", lines)


def _principal(terms: _Terms, request: HttpRequest) -> object:
    scope = async_to_sync(terms.scope) if iscoroutinefunction(terms.scope) else terms.scope
    return wsgi.principal_of(scope, request)


async def _principal_async(terms: _Terms, request: HttpRequest) -> object:
    # One that is not async may look into the database.
    scope = terms.scope if iscoroutinefunction(terms.scope) else sync_to_async(terms.scope)
    return await asgi.principal_of(scope, request)


def _asked(terms: _Terms, request: HttpRequest, route: Route, key: str, principal: object) -> _Question | Answer:
    if not isinstance(principal, str):
        return route.no_principal()
    head = _head_of(request)
    body = _read(request, head, route)
    if isinstance(body, Answer):
        return body
    question = asked(terms.ledger, route, principal, key, head, body)
    return question if isinstance(question, Answer) else _Question(route, question, body)


def _head_of(request: Any) -> Head:
    return asgi.head_of(request.scope) if hasattr(request, "scope") else wsgi.head_of(request.environ)


def _read(request: Any, head: Head, route: Route) -> bytes | Answer:
    """The body; Django gives it to the view once more."""
    if head.announces_over(route.max_request_bytes):
        return route.too_large()
    if hasattr(request, "_body"):
        return bytes(request.body)
    if request._read_started:
        return route.body_consumed()
    if head.is_chunked and hasattr(request, "environ"):
        return _read_chunks(request, head, route)
    try:
        body: bytes = request.body
    except RequestDataTooBig:
        return route.too_large()
    except UnreadablePostError:
        return route.unreadable()
    if len(body) > route.max_request_bytes:
        return route.too_large()
    return body if not body or Route.is_whole(head.content_length, len(body)) else route.unreadable()


def _read_chunks(request: Any, head: Head, route: Route) -> bytes | Answer:
    """Under WSGI Django takes a body without a length for an empty one."""
    body = wsgi.read(request.environ, head, route)
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if isinstance(body, bytes):
        if limit is not None and len(body) > limit:
            return route.too_large()
        request._body = body
    return body


def _is_held(request: Any, question: _Question) -> bool:
    return question.asked.key_id in getattr(request, "keyledger_held", ())


def _hold(request: Any, question: _Question, claim: Claim) -> None:
    request.claim = claim
    request.keyledger_held = (*getattr(request, "keyledger_held", ()), question.asked.key_id)
