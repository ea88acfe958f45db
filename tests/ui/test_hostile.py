"""What an agent says is shown, and never does anything: in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from kit.page import Server

BOMB = "<script>window.isOwned=1</script><img src=x onerror=window.isOwned=1>"
LINK = "[press](javascript:window.isOwned=1) ![picture](http://203.0.113.9/p.png)"
ESCAPES = "\x1b[31mred\x1b[0m \x1b]8;;http://203.0.113.9/\x07link\x1b]8;;\x07 \x1b]0;title\x07end"
REVERSED = "safe\u202egpj.exe"
JINJA = "{{ 7 * 7 }}{% raw %}"
HTMX = '" hx-get=/api/settings hx-trigger=load autofocus onfocus=window.isOwned=1 x="'
HOSTILE = {
    "evil-writer": (
        f"say {BOMB}\nsay {ESCAPES}\nsay {REVERSED}\n"
        f"write docs/draft.md # {BOMB}\nappend docs/draft.md \nappend docs/draft.md {LINK}\n"
        f"append docs/draft.md {ESCAPES} {REVERSED} {JINJA}\n"
        "phase 1\nwait 1s\n"
        f"append docs/draft.md {BOMB} again\nphase 1\nwait 300s\n"
    ),
    "evil-asker": (
        f"ask \"{BOMB} {REVERSED}\" 'yes{HTMX.replace(chr(39), '')}' 'no\u202e' plain\ndone\n"
    ),
    "evil-needy": f"depend api_key SOME_KEY {BOMB} {ESCAPES}\ndone\n",
    "evil-failing": f"error fatal checkpoint_and_fail {BOMB} {ESCAPES}\n",
    "noisy": "say " + "x" * 200_000 + "\n" + "say line\n" * 3000 + "wait 300s\ndone\n",
}


def harmless(page: Page) -> None:
    page.wait_for_timeout(100)  # whatever would run has had its chance
    assert page.evaluate("window.isOwned") is None
    assert page.title().endswith("Segue")
    assert "\u202e" not in page.content()
    assert "\x1b" not in page.content()
    assert (
        page.locator("main script, main img, main iframe, main [onerror], main [onfocus]").count()
        == 0
    )
    assert page.locator("a[href^='javascript']").count() == 0


@pytest.mark.parametrize("agents", [HOSTILE])
def test_nothing_an_agent_says_does_anything(page: Page, server: Server) -> None:
    """Titles, output, deliverables, diffs, questions, options, dependencies, errors: only text."""
    report = server.task(
        f"{BOMB}{JINJA}{REVERSED}", agent="evil-writer", type="report", description=HTMX
    )
    review = server.waits(report, "review")
    asked = server.waits(server.task(HTMX, agent="evil-asker"), "question")
    needed = server.waits(server.task("needs", agent="evil-needy"), "dependency")
    failed = server.task("fails", agent="evil-failing")
    server.reaches(failed, "failed")
    for place in (
        "/",
        "/inbox",
        "/new",
        f"/tasks/{report}",
        f"/tasks/{failed}",
        f"/reviews/{review['id']}",
    ):
        page.goto(place)
        harmless(page)
    page.goto(f"/tasks/{report}")
    expect(page.locator("h1").first).to_contain_text(f"{BOMB}{JINJA}safegpj.exe")
    expect(page.locator(".prose")).to_contain_text("window.isOwned")
    expect(page.locator("#terminal")).to_contain_text("red link end")
    page.get_by_text("Request changes…").click()
    page.get_by_label("What to change").fill(f"again {BOMB}")
    page.get_by_role("button", name="Send back").click()
    expect(page.locator(".diff")).to_contain_text("again")
    harmless(page)
    page.goto("/inbox")
    expect(page.locator(f"#{asked['id']} legend")).to_contain_text("<script>")
    expect(page.locator(f"#{needed['id']}")).to_contain_text("<script>")
    harmless(page)


@pytest.mark.parametrize("agents", [HOSTILE])
def test_an_option_with_hidden_characters_can_be_chosen(page: Page, server: Server) -> None:
    """What is shown lacks what was hidden, and still the very option is the answer."""
    id = server.task("asks", agent="evil-asker")
    asked = server.waits(id, "question")
    hidden = next(option for option in asked["options"] if option.startswith("no"))
    page.goto("/inbox")
    page.get_by_label("no", exact=True).check()
    page.get_by_role("button", name="Answer").click()
    server.reaches(id, "completed")
    assert server.api("GET", f"/tasks/{id}/questions")["items"][0]["answer"] == hidden


@pytest.mark.parametrize("agents", [HOSTILE])
def test_endless_output_is_bounded(page: Page, server: Server) -> None:
    """Of very much output the page shows the end, and stays small."""
    id = server.task("noisy", agent="noisy")
    page.goto(f"/tasks/{id}")
    expect(page.locator("#terminal")).to_contain_text("line\nline")
    expect(page.get_by_text("Only the end of the output is shown.")).to_be_visible()
    assert len(page.content()) < 200_000


def test_files_elsewhere_cannot_be_reached(page: Page, server: Server) -> None:
    """The folder of scripts and styles gives nothing else."""
    for name in ("..%2fpages%2fsite.py", "%2e%2e/app.py", "THIRD_PARTY.md", "nothing.css"):
        answer = page.request.get(f"/static/{name}")
        assert answer.status == 404, name
    assert Path(server.folder / "segue.toml").exists()
