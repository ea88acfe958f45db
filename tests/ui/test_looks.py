"""How the page looks and reads: live, on a phone, in Korean, in the dark, for everybody."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from kit.page import Server
from kit.waiting import until

MARK = "window.isTheSamePage = true"
SAME = "window.isTheSamePage === true"
PHONE = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}
# Relative luminance and contrast as WCAG has them.
CONTRAST = """([selector]) => {
  const parse = (text) => text.match(/[0-9.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = parse(getComputedStyle(each).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll(selector)].filter((e) => e.offsetParent).map((element) => {
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
    return [element.textContent.trim().slice(0, 40), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
  });
}"""
NAMED = """() => [...document.querySelectorAll("input:not([type=hidden]), textarea, select, button, a")]
  .filter((e) => !(e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim()))
  .map((e) => e.outerHTML)"""
TWICE = """() => { const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  return ids.filter((id, at) => ids.indexOf(id) !== at); }"""
SMALL = """() => [...document.querySelectorAll("button, .button, nav a, .choice, input, select, textarea, .view > summary")]
  .filter((e) => e.offsetParent && !["radio", "checkbox", "hidden"].includes(e.type))
  .map((e) => [e.outerHTML.slice(0, 80), e.getBoundingClientRect().height])
  .filter(([, height]) => height < 44)"""


@pytest.fixture
def full(server: Server) -> list[str]:
    """Something of everything, and all pages there are."""
    server.api("PATCH", "/settings", {"slots": 9})
    report = server.task(
        "A report with a title that is long enough to be broken", agent="writer", type="report"
    )
    first = server.waits(report, "review")
    server.api("POST", f"/reviews/{first['id']}/request-changes", {"feedback": "More."})
    review = server.waits(report, "review")
    needy, asker = server.task("Payments", agent="needy"), server.task("A service", agent="asker")
    limited, failed = server.task("Later", agent="limited"), server.task("Never", agent="failing")
    server.task("Unripe", description="", submit=False)
    server.waits(needy, "dependency")
    server.waits(asker, "question")
    server.reaches(failed, "failed")
    until(lambda: server.api("GET", "/limits")["parks"], "a park")
    tasks = [f"/tasks/{id}" for id in (report, needy, asker, limited, failed)]
    more = ["/", "/inbox", "/new", "/limits", "/settings", "/states/in_progress", "/nowhere"]
    return [*more[:-1], f"/reviews/{review['id']}", *tasks]


def test_the_board_is_live(page: Page, server: Server) -> None:
    """Tasks appear and move between columns without a reload."""
    page.goto("/")
    expect(page.locator("#connection")).to_have_text("Live")
    page.evaluate(MARK)
    id = server.task("Appears by itself", agent="short", type="report")
    column = page.get_by_role("region", name="In review")
    expect(column.get_by_role("link", name="Appears by itself")).to_be_visible()
    expect(page.locator("#waiting")).to_have_text("1")
    expect(page.locator("#news")).to_have_text("1 item waits for you")
    for _phase in range(2):
        server.api("POST", f"/reviews/{server.waits(id, 'review')['id']}/approve")
    done = page.get_by_role("region", name="Completed")
    expect(done.get_by_role("link", name="Appears by itself")).to_be_visible()
    expect(page.locator("#waiting")).to_be_hidden()
    assert page.evaluate(SAME)


def test_a_change_does_not_take_what_is_typed(page: Page, server: Server) -> None:
    """While somebody writes, other gates come and go; text, focus and open folds stay."""
    first = server.task("First", agent="short", type="report")
    review = server.waits(first, "review")
    page.goto("/inbox")
    page.evaluate(MARK)
    page.get_by_text("Request changes…").click()
    field = page.get_by_label("What to change")
    field.fill("Half a sent")
    second = server.task("Second", agent="asker")
    question = server.waits(second, "question")
    expect(page.locator(f"#{question['id']}")).to_be_visible()
    expect(field).to_be_focused()
    field.press_sequentially("ence")
    server.api("POST", f"/questions/{question['id']}/answer", {"answer": "Both"})
    expect(page.locator(f"#{question['id']}")).to_have_count(0)
    expect(field).to_have_value("Half a sentence")
    page.get_by_role("button", name="Send back").click()
    expect(page.get_by_text("Sent back with your feedback.")).to_be_visible()
    assert server.api("GET", f"/reviews/{review['id']}")["feedback"] == "Half a sentence"


def test_what_is_written_in_stays_as_it_is(page: Page, server: Server) -> None:
    """The buttons of a task change with its state, but not while a reason is typed."""
    id = server.task("Long", agent="busy")
    server.reaches(id, "in_progress")
    page.goto(f"/tasks/{id}")
    page.get_by_text("Cancel…").click()
    page.get_by_label("Why (optional)").fill("no")
    server.api("POST", f"/tasks/{id}/pause")
    expect(page.locator(".head")).to_contain_text("paused")
    page.get_by_label("Why (optional)").press_sequentially(" more")
    page.get_by_role("button", name="Cancel the task").click()
    expect(page.locator(".head .alert")).to_contain_text("no more")


def test_what_was_settled_elsewhere_goes_unless_it_is_written_in(
    page: Page, server: Server
) -> None:
    """Somebody else answers: a card goes, but not under the hands of whoever types in it."""
    written = server.waits(server.task("One", agent="asker"), "question")
    other = server.waits(server.task("Two", agent="asker"), "question")
    page.goto("/inbox")
    page.locator(f"#{written['id']}").get_by_label("Or in your own words").fill("Bo")
    for asked in (written, other):
        server.api("POST", f"/questions/{asked['id']}/answer", {"answer": "SQLite"})
    expect(page.locator(f"#{other['id']}")).to_have_count(0)
    expect(page.locator("#waiting")).to_be_hidden()
    page.keyboard.type("th")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("Someone else has already decided this.")


@pytest.mark.parametrize("agents", [{"talker": "say one\nwait 1s\nsay two\nwait 300s\ndone\n"}])
def test_output_comes_as_it_is_printed(page: Page, server: Server) -> None:
    """A task's page shows what the agent prints, while it runs."""
    id = server.task("Talks", agent="talker")
    page.goto(f"/tasks/{id}")
    page.evaluate(MARK)
    expect(page.locator("#terminal")).to_contain_text("two")
    assert page.evaluate(SAME)


def test_limits_count_down(page: Page, server: Server) -> None:
    """A parked task shows when it goes on, and the time that is left gets less."""
    server.task("Later", agent="limited")
    until(lambda: server.api("GET", "/limits")["parks"], "a park")
    page.goto("/limits")
    expect(page.locator(".card").first).to_contain_text("5-hour limit")
    left = page.locator("time.until").first
    before = left.inner_text()
    assert re.search(r"\((2:00:00|1:59:\d\d)\)", before)
    expect(left).not_to_have_text(before)


def test_the_inbox_is_handled_by_keyboard(page: Page, server: Server) -> None:
    """A question, a review and a dependency are settled without a mouse."""
    asker = server.task("A service", agent="asker")
    server.waits(asker, "question")
    page.goto("/")
    page.keyboard.press("g")
    page.keyboard.press("i")
    expect(page).to_have_url(f"{server.url}/inbox")
    page.keyboard.press("j")
    page.keyboard.press("2")
    expect(page.get_by_label("SQLite")).to_be_checked()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    server.reaches(asker, "completed")
    assert server.api("GET", f"/tasks/{asker}/questions")["items"][0]["answer"] == "SQLite"

    report = server.task("A report", agent="writer", type="report")
    server.waits(report, "review")
    needy = server.task("Payments", agent="needy")
    server.waits(needy, "dependency")
    page.goto("/inbox")
    page.keyboard.press("j")
    page.keyboard.press("c")
    page.keyboard.type("More of it. a c 1 j")
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    until(lambda: server.api("GET", f"/tasks/{report}/reviews")["total"] == 2, "a second round")
    page.goto("/inbox")
    expect(page.locator("[data-gate]")).to_have_count(2)
    page.keyboard.press("j")
    page.keyboard.press("p")
    page.keyboard.type("sk-1")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    server.reaches(needy, "completed")
    page.goto("/inbox")
    page.keyboard.press("k")
    page.keyboard.press("a")
    expect(page.get_by_role("button", name="Approve")).to_be_focused()
    page.keyboard.press("Enter")
    until(
        lambda: server.api("GET", f"/tasks/{report}/reviews")["items"][1]["status"] == "approved",
        "an approval",
    )


def test_keys_are_listed_and_can_be_turned_off(page: Page) -> None:
    """`?` shows all keys; whoever uses speech input can turn single keys off."""
    page.goto("/inbox")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Enable keyboard shortcuts").uncheck()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("n")
    page.reload()
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="Inbox", level=1)).to_be_visible()


def test_it_fits_a_phone(open_page, server: Server, full: list[str]) -> None:  # type: ignore[no-untyped-def]
    """At 320 px nothing is wider than the screen, and what is tapped is large enough."""
    page: Page = open_page(**PHONE)
    for place in full:
        page.goto(place)
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, place
        assert page.evaluate(SMALL) == [], place
    page.goto("/inbox")
    page.get_by_role("button", name="Approve").tap()
    expect(page.get_by_text("Approved. The agent continues.")).to_be_visible()


def test_it_speaks_korean(open_page, server: Server, full: list[str]) -> None:  # type: ignore[no-untyped-def]
    """The browser's language is spoken; a switch keeps another one."""
    page: Page = open_page(locale="ko-KR")
    for place in full:
        page.goto(place)
        assert page.evaluate("document.documentElement.lang") == "ko"
    page.goto("/inbox")
    expect(page.get_by_role("button", name="승인")).to_be_visible()
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    page.get_by_role("button", name="한국어").click()
    expect(page.get_by_role("button", name="승인")).to_be_visible()
    assert server.api("GET", "/settings")  # the server itself goes on in its own language
    english: Page = open_page()
    english.goto("/inbox")
    expect(english.get_by_role("button", name="Approve")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read(open_page, full: list[str], scheme: str) -> None:  # type: ignore[no-untyped-def]
    """In light and in dark, text stands out from what is behind it (4.5 to 1)."""
    page: Page = open_page(color_scheme=scheme)
    behind = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (int(behind[4:].split(",")[0]) < 64) is (scheme == "dark")
    texts = "p, h1, h2, h3, a, button, summary, label, .facts, .stage, .standing, .count, dt, dd, pre span"
    for place in full:
        page.goto(place)
        pale = [
            (text, ratio)
            for text, ratio in page.evaluate(CONTRAST, [texts])
            if text and ratio < 4.5
        ]
        assert pale == [], place


def test_everything_has_a_name(page: Page, full: list[str]) -> None:
    """For screen readers: one heading of the first level, landmarks, labels, no id twice."""
    for place in full:
        page.goto(place)
        assert page.locator("h1").count() == 1, place
        assert page.locator("main").count() == 1, place
        assert page.evaluate(NAMED) == [], place
        assert page.evaluate(TWICE) == [], place
        assert page.locator("[style], script:not([src])").count() == 0, place
        page.keyboard.press("Tab")
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
