"""What people do on the page, in a real browser with a real server and scripted agents."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from kit.page import TOKEN, Server


def gate(page: Page, id: str):  # type: ignore[no-untyped-def]
    return page.locator(f"#{id}")


def test_a_stranger_logs_in_by_the_form(open_page, server: Server) -> None:  # type: ignore[no-untyped-def]
    """Whoever is not logged in comes to the form, is told of a wrong token, and gets back."""
    page: Page = open_page(is_in=False)
    page.goto("/inbox")
    assert "/login" in page.url
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_have_text("Wrong token.")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Inbox", level=1)).to_be_visible()
    cookie = next(c for c in page.context.cookies() if c["name"] == "segue_login")
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert TOKEN not in cookie["value"]


def test_a_link_logs_in_and_log_out_ends_it(page: Page) -> None:
    """The link leaves no token in the address; after logging out nothing can be seen."""
    assert "token" not in page.url
    page.goto("/settings")
    page.get_by_role("button", name="Log out").click()
    page.goto("/")
    assert "/login" in page.url


def test_a_task_is_made_and_submitted(page: Page, server: Server) -> None:
    """A form makes a task with all that was chosen, and it runs."""
    first = server.task("The first", agent="busy")
    page.get_by_role("link", name="New task").click()
    page.get_by_label("Title").fill("The second")
    page.get_by_label("What to do").fill("Line one\nLine two")
    page.get_by_label("Type").select_option("custom")
    page.get_by_label("Agent").select_option("quick")
    page.get_by_label("Priority").fill("7")
    page.get_by_text("Starts after other tasks").first.click()
    page.get_by_label("The first").check()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The second")
    expect(page.get_by_role("status").last).to_have_text("The task is queued.")
    made = server.api("GET", f"/tasks/{page.url.rpartition('/')[2].partition('?')[0]}")
    assert made["description"] == "Line one\nLine two"
    assert (made["agent"], made["priority"], made["dependsOn"]) == ("quick", 7, [first])
    assert made["status"] == "pending"
    assert made["waitsFor"] == [first]


def test_a_draft_is_kept_changed_and_submitted(page: Page, server: Server) -> None:
    """A draft without a description cannot be submitted, is changed, and then can."""
    page.goto("/new")
    page.get_by_label("Title").fill("Unripe")
    page.get_by_role("button", name="Keep as a draft").click()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("description before you submit")
    page.get_by_role("link", name="Change").click()
    expect(page.get_by_label("Title")).to_have_value("Unripe")
    page.get_by_label("What to do").fill("Now it is said.")
    page.get_by_label("Agent").select_option("quick")
    page.get_by_role("button", name="Submit").click()
    id = page.url.rpartition("/")[2].partition("?")[0]
    server.reaches(id, "completed")


def test_a_review_is_approved_in_the_inbox(page: Page, server: Server) -> None:
    """Approving leads to the next phase, and after the last to the end, with the ZIP."""
    id = server.task("A report", agent="short", type="report")
    for _phase in range(2):
        review = server.waits(id, "review")
        page.goto("/inbox")
        gate(page, review["id"]).get_by_role("button", name="Approve").click()
        expect(page.get_by_text("Approved. The agent continues.")).to_be_visible()
    server.reaches(id, "completed")
    page.goto(f"/tasks/{id}")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Deliverables as ZIP").click()
    assert Path(waiting.value.path()).read_bytes()[:2] == b"PK"


def test_changes_are_requested_with_a_remark(page: Page, server: Server) -> None:
    """Feedback and a remark on a line reach the agent; the next round shows the difference."""
    id = server.task("A report", agent="writer", type="report")
    review = server.waits(id, "review")
    page.goto(f"/tasks/{id}")
    expect(page.locator(".prose")).to_contain_text("One line.")
    page.get_by_text("Request changes…").click()
    page.get_by_label("What to change").fill("More lines.")
    page.get_by_label("Line").fill("2")
    page.get_by_label("Comment", exact=True).fill("Only one?")
    page.get_by_role("button", name="Send back").click()
    settled = server.api("GET", f"/reviews/{review['id']}")
    assert settled["feedback"] == "More lines."
    assert settled["comments"] == [{"file": "docs/draft.md", "line": 2, "text": "Only one?"}]
    again = server.waits(id, "review")
    assert again["round"] == 2
    expect(page.locator(".diff .added", has_text="+Another line.")).to_be_visible()
    expect(page.get_by_text("changes requested")).to_be_visible()
    page.goto(f"/reviews/{again['id']}")
    expect(page.locator(".diff")).to_contain_text("+Another line.")


def test_changes_without_words_are_refused(page: Page, server: Server) -> None:
    """An empty feedback is told beside its field, also where the browser does not check."""
    id = server.task("A report", agent="short", type="report")
    review = server.waits(id, "review")
    page.goto("/inbox")
    page.get_by_text("Request changes…").click()
    field = page.get_by_label("What to change")
    field.evaluate("field => field.form.noValidate = true")
    page.get_by_role("button", name="Send back").click()
    expect(page.get_by_role("alert")).to_have_text("Describe what to change.")
    expect(page.get_by_label("What to change")).to_be_focused()
    assert server.api("GET", f"/reviews/{review['id']}")["status"] == "pending"


def test_a_question_is_answered_wrong_then_right(page: Page, server: Server) -> None:
    """What is close to an option is refused with a suggestion, which one click takes."""
    id = server.task("A service", agent="asker")
    question = server.waits(id, "question")
    page.goto("/inbox")
    asked = gate(page, question["id"])
    asked.get_by_label("Or in your own words").fill("Postgre")
    asked.get_by_role("button", name="Answer", exact=True).click()
    expect(asked.get_by_role("alert")).to_contain_text("Did you mean “PostgreSQL”?")
    assert server.waits(id, "question")["status"] == "pending"
    asked.get_by_role("button", name="Answer “PostgreSQL”").click()
    expect(page.get_by_text("Answered. The agent continues.")).to_be_visible()
    server.reaches(id, "completed")
    page.goto(f"/tasks/{id}")
    expect(page.locator(".settled strong")).to_have_text("PostgreSQL")


def test_a_question_is_answered_in_own_words(page: Page, server: Server) -> None:
    """What is close to no option is taken; what is close to one, after a second click."""
    for text, is_close in (("neither of them", False), ("Postgre", True)):
        id = server.task("A service", agent="asker")
        question = server.waits(id, "question")
        page.goto("/inbox")
        asked = gate(page, question["id"])
        asked.get_by_label("Or in your own words").fill(text)
        asked.get_by_role("button", name="Answer", exact=True).click()
        if is_close:
            asked.get_by_role("button", name="Send my own words").click()
        expect(page.get_by_text("Answered. The agent continues.")).to_be_visible()
        server.reaches(id, "completed")
        page.goto(f"/tasks/{id}")
        expect(page.locator(".settled strong")).to_have_text(text)


def test_an_option_is_chosen(page: Page, server: Server) -> None:
    """Choosing an option answers with it."""
    id = server.task("A service", agent="asker")
    question = server.waits(id, "question")
    page.goto(f"/tasks/{id}")
    gate(page, question["id"]).get_by_label("Both").check()
    gate(page, question["id"]).get_by_role("button", name="Answer").click()
    expect(page.locator(".settled strong")).to_have_text("Both")
    server.reaches(id, "completed")


def test_a_question_is_answered_once(open_page, server: Server) -> None:  # type: ignore[no-untyped-def]
    """Whoever is second is told that somebody was faster."""
    id = server.task("A service", agent="asker")
    question = server.waits(id, "question")
    page: Page = open_page(java_script_enabled=False)
    page.goto("/inbox")
    server.api("POST", f"/questions/{question['id']}/answer", {"answer": "Both"})
    page.get_by_label("SQLite").check()
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_role("alert")).to_contain_text("Someone else has already decided")
    found = server.api("GET", f"/tasks/{id}/questions")["items"][0]
    assert found["answer"] == "Both"


def test_a_dependency_is_provided_and_never_shown(page: Page, server: Server) -> None:
    """The agent gets the value; no page shows it, not even in a form."""
    secret = "sk-live-4242-secret"
    id = server.task("Payments", agent="needy")
    needed = server.waits(id, "dependency")
    page.goto("/inbox")
    field = gate(page, needed["id"]).get_by_label("Value")
    assert field.get_attribute("type") == "password"
    assert field.get_attribute("autocomplete") == "off"
    field.fill(secret)
    gate(page, needed["id"]).get_by_role("button", name="Provide").click()
    expect(page.get_by_text("never shows it again.").first).to_be_visible()
    server.reaches(id, "completed")
    got = Path(server.api("GET", f"/tasks/{id}")["workspace"]) / "got.txt"
    assert str(len(secret)) in got.read_text()
    for place in ("/", "/inbox", f"/tasks/{id}", "/limits", "/settings"):
        page.goto(place)
        assert secret not in page.content(), place


def test_a_dependency_is_refused_with_a_reason(page: Page, server: Server) -> None:
    """Refusing needs a reason; the agent goes on without it."""
    id = server.task("Payments", agent="needy")
    needed = server.waits(id, "dependency")
    page.goto("/inbox")
    page.get_by_text("Refuse…").click()
    page.get_by_label("Why").fill("not for tests")
    page.get_by_role("button", name="Refuse it").click()
    found = server.api("GET", f"/tasks/{id}/dependencies")["items"][0]
    assert (found["id"], found["status"], found["reason"]) == (
        needed["id"],
        "rejected",
        "not for tests",
    )


def test_only_allowed_actions_are_offered(page: Page, server: Server) -> None:
    """Buttons are those of the state; pausing and resuming change them."""
    id = server.task("Long", agent="busy")
    server.reaches(id, "in_progress")
    page.goto(f"/tasks/{id}")
    actions = page.get_by_role("group", name="Actions")
    expect(actions.get_by_role("button", name="Pause")).to_be_visible()
    expect(actions.get_by_role("button", name="Resume")).to_have_count(0)
    expect(actions.get_by_text("Delete…")).to_have_count(0)
    actions.get_by_role("button", name="Pause").click()
    actions.get_by_role("button", name="Resume").click()
    expect(actions.get_by_role("button", name="Pause")).to_be_visible()
    actions.get_by_text("Cancel…").click()
    page.get_by_label("Why (optional)").fill("enough")
    page.get_by_role("button", name="Cancel the task").click()
    expect(page.locator(".head .alert")).to_contain_text("enough")
    assert server.state(id) == "failed"


def test_a_failed_task_is_tried_again_and_deleted(page: Page, server: Server) -> None:
    """The inbox shows what failed; a new task names the old one; the old one can go."""
    id = server.task("Hopeless", agent="failing")
    server.reaches(id, "failed")
    page.goto("/inbox")
    expect(page.locator(".failed")).to_contain_text("it cannot be done")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("Retry of")).to_be_visible()
    page.goto(f"/tasks/{id}")
    page.get_by_text("Delete…").click()
    page.get_by_role("button", name="Delete permanently").click()
    expect(page.get_by_text("The task is deleted.")).to_be_visible()
    answer = page.goto(f"/tasks/{id}")
    assert answer is not None
    assert answer.status == 404
    expect(page.get_by_role("heading", level=1)).to_have_text("Not found")


def test_a_checkpoint_is_forked_and_rewound(page: Page, server: Server) -> None:
    """From a checkpoint a new task begins, or the same goes back and does its phase again."""
    id = server.task("A report", agent="writer", type="report")
    server.waits(id, "review")
    page.goto(f"/tasks/{id}")
    page.get_by_text("Restore…").first.click()  # it is saved a moment after the review is there
    page.get_by_role("button", name="Rewind").first.click()
    expect(page.get_by_text("continues from the checkpoint.")).to_be_visible()
    journal = server.api("GET", f"/tasks/{id}/journal")["items"]
    assert "rewind" in [entry["trigger"] for entry in journal]
    page.get_by_text("Restore…").first.click()
    page.get_by_role("button", name="Fork").first.click()
    expect(page.get_by_text("Forked from")).to_be_visible()
    assert id not in page.url
    server.reaches(id, "review")
    server.reaches(page.url.rpartition("/")[2].partition("?")[0], "review")


def test_slots_are_set(page: Page, server: Server) -> None:
    """A number of slots is saved; one beyond the bounds is refused beside its field."""
    page.goto("/settings")
    page.get_by_label("Slots").fill("5")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert server.api("GET", "/settings")["slots"] == 5
    page.get_by_label("Slots").fill("900")
    page.locator("form.sheet").evaluate("form => form.noValidate = true")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert server.api("GET", "/settings")["slots"] == 5


def test_everything_works_without_scripts(open_page, server: Server) -> None:  # type: ignore[no-untyped-def]
    """With scripts off a task is made, reviewed, and its question answered."""
    page: Page = open_page(java_script_enabled=False)
    page.goto("/new")
    page.get_by_label("Title").fill("By hand")
    page.get_by_label("What to do").fill("It.")
    page.get_by_label("Type").select_option("report")
    page.get_by_label("Agent").select_option("short")
    page.get_by_role("button", name="Submit").click()
    id = page.url.rpartition("/")[2].partition("?")[0]
    server.waits(id, "review")
    page.goto("/inbox")
    page.get_by_role("button", name="Approve").click()
    asked = server.task("A service", agent="asker")
    server.waits(asked, "question")
    page.goto("/inbox")
    page.get_by_label("SQLite").check()
    page.get_by_role("button", name="Answer").click()
    server.reaches(asked, "completed")
