"""Plant mistakes in a source: they replace whole lines, alone or combined, and rounds take every choice in turn."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.challenge import MOST_BUGS, Repair, choices, drawn, planted, spans

SOURCE = "def double(x):\n    if x is None:\n        return 0\n    y = x + x  # (T,)\n\n    return y\n"
FOUR = [Repair(name, "", "") for name in ("a", "b", "c", "d", "e")]


def test_lines_are_found_whatever_their_indentation_and_only_whole():
    assert [(s.first, s.indentation) for s in spans(SOURCE, "return 0")] == [(2, "        ")]
    assert spans(SOURCE, "x + x") == [] and spans(SOURCE, "y = x + x") == [] and spans(SOURCE, "") == []
    assert [(s.first, s.end) for s in spans(SOURCE, "if x is None:\n    return 0\n")] == [(1, 3)]
    assert spans(SOURCE, "if x is None:\nreturn 0") == []
    assert [(s.first, s.end) for s in spans(SOURCE, "y = x + x  # (T,)\n\nreturn y")] == [(3, 6)]


def test_a_mistake_takes_the_indentation_of_what_it_replaces():
    grown = planted(SOURCE, [Repair("w", "return 0", "x = 1\nreturn x"), Repair("v", "return y", "")])
    assert grown == SOURCE.replace("return 0", "x = 1\n        return x").replace("    return y\n", "")


def test_a_mistake_without_exactly_one_place_is_refused():
    for find in ("return z", "return y\nreturn y"):
        with pytest.raises(ValueError, match="0 places"):
            planted(SOURCE, [Repair("w", find, "")])
    with pytest.raises(ValueError, match="2 places"):
        planted(SOURCE + SOURCE, [Repair("w", "return y", "")])


@given(st.permutations(range(6)), st.sets(st.integers(0, 5)))
def test_in_whatever_order_they_are_planted_the_file_is_the_same(order, chosen):
    source = "".join(f"line {k}\n" for k in range(6))
    repairs = [Repair(str(k), f"line {k}", f"bug {k}\nand more") for k in order if k in chosen]
    due = "".join(f"bug {k}\nand more\n" if k in chosen else f"line {k}\n" for k in range(6))
    assert planted(source, repairs) == due


@pytest.mark.parametrize("count", range(1, MOST_BUGS + 1))
def test_rounds_take_every_choice_in_turn_and_a_number_gives_the_same_again(count):
    every = {frozenset(chosen) for chosen in combinations(FOUR, count)}
    numbers = range(len(every))
    assert {frozenset(drawn("sdpa", FOUR, count, number)) for number in numbers} == every
    assert drawn("sdpa", FOUR, count, 2) == drawn("sdpa", FOUR, count, 2 + 7 * len(every))


def test_choices_begin_with_none_and_go_up_to_the_most():
    assert [len(chosen) for chosen in choices(FOUR, 2)] == [0] + [1] * 5 + [2] * 10
