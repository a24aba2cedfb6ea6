from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from attncli.memory.queue_order import LONGEST_PASS_DAYS, pass_days


@given(st.floats(0, 1e6), st.floats(-1, 1e5))
@example(1.0, 2.225073858507203e-309)
def test_the_last_pass_takes_a_day_at_least_and_a_week_at_most(seen_seconds: float, seconds_a_day: float) -> None:
    assert 1 <= pass_days(seen_seconds, seconds_a_day) <= LONGEST_PASS_DAYS


def test_the_last_pass_is_as_long_as_the_seen_cards_take() -> None:
    assert [pass_days(seconds, 600) for seconds in (0, 600, 601, 1800)] == [1, 1, 2, 3]
