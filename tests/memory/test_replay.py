from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.log_row import LogRow, Rating, RowKind, Schedule
from attncli.memory.replay import Hold, fold_hold, fold_reviews, is_leech, standing_reviews
from attncli.memory.scheduler import Scheduler, StudyCalendar

from .conftest import policy

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
CALENDAR = StudyCalendar(zone=UTC)
SCHEDULER = Scheduler(policy())


def row(number: int, kind: RowKind, hours: float, **payload: object) -> LogRow:
    at = START + timedelta(hours=hours)
    return LogRow(f"{number:04}", "m", kind, "card", at, CALENDAR.day(at), payload)


reviews = st.lists(
    st.tuples(st.sampled_from(Rating), st.floats(0, 20_000)).map(lambda p: (int(p[0]), round(p[1], 3))), max_size=15
).map(lambda pairs: [row(n, RowKind.REVIEW, hours, rating=rating) for n, (rating, hours) in enumerate(pairs)])


@given(reviews, st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(rows: list[LogRow], rng: random.Random) -> None:
    shuffled = list(rows)
    rng.shuffle(shuffled)
    assert fold_reviews(SCHEDULER, rows) == fold_reviews(SCHEDULER, shuffled)


@given(reviews)
def test_folding_at_once_is_folding_step_by_step(rows: list[LogRow]) -> None:
    schedule: Schedule | None = None
    for review in standing_reviews(rows):
        schedule = SCHEDULER.review("card", schedule, review.rating, review.at, review.day)
    assert schedule == fold_reviews(SCHEDULER, rows)


@given(reviews.filter(bool), st.data())
def test_an_undone_review_leaves_no_trace(rows: list[LogRow], data: st.DataObject) -> None:
    victim = data.draw(st.sampled_from(rows))
    undo = row(9999, RowKind.UNDO, 1, row=victim.id)
    assert fold_reviews(SCHEDULER, [*rows, undo]) == fold_reviews(SCHEDULER, [r for r in rows if r is not victim])


def test_the_last_word_holds() -> None:
    suspend, unsuspend = row(1, RowKind.SUSPEND, 1), row(3, RowKind.UNSUSPEND, 3)
    bury = row(2, RowKind.BURY, 2)
    assert fold_hold([]) == Hold()
    assert fold_hold([suspend, bury]) == Hold(True, bury.day)
    assert fold_hold([unsuspend, bury, suspend]) == Hold()


def test_eight_lapses_make_a_leech() -> None:
    rows = [row(0, RowKind.REVIEW, 0, rating=4)]
    for lapse in range(8):
        rows.append(row(2 * lapse + 1, RowKind.REVIEW, 2000 * (lapse + 1), rating=1))
        rows.append(row(2 * lapse + 2, RowKind.REVIEW, 2000 * (lapse + 1) + 1, rating=3))
    before, after = fold_reviews(SCHEDULER, rows[:15]), fold_reviews(SCHEDULER, rows)
    assert before is not None and before.lapses == 7 and not is_leech(before)
    assert after is not None and after.lapses == 8 and is_leech(after)


def test_what_was_taken_back_holds_nothing() -> None:
    suspend, bury = row(1, RowKind.SUSPEND, 1), row(2, RowKind.BURY, 2)
    assert fold_hold([suspend, bury, row(3, RowKind.UNDO, 3, row=bury.id)]) == Hold(True, 0)
    assert fold_hold([suspend, row(3, RowKind.UNDO, 0, row=suspend.id)]) == Hold()
