from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from attncli.memory.scheduler import fuzz_range, fuzzed_days

MOST = 36_500


@given(st.integers(1, MOST), st.integers(1, MOST), st.text(max_size=10), st.integers(1, 1000))
def test_an_interval_stays_within_its_range_and_the_maximum(days: int, most: int, card: str, repetition: int) -> None:
    days = min(days, most)
    moved = fuzzed_days(days, most, card, repetition)
    assert moved <= max(most, days)
    if days < 2.5:
        assert moved == days
    else:
        least, greatest = fuzz_range(days, most)
        assert least <= moved <= greatest


def test_every_day_of_the_range_is_drawn_about_equally_often_and_none_past_it() -> None:
    drawn = Counter(fuzzed_days(10, MOST, f"card-{number}", 3) for number in range(5000))
    assert sorted(drawn) == [8, 9, 10, 11, 12]
    assert max(drawn.values()) < 1.2 * min(drawn.values())


def test_the_same_card_and_repetition_always_move_alike() -> None:
    assert fuzzed_days(100, MOST, "att-02", 4) == fuzzed_days(100, MOST, "att-02", 4) == 104
    assert len({fuzzed_days(100, MOST, "att-02", repetition) for repetition in range(20)}) > 3
