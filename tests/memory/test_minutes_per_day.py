from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attncli.memory.queue_order import LEARN_SECONDS, REVIEW_SECONDS, DayMinutes, Studied

studied = st.builds(Studied, st.integers(0, 500), st.floats(0, 50_000))
rooms = st.builds(DayMinutes.of, st.floats(0, 960), st.integers(0, 200), learned=studied, reviewed=studied)


@given(rooms)
def test_what_fits_never_takes_more_than_is_left(room: DayMinutes) -> None:
    taken = room.reviews * room.review_seconds
    assert room.reviews == 0 or taken <= room.seconds_left + 1e-6
    for reviews in range(min(room.reviews, 20) + 1):
        new = room.new_beside(reviews)
        taken = reviews * room.review_seconds + new * room.learn_seconds
        assert new == 0 or taken <= room.seconds_left + 1e-6


@given(rooms)
def test_where_a_review_has_to_wait_nothing_new_is_learned(room: DayMinutes) -> None:
    assert room.new_beside(room.reviews) == 0
    assert room.new_beside(room.reviews + 1) == 0


def test_without_a_log_a_card_takes_what_is_usual_and_a_log_of_its_own_is_believed_in_time() -> None:
    room = DayMinutes.of(10, 0, Studied(), Studied())
    assert (room.learn_seconds, room.review_seconds) == (LEARN_SECONDS, REVIEW_SECONDS)
    assert (room.reviews, room.new_beside(0)) == (40, 5)
    assert DayMinutes.of(10, 38, Studied(), Studied()).reviews == 2
    assert abs(Studied(400, 400 * 50.0).usual(REVIEW_SECONDS) - 50) < 1


def test_what_fits_to_the_second_fits() -> None:
    """Twenty reviews of half a minute take ten minutes; rounding the mean first would allow only nineteen."""
    assert DayMinutes.of(10, 0, Studied(), Studied(21, 780.0)).reviews == 20
