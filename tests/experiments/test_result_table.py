"""The table of an experiment: aligned columns in every language."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from attncli.domain.text import cells, wrapped
from attncli.experiments.plots import shown, table
from attncli.experiments.runner import outcome_of

from .test_results import GOOD


def outcome(seed: int = 0, **changes: Any) -> Any:
    return outcome_of("toy", seed, {**GOOD, **changes})


def both(en: str, zh: str) -> dict[str, str]:
    return {"en": en, "zh": zh}


def test_words_stand_left_and_numbers_right() -> None:
    found = outcome(columns=[both("n", "数"), both("what", "名称")], rows=[[1, "one"], [12.5, "twelve"]])
    assert table([found], "en") == ["   n  what", "   1  one", "12.5  twelve"]
    assert table([found], "zh") == ["  数  名称", "   1  one", "12.5  twelve"]
    found = outcome(columns=[both("n", "n")], rows=[[""], [1000]])
    assert table([found], "en") == ["   n", "", "1000"]
    lines = table([outcome(0), outcome(7)], "en")
    assert [line.split()[0] for line in lines] == ["seed", "0", "0", "7", "7"]
    found = outcome(columns=[both("a very long heading of a column", "x"), both("n", "n")], rows=[[1, 2]])
    assert table([found], "en") == [" a very long", "heading of a", "      column  n", "           1  2"]


def test_numbers_have_four_digits_that_count() -> None:
    assert [shown(value, "en") for value in (0.123456, 83886080, 9999, 1e-7, True)] == [
        *("0.1235", "83,886,080", "9999", "1e-07", "yes")
    ]
    assert shown(False, "zh") == "否"


WORDS = st.lists(st.from_regex(r"\A(?:[ab]+|（?[注意力]+)[，。）]{0,3}\Z"), max_size=20).map(" ".join)


@settings(max_examples=30)
@given(text=WORDS, width=st.integers(min_value=8, max_value=30))
def test_wrapping_loses_nothing_and_begins_no_line_with_a_stop(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert not any(line.startswith(("，", "。", "）")) for line in lines)


@given(text=st.text(alphabet="注意力机制", max_size=60), width=st.integers(min_value=2, max_value=30))
def test_chinese_is_broken_anywhere(text: str, width: int) -> None:
    assert all(cells(line) <= width for line in wrapped(text, width))
