"""Draw plots in a terminal and as SVG, each mark at its value's position; align the table in every language."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attncli.domain.text import cells, wrapped
from attncli.experiments.plots import axis, bar_axis, drawn, number, shown, svg, table
from attncli.experiments.runner import Plot, outcome_of
from attncli.i18n import LANGS

from .test_results import GOOD, both

POSITIVE = st.floats(min_value=1e-9, max_value=1e9)
ANY = st.floats(min_value=-1e9, max_value=1e9).filter(lambda value: value == 0 or abs(value) > 1e-9)


def plot(**changes: Any) -> Plot:
    line = {"kind": "line", "title": both("Title"), "x": [1, 2, 3], "series": [series("s", [1, 4, 9])], "log": ""}
    return outcome_of("toy", 0, {**GOOD, "plots": [{**line, **changes}]}).plots[0]


def series(name: str, y: list[float]) -> dict[str, Any]:
    return {"name": both(name), "y": y}


@given(values=st.lists(ANY, min_size=1, max_size=9))
def test_an_axis_holds_all_values_and_writes_some(values: list[float]) -> None:
    found = axis(values, log=False)
    assert all(-1e-9 <= found.place(value) <= 1 + 1e-9 for value in [*values, *found.ticks])
    assert 2 <= len(found.ticks) <= 8


@given(values=st.lists(POSITIVE, min_size=1, max_size=9))
@example(values=[367879494.0, 999999999.0])
def test_a_logarithmic_axis_too(values: list[float]) -> None:
    for found in (axis(values, log=True), bar_axis(values, log=True)):
        assert all(-1e-9 <= found.place(value) <= 1 + 1e-9 for value in [*values, *found.ticks])
        assert 2 <= len(found.ticks) <= 8


def test_ticks_and_numbers_are_round_and_short() -> None:
    assert axis([0.3, 4.7], log=False).ticks == (0, 1, 2, 3, 4, 5)
    assert axis([3e-4, 2], log=True).ticks == (1e-3, 1e-2, 1e-1, 1)
    assert axis([1.8, 65], log=True).ticks == pytest.approx((2, 5, 10, 20, 50))
    assert axis([1.1, 1.9], log=True).ticks == (1.1, 1.9)
    assert axis([5], log=False).place(5) == 0.5
    written = [number(value) for value in (1024.0, 0.07366, 1e-5, 2.5e7, 0.0, -3, 0.002)]
    assert written == ["1024", "0.0737", "1e-5", "2.5e7", "0", "-3", "0.002"]


def test_points_stand_where_their_values_are_and_meetings_have_a_star() -> None:
    lines = drawn(plot(), 60, "en")
    assert lines[0] == "Title"
    marked = [(row, line.index("a")) for row, line in enumerate(lines[1:14]) if "a" in line]
    rows, columns = zip(*marked, strict=True)
    assert rows == tuple(sorted(rows)) and columns == tuple(sorted(columns, reverse=True))
    assert lines[-1] == "a s"
    lines = drawn(plot(series=[series("one", [1, 2, 3]), series("two", [1, 5, 3])]), 60, "en")
    assert lines[-1] == "a one   b two   * overlapping"
    assert sum(line.count("*") for line in lines[1:14]) == 2


def test_bars_are_as_long_as_their_values_and_start_at_zero() -> None:
    lines = drawn(plot(kind="bar", x=["x", "long"], series=[series("s", [2, 4])]), 60, "en")
    assert [line.count("█") for line in lines[1:3]] == [22, 44]
    assert [line.split()[0] for line in lines[1:3]] == ["x", "long"]
    assert lines[1].endswith(" 2")
    below, above = drawn(plot(kind="bar", x=["x", "y"], series=[series("s", [-1, 1])]), 60, "en")[1:3]
    assert below.rindex("█") < above.index("█")


def test_a_heat_map_has_a_shade_and_a_number_in_each_cell_or_is_too_wide() -> None:
    heat = plot(kind="heat", rows=["a", "b"], columns=["c", "d"], values=[[0, 1], [0.5, 0.25]])
    assert drawn(heat, 60, "en")[1:] == ["  c        d", "a ··0      ██1", "b ▒▒0.5    ░░0.25", "· 0 … █ 1"]
    heat = plot(kind="heat", rows=["a"], columns=list(range(40)), values=[[float(n % 2) for n in range(40)]])
    assert drawn(heat, 60, "en")[2] == "a " + "·█" * 20
    heat = plot(kind="heat", rows=["a"], columns=list(range(14)), values=[[float(n) for n in range(14)]])
    assert drawn(heat, 40, "en")[1] == "  0 1 2 3 4 5 6 7 8 9 10  12"


@settings(max_examples=40)
@given(
    kind=st.sampled_from(["line", "bar"]),
    ys=st.lists(st.lists(ANY, min_size=3, max_size=3), min_size=1, max_size=8),
    width=st.integers(min_value=40, max_value=120),
)
def test_every_plot_can_be_drawn_and_fits(kind: str, ys: list[list[float]], width: int) -> None:
    found = plot(kind=kind, series=[series(f"s{place}", y) for place, y in enumerate(ys)])
    for lang in LANGS:
        assert all(cells(line) <= width for line in drawn(found, width, lang)[1:-1])
        ElementTree.fromstring(svg([found], lang))


def test_an_svg_shows_the_titles_the_names_and_one_mark_for_each_value() -> None:
    plots = [plot(), plot(kind="bar", x=["<&>", "y"], series=[series("bars", [1, 2])])]
    heat = plot(kind="heat", rows=["a"], columns=["c", "a longer name"], values=[[0, 1]])
    text = svg([*plots, heat], "en")
    root = ElementTree.fromstring(text)
    written = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert written.count("Title") == 3 and {"<&>", "bars", "s", "c", "a longer name"} <= set(written)
    assert text.count("<circle") == 3 + 1  # the points, and the one in the legend
    assert "script" not in text and "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert re.search(r'viewBox="0 0 720 \d+', text)
    assert 'points="64.0,244.0 380.0,178.0 696.0,68.0"' in text, "the frame reaches from 64 to 696, and 46 to 266"


def test_what_would_steer_a_reader_is_not_drawn() -> None:
    assert "\u202e" not in svg([plot(title=both("a\u202eb"))], "en")


def outcome(seed: int = 0, **changes: Any) -> Any:
    return outcome_of("toy", seed, {**GOOD, **changes})


def test_words_stand_left_and_numbers_right() -> None:
    found = outcome(
        columns=[{"en": "n", "zh": "数"}, {"en": "what", "zh": "名称"}], rows=[[1, "one"], [12.5, "twelve"]]
    )
    assert table([found], "en") == ["   n  what", "   1  one", "12.5  twelve"]
    assert table([found], "zh") == ["  数  名称", "   1  one", "12.5  twelve"]
    found = outcome(columns=[both("n")], rows=[[""], [1000]])
    assert table([found], "en") == ["   n", "", "1000"]
    lines = table([outcome(0), outcome(7)], "en")
    assert [line.split()[0] for line in lines] == ["seed", "0", "0", "7", "7"]
    found = outcome(columns=[both("a very long heading of a column"), both("n")], rows=[[1, 2]])
    assert table([found], "en") == [" a very long", "heading of a", "      column  n", "           1  2"]


def test_numbers_have_four_digits_that_count() -> None:
    told = [shown(value, "en") for value in (0.123456, 83886080, 9999, 1e-7, True)]
    assert told == ["0.1235", "83,886,080", "9999", "1e-07", "yes"]
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
