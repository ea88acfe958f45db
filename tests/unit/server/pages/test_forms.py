"""What a form sent, and what does not fit in it."""

from __future__ import annotations

import pytest

from segue.server import bodies
from segue.server.pages import forms
from segue.server.pages.forms import Form, checked
from segue.work.phases.refused import Refused

TASK = {"title": "t", "type": "custom"}


def test_a_field_is_text_and_what_is_missing_is_empty() -> None:
    form = Form(b"title=%ED%95%9C+%26&empty=&more=1&more=2")
    assert (form.one("title"), form.one("empty"), form.one("none")) == ("한 &", "", "")
    assert (form.one("more"), form.many("more"), form.many("none")) == ("1", ["1", "2"], [])


def test_lines_end_as_in_files() -> None:
    """Browsers send CR LF, whatever was in the field."""
    form = Form(b"text=a%0D%0Ab%0Dc&text=d%0D%0A")
    assert (form.one("text"), form.many("text")) == ("a\nb\rc", ["a\nb\rc", "d\n"])


def test_empty_rows_keep_their_places() -> None:
    """Rows of a table are put together by their order."""
    form = Form(b"line=&line=3&text=a&text=")
    assert (form.many("line"), form.many("text")) == (["", "3"], ["a", ""])


@pytest.mark.parametrize("body", [b"", b"%", b"=&=&&", b"\xff\x00", b"a=%ff", b"a;b=c"])
def test_a_body_that_is_no_form_has_no_fields_that_matter(body: bytes) -> None:
    assert Form(body).one("title") == ""


def test_a_number_is_one_or_none_at_all() -> None:
    form = Form(b"a=+7&b=-3&c=&d=x&e=1.5&f=" + b"9" * 5_000)
    assert [form.number(name) for name in "abcz"] == [7, -3, 0, 0]
    for name in "def":
        with pytest.raises(Refused) as refused:
            form.number(name)
        assert (refused.value.status, refused.value.facts) == (422, {"field": name})


def test_a_form_with_too_many_fields_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "FIELDS_MAX", 2)
    assert Form(b"a=1&b=2").one("b") == "2"
    with pytest.raises(Refused) as refused:
        Form(b"a=1&b=2&c=3")
    assert (refused.value.status, refused.value.code) == (422, "invalid")


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("type", "", "This field is required."),
        ("title", "s3cret" * 100, "This is too long."),
        ("dependsOn", ["a"] * 201, "This is too long."),
        ("priority", 10**9, "This value is not valid."),
    ],
)
def test_the_first_field_that_does_not_fit_is_named_and_not_repeated(
    field: str, value: object, text: str
) -> None:
    """What was in it may be a secret."""
    fields: dict[str, object] = {**TASK, field: value}
    with pytest.raises(Refused) as refused:
        checked(bodies.GivenTask, **fields)
    assert (refused.value.facts, refused.value.message) == ({"field": field}, text)
    assert "s3cret" not in f"{refused.value} {refused.value.facts}"


def test_what_fits_is_given_in_its_shape() -> None:
    made = checked(bodies.GivenTask, title="t", type="custom", dependsOn=["a"])
    assert (made.title, made.depends_on) == ("t", ["a"])
