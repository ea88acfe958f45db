"""Control strings of terminals, taken out of the stream."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.dialects.screen_strings import STRING_BYTES_MAX, Strings, shown


def fed(*pieces: bytes) -> tuple[bytes, str]:
    strings = Strings()
    return b"".join(strings.feed(piece) for piece in pieces), strings.title


@pytest.mark.parametrize("kind", [b"P", b"]", b"_", b"^", b"X"])
@pytest.mark.parametrize("end", [b"\x1b\\", b"\x18", b"\x1a"])
def test_a_string_never_shows(kind: bytes, end: bytes) -> None:
    """Whichever kind it is, and however it ends."""
    assert fed(b"a\x1b" + kind + b"hidden" + end + b"b")[0] == b"ab"


def test_what_is_no_string_is_shown() -> None:
    """Colours, moves, and an ESC that nothing follows yet."""
    assert fed(b"\x1b[31mred\x1b[0m")[0] == b"\x1b[31mred\x1b[0m"
    assert fed(b"a\x1b", b"[Hb")[0] == b"a\x1b[Hb"


@pytest.mark.parametrize("number", [b"0", b"2"])
@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_the_title_is_kept(number: bytes, end: bytes) -> None:
    """Without what could do something in a terminal."""
    assert fed(b"\x1b]" + number + b"; My\x01 title\x7f " + end)[1] == "My title"


@pytest.mark.parametrize(
    "data", [b"\x1b]1;icon\x07", b"\x1b]0;void\x18", b"\x1bP0;dcs\x1b\\", b"\x1b]0;half"]
)
def test_other_strings_are_no_title(data: bytes) -> None:
    """Nor is one that was broken off."""
    assert fed(data)[1] == ""


def test_another_sequence_ends_a_string() -> None:
    """It is void, and the sequence counts."""
    assert fed(b"\x1b]0;title\x1b[Htext") == (b"\x1b[Htext", "")


def test_a_string_without_an_end_takes_no_memory() -> None:
    """What comes behind its first bytes is dropped, and what comes behind its end is shown."""
    strings = Strings()
    for _n in range(100):
        assert strings.feed(b"x" * STRING_BYTES_MAX if strings._kind else b"\x1b]0;") == b""
        assert len(strings._string or b"") <= STRING_BYTES_MAX
    assert strings.feed(b"\x07end") == b"end"


def test_what_tmux_passes_on_is_one_string() -> None:
    """In there every ESC is doubled."""
    assert fed(b"a\x1bPtmux;\x1b\x1b]0;inner\x07\x1b\x1b\\more\x1b\\b") == (b"ab", "")


@given(
    st.lists(st.sampled_from([b"\x1b", b"]0;", b"P", b"t", b"\x07", b"\\", b"[m", b"\x18"])),
    st.data(),
)
def test_it_is_the_same_however_the_stream_is_cut(parts: list[bytes], data: st.DataObject) -> None:
    """An ESC whose next byte has not come is held back."""
    whole = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert fed(*pieces) == fed(whole)


def test_a_row_is_compared_without_what_nobody_sees() -> None:
    """Blanks at its end, and letters whose mark stands beside them."""
    assert shown("cafe\u0301   ") == "caf\u00e9"
    assert shown("  a  ") == "  a"
