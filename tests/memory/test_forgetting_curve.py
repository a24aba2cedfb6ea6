from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.memory.scheduler import retrievability


@given(st.floats(0.001, 1e5), st.floats(0.1, 0.8))
def test_recall_is_nine_in_ten_after_one_stability(stability: float, decay: float) -> None:
    assert retrievability(stability, stability, decay) == pytest.approx(0.9)


@given(st.floats(0.001, 1e5), st.floats(0, 1e5), st.floats(0, 1e5))
def test_recall_only_falls(stability: float, one: float, other: float) -> None:
    sooner, later = sorted((one, other))
    assert 0 < retrievability(stability, later) <= retrievability(stability, sooner) <= 1


def test_it_is_py_fsrs_s_curve() -> None:
    from datetime import UTC, datetime, timedelta

    import fsrs

    now = datetime(2026, 1, 1, tzinfo=UTC)
    card = fsrs.Card(card_id=1, state=fsrs.State.Review, stability=7.5, difficulty=5, due=now, last_review=now)
    theirs = fsrs.Scheduler().get_card_retrievability(card, now + timedelta(days=20))
    assert retrievability(7.5, 20) == pytest.approx(theirs)
