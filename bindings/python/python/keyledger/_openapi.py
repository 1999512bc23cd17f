"""What a route adds to an OpenAPI document: the key's header, and the problems that the adapter answers."""

from __future__ import annotations

from typing import Any

from keyledger._http import KEY_FIELD
from keyledger._native import Route

_CASES = {
    "missing": "The key is missing.",
    "malformed": "The key is malformed.",
    "in-progress": "A request with this key is in progress, or nobody knows whether one took effect.",
    "gone": "The key was used so long ago that its answer is gone.",
    "mismatch": "The key was used for another request.",
    "not-available": "The ledger of keys does not answer. Send the same request with the same key later.",
}

_INVALID = 422
_SAYS_INVALID = {"422", "4XX", "DEFAULT"}

_PROBLEM = {
    "type": "object",
    "title": "Problem",
    "required": ["type", "status", "title", "detail"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "status": {"type": "integer"},
        "title": {"type": "string"},
        "detail": {"type": "string"},
        "key_advice": {
            "type": "string",
            "enum": ["reuse", "rotate", "reconcile"],
            "description": "Whether to send the key again later, take another, or find out first what happened.",
        },
    },
}


def documented(route: Route, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a FastAPI route, with what `route` adds. What is said there already stays."""
    if not set(settings.get("methods") or ("GET",)) & set(route.methods):
        return settings
    extra = dict(settings.get("openapi_extra") or {})
    others = [each for each in extra.get("parameters", ()) if each.get("name") != KEY_FIELD]
    extra["parameters"] = [*others, _parameter(route)]
    said: dict[Any, Any] = settings.get("responses") or {}
    responses: dict[Any, Any] = _responses(route)
    invalid = responses.pop(_INVALID, None)
    if invalid is not None and not {str(status).upper() for status in said} & _SAYS_INVALID:
        # FastAPI has an answer with this status as well, which it leaves out where `responses` has one, and joins with this.
        own: dict[str, Any] = extra.get("responses") or {}
        extra["responses"] = {**own, str(_INVALID): {**invalid, **own.get(str(_INVALID), {})}}
    return {**settings, "openapi_extra": extra, "responses": {**responses, **said}}


def _parameter(route: Route) -> dict[str, Any]:
    return {
        "name": KEY_FIELD,
        "in": "header",
        "required": route.is_required,
        "description": "A key of your own for this request, in quotes; the same again on every retry.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 257},
        "example": '"8e03978e-40d5-43e8-bc93-6894a57f9324"',
    }


def _responses(route: Route) -> dict[int | str, dict[str, Any]]:
    texts: dict[int, list[str]] = {route.no_principal().status: ["Nobody is known to be asking."]}
    for case, text in _CASES.items():
        if case != "missing" or route.is_required:
            texts.setdefault(route.status_of(case), []).append(text)
    if _INVALID in texts:
        texts[_INVALID].append("Or, as application/json, the request is not valid.")
    return {status: _response(" ".join(said)) for status, said in sorted(texts.items())}


def _response(description: str) -> dict[str, Any]:
    return {"description": description, "content": {"application/problem+json": {"schema": _PROBLEM}}}
