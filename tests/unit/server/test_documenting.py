"""What the OpenAPI document says of routes, of errors and of the token."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from pydantic import BaseModel

from kit.front import Front
from segue.server import documenting
from segue.server.documenting import changing, content, reading


class Given(BaseModel):
    title: str


@pytest.fixture
def app() -> FastAPI:
    made = FastAPI(title="Segue", version="9", description="words")

    async def look(page: int = 1) -> None:
        """It looks."""

    async def change(body: Given) -> None:
        """It changes."""

    made.get("/api/things", responses=reading(404))(look)
    made.post("/api/things", responses=changing(409))(change)
    documenting.install(made)
    return made


def test_a_route_that_looks_names_fewer_problems_than_one_that_changes() -> None:
    """A request without a body cannot have a body that is too large."""
    assert set(reading(404)) == {400, 401, 403, 404, 421, 422, 429, 503}
    assert set(changing(409)) - set(reading(409)) == {408, 413, 415}


@pytest.mark.parametrize("status", sorted(changing(404, 409, 416)))
def test_every_problem_has_words_and_the_shape_of_a_problem(status: int) -> None:
    found = changing(404, 409, 416)[status]
    assert found["description"]
    schema = found["content"]["application/problem+json"]["schema"]
    assert schema == {"$ref": "#/components/schemas/Problem"}


def test_a_status_without_words_is_a_mistake_in_the_code() -> None:
    """It is found when the routes are made, not by a client."""
    with pytest.raises(KeyError):
        reading(418)


def test_what_is_not_json_says_its_kind_and_its_shape() -> None:
    assert content("text/plain", "A log.") == {
        "description": "A log.",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    }
    made = content("application/zip", "Files.", type="string", format="binary")
    assert made["content"]["application/zip"]["schema"]["format"] == "binary"


def test_the_document_has_problems_the_token_and_tags(app: FastAPI) -> None:
    document = app.openapi()
    assert document["info"] == {"title": "Segue", "version": "9", "description": "words"}
    assert document["security"] == [{"token": []}]
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert document["paths"]["/api/things"]["get"]["tags"] == ["things"]
    problem = document["components"]["schemas"]["Problem"]
    assert {"type", "title", "status", "code", "detail"} <= set(problem["properties"])


def test_the_errors_of_the_framework_are_not_documented(app: FastAPI) -> None:
    """422 is a problem like all others: the shapes that FastAPI adds are never sent."""
    document = app.openapi()
    assert "HTTPValidationError" not in document["components"]["schemas"]
    posted = document["paths"]["/api/things"]["post"]["responses"]["422"]["content"]
    assert list(posted) == ["application/problem+json"]


def test_every_reference_leads_somewhere(app: FastAPI) -> None:
    document = app.openapi()

    def references(part: Any) -> list[str]:
        if isinstance(part, dict):
            own = [part["$ref"]] if "$ref" in part else []
            return own + [each for value in part.values() for each in references(value)]
        if isinstance(part, list):
            return [each for value in part for each in references(value)]
        return []

    names = {found.rpartition("/")[2] for found in references(document)}
    assert {"Problem", "FieldError", "Given"} <= names
    assert names <= set(document["components"]["schemas"])


def test_the_document_is_made_once(app: FastAPI) -> None:
    assert app.openapi() is app.openapi()


def test_operations_have_stable_ids(front: Front) -> None:
    """As a client that is generated calls them."""
    document = front.api.get("/api/openapi.json").json()
    ids = [op["operationId"] for path in document["paths"].values() for op in path.values()]
    assert len(ids) == len(set(ids))
    assert {"listTasks", "createTask", "getTask", "submitTask", "sendMessage", "getDiff"} <= set(
        ids
    )
    assert all(id.isalnum() and id[0].islower() for id in ids)
