"""`attn drill` from the command line."""

from __future__ import annotations

import pytest

from .conftest import Attn

DRILL = ("drill", "--plain")


def test_a_drill_asks_what_was_wished_for_and_its_reviews_count(attn: Attn) -> None:
    result = attn(*DRILL, "--topic", "att", "--kind", "qa", stdin="\nall\n3\n")
    assert result.code == 0 and "att-01: good, next in" in result.out
    assert "1 answered and saved, 0 left" in result.out
    assert attn("stats", "--json").json["reviews"] == 1


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        (
            "en",
            (
                "3 good, 4 easy, r ask again today; press Enter for good",
                "kv-03: good\n1 answered, 0 left; nothing was recorded",
            ),
        ),
        ("zh", ("3 良好, 4 简单，r 今天再问一次；直接回车为良好", "kv-03：良好\n已答 1 张，还剩 0 张；均未记录")),
    ],
)
def test_a_cram_shows_no_interval_and_records_nothing(attn: Attn, lang: str, said: tuple[str, str]) -> None:
    result = attn("--lang", lang, *DRILL, "--kind", "debug", "--cram", stdin="1\n\n")
    assert result.code == 0
    assert said[0] in result.out and said[1] in result.out
    assert attn("stats", "--json").json["reviews"] == 0


def test_nothing_that_fits_is_no_and_says_what_to_drop(attn: Attn) -> None:
    result = attn(*DRILL, "--topic", "kv", "--kind", "qa")
    said = "attn: no card matches --topic kv --kind qa; there are 3 without --kind, 1 without --topic"
    assert result.code == 1 and result.line == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--kind", "essay"), "'essay' is not one of"),
        (("--level", "junior"), "'junior' is not one of"),
        (("--count", "0"), "0 is not in the range"),
        (("--topic", "kvv"), "did you mean kv?"),
    ],
)
def test_what_cannot_be_meant_is_refused(attn: Attn, words: tuple[str, ...], said: str) -> None:
    result = attn(*DRILL, *words)
    assert result.code == 2 and said in result.line


def test_without_a_terminal_the_plain_form_is_named(attn: Attn) -> None:
    result = attn("drill")
    assert result.code == 2 and result.line == "attn: the app needs a terminal; run `attn drill --plain`"


def test_the_level_that_is_set_is_asked_unless_another_is_named(attn: Attn) -> None:
    attn("config", "level", "screen")
    refused = attn(*DRILL, "--kind", "cloze")
    assert refused.code == 1 and "no card matches --kind cloze --level screen" in refused.line
    assert "with --level any" in refused.line and "without --level" not in refused.line
    for level in ("onsite", "research", "any"):
        assert attn(*DRILL, "--kind", "cloze", "--level", level, stdin="").code == 0
