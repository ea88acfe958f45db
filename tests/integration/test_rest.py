"""The whole server over HTTP: real sockets, real tables, real processes."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from pydantic import BaseModel

from kit.app import House, play
from kit.tokens import TokensInMemory
from kit.waiting import WAIT_S, until_awaited
from segue.server import responses
from segue.server.app import make_app
from segue.server.idempotency import StoredReplies
from segue.server.listen import bind, serve, url
from segue.server.works import ProjectWorks

TOKEN = "a-token-for-tests"
SECRET = "sk-never-to-be-seen-0815"
TWO_PHASES = """
say I begin
write docs/draft.md The sea is deep.
phase 1
write docs/final.md The sea is deep, and wide.
phase 2
"""
ASKING = """
ask "Which colour?" Blue Green
depend api_key SEA_KEY "to look"
env seen SEA_KEY
write docs/draft.md The sea is green.
phase 1
"""
Json = dict[str, Any]
SHAPES: dict[str, type[BaseModel]] = {
    "tasks": responses.Task,
    "reviews": responses.Review,
    "questions": responses.Question,
    "dependencies": responses.Dependency,
}


class Talk:
    """A client of a server that runs; what it gets is checked against the documentation."""

    def __init__(self, base: str) -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        self.http = httpx2.AsyncClient(base_url=base, headers=headers, timeout=60)

    async def post(self, path: str, body: object = None, status: int = 200, **headers: str) -> Json:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = await self.http.post(f"/api{path}", json=body, headers=sent)
        assert answer.status_code == status, answer.text
        read: Json = answer.json()
        if status < 300:
            kind = "tasks" if status == 201 else path.split("/")[1]
            SHAPES[kind].model_validate(read)
        return read

    async def get(self, path: str, shape: type[BaseModel] | None = None, status: int = 200) -> Json:
        answer = await self.http.get(f"/api{path}")
        assert answer.status_code == status, answer.text
        read: Json = answer.json()
        if shape is not None:
            shape.model_validate(read)
        return read

    async def until(self, id: str, status: str, agent: str | None = None) -> Json:
        async def reached() -> Json | None:
            task = await self.get(f"/tasks/{id}", responses.Task)
            if task["status"] == status and agent in (None, task["agentStatus"]):
                return task
            assert task["status"] != "failed", task["error"]
            return None

        return await until_awaited(reached, f"{id} {status}")

    async def waiting(self, kind: str, id: str) -> Json:
        async def open_ones() -> list[Json]:
            items = (await self.get("/inbox", responses.Inbox))["items"]
            return [item for item in items if item["kind"] == kind and item["taskId"] == id]

        return (await until_awaited(open_ones, f"a {kind} of {id}"))[0]

    async def events(
        self,
        path: str,
        is_last: Callable[[Json], bool],
        seen: int = 0,
        is_open: asyncio.Event | None = None,
    ) -> list[Json]:
        found: list[Json] = []
        headers = {"Last-Event-ID": str(seen)}
        stream = self.http.stream("GET", f"/api{path}", headers=headers)
        async with asyncio.timeout(WAIT_S), stream as answer:
            if is_open is not None:
                is_open.set()
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    found.append(json.loads(line.removeprefix("data: ")))
                    if is_last(found[-1]):
                        break
        return found


@asynccontextmanager
async def served(house: House) -> AsyncIterator[Talk]:
    """The work and the front end on one loop, as `segue serve` has them."""
    async with house.open() as work:
        replies = StoredReplies(work.app.commands.supervisor.records.store)
        app = make_app(
            work.commands,
            token=TOKEN,
            replies=replies,
            tokens=TokensInMemory(),
            works=ProjectWorks(house.folder),
        )
        sock = bind("127.0.0.1", 0)
        stop = asyncio.Event()
        serving = asyncio.create_task(serve(app, sock, stop))
        talk = Talk(url(sock, "127.0.0.1"))
        try:
            yield talk
        finally:
            await talk.http.aclose()
            stop.set()
            await serving


def new(**more: object) -> Json:
    base = {"title": "A report", "description": "About the sea", "type": "report"}
    return base | {"agent": "player"} | more


def test_a_conversation_is_heard_and_read(house: House) -> None:
    """What an agent says comes on the stream while it is said, and stands in the conversation;
    its files and what changed in them can be looked at."""
    house.add(house.script(TWO_PHASES))

    async def scene() -> None:
        async with served(house) as talk:
            is_open = asyncio.Event()
            hearing = talk.events("/events", lambda event: "text" in event, is_open=is_open)
            following = asyncio.create_task(hearing)
            await is_open.wait()  # what was said before is in the conversation alone
            draft = await talk.post("/tasks", new(submit=True), 201)
            said = (await following)[-1]
            assert (said["kind"], said["taskId"]) == ("text", draft["id"])
            assert said["text"].startswith("I begin")
            id = draft["id"]
            await talk.until(id, "review")
            found = await talk.get(f"/tasks/{id}/conversation", responses.Conversation)
            assert [item["id"] for item in found["items"]] == [said["id"]]
            files = await talk.get(f"/tasks/{id}/files", responses.Files)
            assert [item["path"] for item in files["items"]] == ["docs/draft.md"]
            diff = await talk.get(f"/tasks/{id}/diff", responses.Diff)
            assert [item["path"] for item in diff["files"]] == ["docs/draft.md"]
            assert "+The sea is deep." in diff["patch"]

    play(scene)


def test_all_kinds_of_work_are_shown(house: House) -> None:
    """A plan beside the server's tasks: in the works, and what waits in it in the inbox."""
    house.add(house.script(ASKING))
    (house.folder / "PLAN.md").write_text("- [!] T-001: Build it\n- [ ] T-002: Ship it\n")

    async def scene() -> None:
        async with served(house) as talk:
            id = (await talk.post("/tasks", new(submit=True), 201))["id"]
            await talk.waiting("question", id)
            works = (await talk.get("/work", responses.Works))["items"]
            kinds = {work["kind"]: work for work in works}
            assert {"server", "tasklist"} <= set(kinds)
            assert kinds["tasklist"]["counts"]["failed"] == 1
            one = await talk.get(f"/work/{kinds['tasklist']['id']}", responses.Work)
            assert one["path"] == str(house.folder / "PLAN.md")
            await talk.get("/work/none", status=404)
            inbox = (await talk.get("/inbox", responses.Inbox))["items"]
            assert [item["kind"] for item in inbox] == ["question", "failed"]
            question, failed = inbox
            assert all(item["taskTitle"] == item["title"] for item in inbox)
            assert question["options"] == ["Blue", "Green"]
            assert question["work"]["kind"] == "server"
            assert question["url"].endswith(f"/tasks/{id}")
            assert question["ageS"] >= 0
            assert (failed["task"], failed["work"]["kind"]) == ("T-001", "tasklist")
            usage = await talk.get("/usage", responses.UsageReport)
            assert [one["work"]["kind"] for one in usage["byWork"]] == ["server"]
            assert [one["agent"] for one in usage["byAgent"]] == ["player"]
            types = (await talk.get("/types", responses.Types))["items"]
            assert [p["name"] for t in types if t["name"] == "report" for p in t["phases"]] == [
                "draft",
                "final",
            ]
            for kind in ("reviews", "dependencies"):
                assert (await talk.get(f"/{kind}?status=pending"))["items"] == []
            wrong = await talk.get("/tasks?statuss=draft", status=400)
            assert (wrong["code"], wrong["parameter"]) == ("unknown_parameter", "statuss")

    play(scene)


def test_a_task_from_its_draft_to_its_zip(house: House) -> None:
    """Drafted, submitted, reviewed with a change request, approved, downloaded; all by HTTP."""
    house.add(house.script(TWO_PHASES))

    async def scene() -> None:
        async with served(house) as talk:
            task = await talk.post("/tasks", new(), 201)
            id = task["id"]
            assert task["allowedActions"] == ["submit", "delete"]
            await talk.post(f"/tasks/{id}/submit")
            review = await talk.waiting("review", id)
            shown = await talk.get(f"/reviews/{review['id']}", responses.Review)
            assert [each["path"] for each in shown["deliverables"]] == ["docs/draft.md"]
            feedback = {
                "feedback": "More.",
                "comments": [{"file": "docs/draft.md", "line": 1, "text": "!"}],
            }
            decided = await talk.post(f"/reviews/{review['id']}/request-changes", feedback)
            assert decided["status"] == "changes_requested"
            again = await talk.post(f"/reviews/{review['id']}/approve", None, 409)
            assert again["state"] == "changes_requested"

    play(scene)


def test_both_phases_are_approved_and_downloaded(house: House) -> None:
    """Every view of a task that is done answers in its documented shape."""
    house.add(house.script(TWO_PHASES))

    async def scene() -> None:
        async with served(house) as talk:
            id = (await talk.post("/tasks", new(submit=True), 201))["id"]
            for _phase in range(2):
                review = await talk.waiting("review", id)
                await talk.post(f"/reviews/{review['id']}/approve", {"comment": "fine"})
            done = await talk.until(id, "completed")
            assert (done["progress"], done["allowedActions"]) == (100, ["archive", "delete"])
            refused = await talk.post(f"/tasks/{id}/pause", None, 409)
            assert refused["state"] == "completed"
            assert refused["allowedActions"] == ["archive", "delete"]

            answer = await talk.http.get(f"/api/tasks/{id}/deliverables.zip")
            names = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()
            assert "docs/final.md" in names
            log = await talk.http.get(f"/api/tasks/{id}/log")
            assert "I begin" in log.text
            part = await talk.http.get(f"/api/tasks/{id}/log", headers={"Range": "bytes=2-5"})
            assert (part.status_code, part.content) == (206, log.content[2:6])

            await talk.get("/tasks", responses.Tasks)
            await talk.get(f"/tasks/{id}/agent", responses.Agent)
            await talk.get(f"/tasks/{id}/phases", responses.Phases)
            await talk.get(f"/tasks/{id}/reviews", responses.Reviews)
            await talk.get(f"/tasks/{id}/questions", responses.Questions)
            await talk.get(f"/tasks/{id}/dependencies", responses.Dependencies)
            await talk.get(f"/tasks/{id}/checkpoints", responses.Checkpoints)
            await talk.get(f"/tasks/{id}/journal", responses.Journal)
            for path in ("/questions", "/limits", "/workers", "/settings"):
                await talk.get(path)
            figures = (await talk.http.get("/metrics")).text
            assert 'segue_tasks{status="completed"} 1' in figures

    play(scene)


def test_the_stream_tells_every_transition_over_a_restart(house: House) -> None:
    """Who was away asks for what came after the last number: each transition once, in order."""
    house.add(house.script(TWO_PHASES))

    async def scene() -> None:
        async with served(house) as talk:
            id = (await talk.post("/tasks", new(submit=True), 201))["id"]
            first = await talk.events(
                f"/tasks/{id}/events", lambda event: event.get("to") == "review"
            )
            last = first[-1]["seq"]  # what came last is a transition; output has no number
        async with served(house) as talk:
            review = await talk.waiting("review", id)
            following = asyncio.create_task(
                talk.events(
                    f"/tasks/{id}/events",
                    lambda e: (e.get("entity"), e.get("to")) == ("task", "completed"),
                    last,
                )
            )
            await talk.post(f"/reviews/{review['id']}/approve")
            review = await talk.waiting("review", id)
            await talk.post(f"/reviews/{review['id']}/approve")
            second = await following
            everything = await talk.events("/events", lambda event: event == second[-1])
        first, second, everything = (
            [event for event in found if "seq" in event] for found in (first, second, everything)
        )
        both = [event["seq"] for event in first + second]
        assert both == sorted(set(both))
        own = [event["seq"] for event in everything if event["taskId"] == id]
        assert both == own
        states = [e["to"] for e in first + second if e["entity"] == "task" and e["from"] != e["to"]]
        assert states == ["draft", "pending", "in_progress", "review", "in_progress", "review",
                          "completed"]  # fmt: skip

    play(scene)


def test_a_question_and_a_secret(house: House) -> None:
    """The answer is checked; the value reaches the agent, and nothing and nobody else."""
    house.add(house.script(ASKING))

    async def scene() -> None:
        async with served(house) as talk:
            id = (await talk.post("/tasks", new(submit=True), 201))["id"]
            question = await talk.waiting("question", id)
            place = f"/questions/{question['id']}/answer"
            wrong = await talk.post(place, {"answer": "Bleu"}, 422)
            assert wrong["suggestion"] == "Blue"
            assert (await talk.post(place, {"answer": "green"}))["answer"] == "Green"
            await talk.post(place, {"answer": "Blue"}, 409)

            dependency = await talk.waiting("dependency", id)
            place = f"/dependencies/{dependency['id']}/provide"
            await talk.post(place, {"value": SECRET}, Idempotency_Key="k")
            review = await talk.waiting("review", id)
            task = await talk.get(f"/tasks/{id}")
            assert str(len(SECRET)) in (Path(task["workspace"]) / "seen").read_text()
            texts = [
                (await talk.http.get(f"/api{path}")).text
                for path in (
                    "/tasks", f"/tasks/{id}/dependencies", f"/tasks/{id}/journal",
                    f"/tasks/{id}/log", f"/reviews/{review['id']}", "/inbox",
                )
            ]  # fmt: skip
            assert SECRET not in "".join(texts)
        kept = b"".join(p.read_bytes() for p in house.folder.rglob("*") if p.is_file())
        assert SECRET.encode() not in kept

    play(scene)


def test_a_key_holds_over_a_restart(house: House) -> None:
    """The same POST to the next server finds the task of the first."""
    house.add(house.script(TWO_PHASES))

    async def scene() -> None:
        async with served(house) as talk:
            first = await talk.post("/tasks", new(), 201, Idempotency_Key="once")
        async with served(house) as talk:
            again = await talk.post("/tasks", new(), 201, Idempotency_Key="once")
            assert again == first
            assert (await talk.get("/tasks"))["total"] == 1
            await talk.post("/tasks", new(title="other"), 422, Idempotency_Key="once")

    play(scene)


def test_what_is_wrong_is_refused_in_words(house: House) -> None:
    """Unknown types and agents with a suggestion, drafts that are not complete, unknown ids."""
    house.add(house.script(TWO_PHASES))

    async def scene() -> None:
        async with served(house) as talk:
            wrong = await talk.post("/tasks", new(type="raport"), 422)
            assert (wrong["code"], wrong["suggestion"]) == ("unknown_type", "report")
            await talk.post("/tasks", new(agent="nobody"), 422)
            await talk.post("/tasks", new(dependsOn=["task_ffffffffffff"]), 422)
            id = (await talk.post("/tasks", new(description=""), 201))["id"]
            await talk.post(f"/tasks/{id}/submit", None, 422)
            changed = await talk.http.patch(
                f"/api/tasks/{id}", json={"dependsOn": [], "title": "B"}
            )
            assert (changed.status_code, changed.json()["title"]) == (200, "B")
            for verb in ("submit", "cancel", "pause", "resume", "archive", "retry", "fork"):
                await talk.post(f"/tasks/task_ffffffffffff/{verb}", None, 404)
            for verb in ("cancel", "pause", "resume", "archive", "retry"):
                refused = await talk.post(f"/tasks/{id}/{verb}", None, 409)
                assert refused["allowedActions"] == ["submit", "delete"]
            gone = await talk.http.delete(f"/api/tasks/{id}")
            assert gone.status_code == 204
            await talk.get(f"/tasks/{id}", None, 404)

    play(scene)
