"""What is FastAPI's own: dependencies, errors that it maps, the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends, FastAPI, Header, HTTPException, Request
from fastapi.testclient import TestClient
from pydantic import BaseModel

from keyledger._current import current_claim
from keyledger._native import Ledger
from keyledger.fastapi import IdempotencyRoute, RequestClaim, Route, idempotent, route_class

FIELDS = {"User": "ada", "Idempotency-Key": '"key-1"'}
runs: list[str] = []


class Order(BaseModel):
    cents: int


def user(user: Annotated[str | None, Header()] = None) -> str:
    if user is None:
        raise HTTPException(401, "who are you?")
    return user


def scope(name: Annotated[str, Depends(user)]) -> str | None:
    return None if name == "nobody" else name


@pytest.fixture
def app() -> FastAPI:
    runs.clear()
    made = FastAPI()
    made.router.route_class = IdempotencyRoute
    ledger = Ledger(None)
    on = idempotent(ledger=ledger, route=Route.required("repeatable", statuses={"mismatch": 400}), scope=scope)

    @made.post("/async", status_code=201)
    @on
    async def charge(order: Order, claim: RequestClaim, request: Request) -> dict[str, Any]:
        assert claim is current_claim() is request.state.claim
        runs.append("async")
        return {"cents": order.cents, "key": claim.derive_key("bank")}

    @made.post("/sync")
    @on
    def charge_sync(order: Order, claim: RequestClaim) -> Order:
        assert claim is current_claim()
        runs.append("sync")
        return order

    @made.post("/declined")
    @on
    async def declined() -> None:
        runs.append("declined")
        raise HTTPException(402, "no funds")

    whole = APIRouter(route_class=route_class(ledger=ledger, route=Route.optional("repeatable"), scope=scope))

    @whole.post("/whole")
    async def of_a_router() -> dict[str, int]:
        runs.append("whole")
        return {"run": len(runs)}

    made.include_router(whole, prefix="/v1")
    return made


@pytest.mark.parametrize("path", ["/async", "/sync", "/declined", "/v1/whole"])
def test_h5_what_fastapi_makes_of_an_endpoint_is_told_again(app: FastAPI, path: str) -> None:
    client = TestClient(app)
    first, again = (client.post(path, json={"cents": 5}, headers=FIELDS) for _ in range(2))
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert len(runs) == 1
    assert first.status_code == {"/async": 201, "/declined": 402}.get(path, 200)


def test_h13_no_dependency_that_refuses_touches_a_record(app: FastAPI) -> None:
    client = TestClient(app)
    client.post("/async", json={"cents": 5}, headers=FIELDS)
    unknown = client.post("/async", json={"cents": 5}, headers={"Idempotency-Key": '"key-1"'})
    assert (unknown.status_code, unknown.json()) == (401, {"detail": "who are you?"})
    nobody = client.post("/async", json={"cents": 5}, headers={**FIELDS, "User": "nobody"})
    assert nobody.json()["type"].endswith("#no-principal")
    invalid = client.post("/sync", json={"cents": "many"}, headers=FIELDS)
    assert invalid.status_code == 422
    assert client.post("/sync", json={"cents": 5}, headers=FIELDS).status_code == 200
    assert runs == ["async", "sync"]


def test_h3_a_router_whose_key_is_optional_lets_requests_pass_without_one(app: FastAPI) -> None:
    client = TestClient(app)
    answers = [client.post("/v1/whole", headers={"User": "ada"}).json() for _ in range(2)]
    assert answers == [{"run": 1}, {"run": 2}]


def test_an_endpoint_whose_route_would_not_protect_it_does_not_run() -> None:
    bare = FastAPI()

    @bare.post("/charges")
    @idempotent(ledger=Ledger(None), route=Route.required("repeatable"), scope=scope)
    async def charge() -> None:
        runs.append("unprotected")

    runs.clear()
    with pytest.raises(RuntimeError, match="route_class"):
        TestClient(bare).post("/charges", headers=FIELDS)
    assert not runs


def test_an_endpoint_that_is_in_a_router_already_is_refused(app: FastAPI) -> None:
    on = idempotent(ledger=Ledger(None), route=Route.required("repeatable"), scope=scope)
    with pytest.raises(TypeError, match=r"charge is in a router already.*below @app\.post"):

        @on
        @app.post("/charges")
        def charge() -> None:
            runs.append("unprotected")

    class Shop:
        def sell(self) -> None: ...

    app.add_api_route("/sell", Shop().sell, methods=["POST"])
    with pytest.raises(TypeError, match=r"sell is in a router already"):
        on(Shop().sell)


@pytest.mark.parametrize(
    ("methods", "told"),
    [
        (["PUT"], "['PUT']"),
        (["DELETE", "POST"], "['DELETE']"),
        (["GET"], "['GET']"),
        (None, "['GET']"),
        (["GET", "PATCH", "put", "QUERY"], "['PUT', 'QUERY']"),
    ],
)
def test_h2_a_method_that_takes_no_keys_is_refused_where_the_route_is_added(
    app: FastAPI, methods: list[str] | None, told: str
) -> None:
    on = idempotent(ledger=Ledger(None), route=Route.required("repeatable"), scope=scope)
    with pytest.raises(TypeError) as refused:

        @app.api_route("/charges", methods=methods)
        @on
        def charge() -> None: ...

    assert "charge is @idempotent, and its route takes keys with POST, PATCH alone" in str(refused.value)
    assert str(refused.value).endswith(f"other_methods={told})")


def test_h2_other_methods_are_covered_and_safe_ones_pass_beside_them(app: FastAPI) -> None:
    route = Route.required("repeatable", other_methods=["PUT", "DELETE"])

    @app.api_route("/stock", methods=["GET", "PUT", "DELETE"])
    @idempotent(ledger=Ledger(None), route=route, scope=scope)
    def stock() -> None:
        runs.append("stock")

    client = TestClient(app)
    assert client.put("/stock", headers={"User": "ada"}).status_code == 400
    replayed = [client.put("/stock", headers=FIELDS).headers.get("Idempotent-Replayed") for _ in range(2)]
    assert replayed == [None, "true"]
    assert [client.get("/stock", headers={"User": "ada"}).status_code for _ in range(2)] == [200, 200]
    assert runs == ["stock"] * 3


def test_h2_a_router_may_have_methods_that_take_no_keys() -> None:
    whole = APIRouter(route_class=route_class(ledger=Ledger(None), route=Route.required("repeatable"), scope=scope))

    @whole.get("/orders")
    @whole.put("/orders")
    def orders() -> str:
        return "passed"

    app = FastAPI()
    app.include_router(whole)
    client = TestClient(app)
    assert [client.get("/orders", headers=FIELDS).json(), client.put("/orders", headers=FIELDS).json()] == [
        "passed"
    ] * 2


def test_the_document_has_the_header_and_the_problems(app: FastAPI) -> None:
    paths = TestClient(app).get("/openapi.json").json()["paths"]
    operation = paths["/async"]["post"]
    (header,) = [each for each in operation["parameters"] if each["name"] == "Idempotency-Key"]
    assert header["in"] == "header"
    assert header["required"]
    assert {"400", "409", "410", "503"} <= operation["responses"].keys()
    assert "application/problem+json" in operation["responses"]["409"]["content"]
    assert not {"keyledger_request", "keyledger_principal"} & {each["name"] for each in operation["parameters"]}
    (optional,) = [each for each in paths["/v1/whole"]["post"]["parameters"] if each["name"] == "Idempotency-Key"]
    assert not optional["required"]
    assert "422" in paths["/v1/whole"]["post"]["responses"]
    assert "401" in operation["responses"]


@pytest.mark.parametrize("prefix", ["", "/v1"])
def test_the_document_has_fastapis_answer_to_an_invalid_request_beside_the_problem_of_that_status(prefix: str) -> None:
    app, router = FastAPI(), APIRouter()
    app.router.route_class = router.route_class = IdempotencyRoute
    on = idempotent(ledger=Ledger(None), route=Route.required("repeatable"), scope=lambda: "ann")
    to = router if prefix else app
    teapot = {422: {"description": "of the caller's own"}}

    @to.post("/orders")
    @on
    def order(order: Order) -> int:
        return 1

    @to.post("/own", responses=teapot)  # type: ignore[arg-type]
    @on
    def own(order: Order) -> int:
        return 1

    if prefix:
        app.include_router(router, prefix=prefix)
    document = TestClient(app).get("/openapi.json").json()
    invalid = document["paths"][f"{prefix}/orders"]["post"]["responses"]["422"]
    assert invalid["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/HTTPValidationError"}
    assert "application/problem+json" in invalid["content"]
    assert "HTTPValidationError" in document["components"]["schemas"]
    assert document["paths"][f"{prefix}/own"]["post"]["responses"]["422"] == {"description": "of the caller's own"}
