"""Text of a screen → rows: colours, cursor moves, typography, bounds."""

from __future__ import annotations

import time

from segue.dialects.limits.screen.rows import ROWS_MAX, TEXT_CHARS_MAX, normalise
from segue.dialects.limits.screen.terminal import COLUMNS_MAX, rendered


def test_colours_and_odd_blanks_go() -> None:
    """What is left is what people read, in plain characters."""
    text = "\x1b[31m⎿\xa0 You\u2019ve hit\x1b[0m your limit \u2014 \u201csoon\u201d\u200b  \n\n"
    assert normalise(text) == ['⎿  You\'ve hit your limit - "soon"']


def test_words_placed_by_columns_get_their_blanks_back() -> None:
    """Each word was put into its column, without blanks between them."""
    text = "⏺You've\x1b[10Ghit\x1b[14Gyour\x1b[19Glimit"
    assert normalise(text)[0].split() == ["⏺You've", "hit", "your", "limit"]


def test_rows_placed_anywhere() -> None:
    """Rows come in any order; what was written last on a place is shown."""
    text = "\x1b[2J\x1b[3;5Hthree\x1b[1;1Hone\x1b[2;1Hold\x1b[2;1H\x1b[Ktwo"
    assert rendered(text) == ["one", "two", "    three"]


def test_a_carriage_return_overwrites() -> None:
    """A progress bar leaves its last state."""
    assert normalise("10%\r99%\rdone\nnext") == ["done", "next"]


def test_wide_characters_take_two_columns() -> None:
    """A column counts cells, not characters."""
    assert rendered("한도\x1b[6G끝") == ["한도 끝"]


def test_a_margin_is_taken_away() -> None:
    """Screens with a margin read like those without."""
    assert normalise("   a\n     b\n\n   c") == ["a", "  b", "", "c"]


def test_huge_numbers_do_no_harm() -> None:
    """Rows and columns are bounded, whatever a sequence names."""
    rows = rendered("\x1b[999999;999999Hx\x1b[999999Cy\x1b[999999Bz")
    assert len(rows) <= 2_000
    assert max(map(len, rows)) <= COLUMNS_MAX


def test_only_the_end_is_looked_at() -> None:
    """A long text costs no more than its end, and loses only its beginning."""
    text = "x" * 50 + "\n"
    rows = normalise(text * 100_000 + "the end")
    assert rows[-1] == "the end"
    assert len(rows) <= ROWS_MAX
    assert len(normalise("y" * (TEXT_CHARS_MAX * 3))) == 1


def test_hostile_sequences_take_no_longer() -> None:
    """Escapes without an end, and nothing but line feeds, are read in linear time."""
    started = time.process_time()
    for text in (
        "\x1b[" * 200_000,
        "\x1b]" * 200_000,
        "\n" * 500_000 + "\x1b[1A",
        "\x1b[1G" * 90_000,
    ):
        normalise(text)
    assert time.process_time() - started < 5
