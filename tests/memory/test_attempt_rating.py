from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from attncli.domain.log_row import LogRow, Rating, RowKind
from attncli.memory.replay import fold_attempts, solved_reviews, standing_of
from attncli.memory.scheduler import Scheduler

from .conftest import policy

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


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


@pytest.mark.parametrize(
    ("events", "ratings"),
    [
        (["start", "ok"], [Rating.EASY]),
        (["ok"], [Rating.GOOD]),
        (["start", "+ok"], [Rating.GOOD]),
        (["start", "no", "ok"], [Rating.GOOD]),
        (["no", "no", "no", "ok"], [Rating.HARD]),
        (["start", "hint", "ok"], [Rating.HARD]),
        (["solution", "ok"], [Rating.AGAIN]),
        (["solution", "+ok"], [Rating.HARD]),
        (["ok", "solution", "+start", "ok"], [Rating.GOOD, Rating.EASY]),
        (["ok", "ok"], [Rating.GOOD]),
        (["ok:same", "+ok:same"], [Rating.GOOD]),
        (["ok:same", "+start", "ok:same"], [Rating.GOOD, Rating.EASY]),
        (["no", "no"], []),
        (["start", "solved"], [Rating.EASY]),
        (["solved", "+hardened"], [Rating.GOOD]),
        (["solved", "++hardened"], [Rating.GOOD, Rating.GOOD]),
        (["hardened", "+hardened"], [Rating.GOOD, Rating.GOOD]),
        (["solved", "+solved"], [Rating.GOOD, Rating.GOOD]),
        (["solved", "+hardened", "+solved"], [Rating.GOOD, Rating.GOOD]),
        (["short"], [Rating.GOOD]),
        (["no", "no", "no", "short"], [Rating.HARD]),
    ],
)
def test_evidence_becomes_a_rating(events: list[str], ratings: list[Rating]) -> None:
    assert [rating for _, rating in solved_reviews(log(*events))] == ratings


def test_a_solved_challenge_comes_back_after_days_and_an_unsolved_one_is_not_scheduled() -> None:
    scheduler = Scheduler(policy().without_steps())
    schedule = fold_attempts(scheduler, log("solution", "ok"))
    assert schedule is not None and schedule.interval_days >= 1
    assert fold_attempts(scheduler, log("no")) is None


@pytest.mark.parametrize(
    ("events", "standing"),
    [
        ([], "new"),
        (["hint"], "new"),
        (["no"], "tried"),
        (["no", "ok"], "hardened"),
        (["ok", "no"], "hardened"),
        (["no", "solved", "no"], "solved"),
        (["short"], "solved"),
        (["hardened", "solved"], "hardened"),
    ],
)
def test_standing(events: list[str], standing: str) -> None:
    assert standing_of(log(*events)) == standing
