"""Fold rows into schedules, holds, tags, notes and ratings of attempts, in any order of arrival."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.log_row import LogRow, Rating, RowKind, Schedule
from attncli.memory import replay
from attncli.memory.replay import Annotation, Hold, fold_annotation, fold_attempts, fold_hold, fold_reviews, is_leech
from attncli.memory.scheduler import Scheduler, StudyCalendar

from .conftest import policy

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
CALENDAR = StudyCalendar(zone=UTC)
SCHEDULER = Scheduler(policy())
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
TAGS = st.sampled_from(["flag", "hard", "面试"])
ACTS = st.one_of(
    st.tuples(st.just(RowKind.TAG), st.fixed_dictionaries({"tag": TAGS, "on": st.booleans()})),
    st.tuples(st.just(RowKind.NOTE), st.fixed_dictionaries({"text": st.sampled_from(["", "a", "b"])})),
)
EASY, GOOD, HARD, AGAIN = Rating.EASY, Rating.GOOD, Rating.HARD, Rating.AGAIN


def row(number: int, kind: RowKind, hours: float, **payload: object) -> LogRow:
    at = START + timedelta(hours=hours)
    return LogRow(f"{number:04}", "m", kind, "card", at, CALENDAR.day(at), payload)


reviews = st.lists(
    st.tuples(st.sampled_from(Rating), st.floats(0, 20_000)).map(lambda p: (int(p[0]), round(p[1], 3))), max_size=15
).map(lambda pairs: [row(n, RowKind.REVIEW, hours, rating=rating) for n, (rating, hours) in enumerate(pairs)])


@given(reviews, st.randoms(use_true_random=False))
def test_folding_is_reviewing_step_by_step_in_any_order_of_arrival(rows: list[LogRow], rng: random.Random) -> None:
    schedule: Schedule | None = None
    for review in replay.standing_reviews(rows):
        schedule = SCHEDULER.review("card", schedule, review.rating, review.at, review.day)
    assert schedule == fold_reviews(SCHEDULER, rows) == fold_reviews(SCHEDULER, rng.sample(rows, len(rows)))


@given(reviews.filter(bool), st.data())
def test_an_undone_review_leaves_no_trace(rows: list[LogRow], data: st.DataObject) -> None:
    victim = data.draw(st.sampled_from(rows))
    undo = row(9999, RowKind.UNDO, 1, row=victim.id)
    assert fold_reviews(SCHEDULER, [*rows, undo]) == fold_reviews(SCHEDULER, [r for r in rows if r is not victim])


def test_the_last_word_that_was_not_taken_back_holds() -> None:
    suspend, unsuspend = row(1, RowKind.SUSPEND, 1), row(3, RowKind.UNSUSPEND, 3)
    bury = row(2, RowKind.BURY, 2)
    assert fold_hold([]) == Hold()
    assert fold_hold([suspend, bury]) == Hold(True, bury.day)
    assert fold_hold([unsuspend, bury, suspend]) == Hold()
    assert fold_hold([suspend, bury, row(3, RowKind.UNDO, 3, row=bury.id)]) == Hold(True, 0)
    assert fold_hold([suspend, row(3, RowKind.UNDO, 0, row=suspend.id)]) == Hold()


def test_eight_lapses_make_a_leech() -> None:
    rows = [row(0, RowKind.REVIEW, 0, rating=4)]
    for lapse in range(8):
        rows.append(row(2 * lapse + 1, RowKind.REVIEW, 2000 * (lapse + 1), rating=1))
        rows.append(row(2 * lapse + 2, RowKind.REVIEW, 2000 * (lapse + 1) + 1, rating=3))
    before, after = fold_reviews(SCHEDULER, rows[:15]), fold_reviews(SCHEDULER, rows)
    assert before is not None and before.lapses == 7 and not is_leech(before)
    assert after is not None and after.lapses == 8 and is_leech(after)


def rows_of(acts: list[tuple[RowKind, dict[str, object]]]) -> list[LogRow]:
    return [
        LogRow(f"r{n:03d}", "m", kind, "att-01", NOON + timedelta(minutes=n), 739000, payload)
        for n, (kind, payload) in enumerate(acts)
    ]


@given(st.lists(ACTS, max_size=12), st.randoms(use_true_random=False))
def test_it_is_what_the_acts_one_by_one_would_leave(acts, rng: Random) -> None:
    tags, note = list[str](), ""
    for kind, said in acts:
        if kind is RowKind.NOTE:
            note = said["text"]
            continue
        tags = [tag for tag in tags if tag != said["tag"]] + [said["tag"]] * said["on"]
    rows = rows_of(acts)
    rng.shuffle(rows)
    assert fold_annotation(rows) == Annotation(tuple(tags), note)


@given(st.lists(ACTS, min_size=1, max_size=8), st.data())
def test_an_act_that_was_taken_back_never_was(acts, data) -> None:
    rows = rows_of(acts)
    undone = data.draw(st.sampled_from(rows))
    undo = LogRow("u", "m", RowKind.UNDO, "att-01", NOON + timedelta(days=1), 739001, {"row": undone.id})
    assert fold_annotation([undo, *rows]) == fold_annotation([row for row in rows if row is not undone])
    odd = rows_of([(RowKind.TAG, {}), (RowKind.TAG, {"tag": 3}), (RowKind.NOTE, {"text": None}), (RowKind.NOTE, {})])
    assert fold_annotation(odd) == Annotation(), "rows that say nothing count as absent"


def log(*events: str) -> list[LogRow]:
    """Return rows five minutes apart; `+` before an event starts a new day, `++` another week.

    `ok` and `ok:TEXT` are accepted attempts from before rungs existed; `solved` and `hardened` name one.
    """
    rows, at = [], START
    for number, event in enumerate(events):
        at += timedelta(days=(0, 1, 8)[len(event) - len(event.lstrip("+"))], minutes=5)
        word, _, text = event.lstrip("+").partition(":")
        kinds = {"start": RowKind.START, "hint": RowKind.HINT, "solution": RowKind.SOLUTION}
        kind = kinds.get(word, RowKind.ATTEMPT)
        payload = {"verdict": "rejected" if word in ("no", "short") else "accepted", "sha256": text or str(number)}
        if word in ("solved", "hardened", "short"):
            payload["rung"] = "solved" if word == "short" else word
        rows.append(LogRow(f"{number:03}", "m", kind, "sdpa", at, at.toordinal(), payload))
    return rows


def test_evidence_becomes_a_rating() -> None:
    for events, ratings in (
        *(("start ok", [EASY]), ("ok", [GOOD]), ("start +ok", [GOOD]), ("start no ok", [GOOD])),
        *(("no no no ok", [HARD]), ("start hint ok", [HARD]), ("solution ok", [AGAIN]), ("solution +ok", [HARD])),
        *(("ok solution +start ok", [GOOD, EASY]), ("ok ok", [GOOD]), ("ok:same +ok:same", [GOOD]), ("no no", [])),
        *(("ok:same +start ok:same", [GOOD, EASY]), ("start solved", [EASY]), ("solved +hardened", [GOOD])),
        *(("solved ++hardened", [GOOD, GOOD]), ("hardened +hardened", [GOOD, GOOD]), ("solved +solved", [GOOD, GOOD])),
        *(("solved +hardened +solved", [GOOD, GOOD]), ("short", [GOOD]), ("no no no short", [HARD])),
    ):
        assert [rating for _, rating in replay.solved_reviews(log(*events.split()))] == ratings, events


def test_a_solved_challenge_comes_back_after_days_and_an_unsolved_one_is_not_scheduled() -> None:
    scheduler = Scheduler(policy().without_steps())
    schedule = fold_attempts(scheduler, log("solution", "ok"))
    assert schedule is not None and schedule.interval_days >= 1
    assert fold_attempts(scheduler, log("no")) is None


def test_the_standing_is_the_highest_rung_reached() -> None:
    expected = {"": "new", "hint": "new", "no": "tried", "no ok": "hardened", "ok no": "hardened", "short": "solved"}
    for events, standing in (expected | {"no solved no": "solved", "hardened solved": "hardened"}).items():
        assert replay.standing_of(log(*events.split())) == standing, events
