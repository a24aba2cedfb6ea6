from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attncli.memory.queue_order import LEARN_SECONDS, REVIEW_SECONDS, fitting, usual_seconds

left = st.floats(-3600, 960 * 60)
due, took = st.integers(0, 500), st.floats(2, 300)


@given(left, due, took, took)
def test_what_fits_never_takes_more_than_is_left(seconds: float, due: int, learn: float, review: float) -> None:
    for reviews, new in (fitting(seconds, due, learn, review), fitting(seconds, 0, learn, review)):
        taken = reviews * review + new * learn
        assert (reviews, new) == (0, 0) or taken <= seconds + 1e-6


@given(left, due, took, took)
def test_where_a_review_has_to_wait_nothing_new_is_learned(
    seconds: float, due: int, learn: float, review: float
) -> None:
    reviews, new = fitting(seconds, due, learn, review)
    assert reviews == due or new == 0


def test_without_a_log_a_card_takes_what_is_usual_and_a_log_of_its_own_is_believed_in_time() -> None:
    assert (usual_seconds([], LEARN_SECONDS), usual_seconds([], REVIEW_SECONDS)) == (LEARN_SECONDS, REVIEW_SECONDS)
    assert fitting(600, 100, LEARN_SECONDS, REVIEW_SECONDS) == (40, 0)
    assert fitting(600, 0, LEARN_SECONDS, REVIEW_SECONDS) == (0, 5)
    assert fitting(600 - 38 * REVIEW_SECONDS, 100, LEARN_SECONDS, REVIEW_SECONDS) == (2, 0)
    assert REVIEW_SECONDS < usual_seconds([50.0] * 100, REVIEW_SECONDS) < usual_seconds([50.0] * 400, REVIEW_SECONDS)


def test_what_fits_to_the_second_fits() -> None:
    assert fitting(600, 100, LEARN_SECONDS, 30.0) == (20, 0)
