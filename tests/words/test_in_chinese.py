"""A finished English line is found again, with what stands in its places."""

from __future__ import annotations

from string import Formatter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.i18n import Localised
from attncli.words import in_chinese as lookup
from attncli.words.in_chinese import in_chinese, told_in

TEXTS = [text for table in lookup.tables() for text in table]
SAID = ("att-01", "/home/me/my file.py", "'x y'", "缓存", "[0]", "a.b_c-d")
CLAUSE = Localised("Missing command", "缺少命令")


def places(text: Localised) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text.en) if name}


def filled(text: Localised, said: str) -> Localised:
    """The text with a known clause in each place for one, and what is `said` in the others, numbered."""
    parts = {
        name: CLAUSE if name.startswith("clause") else "new_per_day" if name == "key" else f"{said}{number}"
        for number, name in enumerate(sorted(places(text)))
    }
    return text.format(**parts)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.en[:60])
def test_each_text_is_found_with_what_stands_in_its_places(text: Localised) -> None:
    for said in SAID:
        whole = filled(text, said)
        assert in_chinese(whole.en) == whole.zh, said


def test_no_english_text_stands_in_two_tables() -> None:
    assert len({text.en for text in TEXTS}) == len(TEXTS)


def test_a_line_that_no_table_has_stays_as_it_is() -> None:
    assert in_chinese("nobody has written this") is None
    assert told_in("zh", "nobody has written this") == "nobody has written this"
    assert told_in("en", CLAUSE.en) == CLAUSE.en
    assert told_in("zh", CLAUSE.en) == CLAUSE.zh


def test_a_clause_that_no_table_has_leaves_the_whole_line_english() -> None:
    assert in_chinese("Invalid value for '--x': nobody has written this") is None


def test_the_reading_that_understands_more_of_a_line_wins() -> None:
    line = "Invalid value for '--count': 0 is not in the range x>=1; see `attn quiz --help`"
    assert in_chinese(line) == "'--count' 的值不合要求：0 不在范围 x>=1 内；用法见 `attn quiz --help`"


@given(st.text(max_size=60))
def test_any_line_is_looked_up_without_an_error(line: str) -> None:
    for prefix in ("", "Invalid value for ", "there is no command ", "Missing "):
        in_chinese(f"{prefix}{line}")
