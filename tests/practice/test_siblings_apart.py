"""Ask a card, its challenge and its follow-ups days apart, without changing any schedule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.config import Settings
from attncli.domain.log_row import Rating, RowKind
from attncli.domain.vocabulary import LONGEST_WAIT_DAYS
from attncli.paths import Home
from attncli.practice import record
from attncli.practice.challenges import standings
from attncli.practice.queue import held_apart
from attncli.practice.review import ReviewSession
from attncli.practice.today import due_counts
from attncli.practice.workspace import Workspace

Linked = Callable[..., Workspace]
NO_STEPS: dict[str, Any] = {"fuzz": False, "learning_steps": (), "relearning_steps": ()}


@pytest.fixture
def linked(
    tmp_path: Path, small_impl: Path, moving_clock: Any, qa_card: Callable[[str], str], tmp_path_factory: Any
) -> Iterator[Linked]:
    """`linked({"n-01": ["n-02"]}, **settings)` opens a workspace over cards n-01 to n-08 with these follow-ups."""
    opened: list[Workspace] = []

    def make(follow_ups: dict[str, list[str]], extra: str = "", **settings: object) -> Workspace:
        bank = tmp_path_factory.mktemp("bank")
        cards = []
        for number in range(1, 9):
            id = f"n-{number:02d}"
            named = f"    follow_ups: [{', '.join(follow_ups[id])}]\n" if follow_ups.get(id) else ""
            cards.append(qa_card(id) + named + (extra if number == 1 else ""))
        head = "topic: n\nlicence: CC-BY-4.0\ntitle: {en: N, zh: 数}\ncards:\n"
        (bank / "n.yaml").write_text(head + "".join(cards), encoding="utf-8")
        workspace = Workspace.open(
            Home(tmp_path_factory.mktemp("home")),
            moving_clock,
            settings=Settings(**{**NO_STEPS, **settings}),
            quizbank=bank,
            impl=small_impl,
        )
        opened.append(workspace)
        return workspace

    yield make
    for workspace in opened:
        workspace.close()


def sitting(workspace: Workspace, ratings: Callable[[], Rating] = lambda: Rating.GOOD) -> list[str]:
    """Answer all cards available now; return their ids."""
    drill, asked = ReviewSession(workspace), []
    while item := drill.next():
        asked.append(item.card.id)
        drill.rate(ratings())
    return asked


def test_of_two_unseen_siblings_one_waits_two_days(linked: Linked, moving_clock: Any) -> None:
    workspace = linked({"n-01": ["n-02"]}, new_per_day=8)
    assert due_counts(workspace).new == 7
    days = [sitting(workspace, lambda: Rating.EASY)]
    while "n-02" not in days[-1]:
        moving_clock.move(days=1)
        days.append(sitting(workspace))
    assert "n-01" in days[0] and len(days) == 3


def test_of_two_siblings_due_together_the_one_that_waited_longer_comes(linked: Linked, moving_clock: Any) -> None:
    workspace = linked({"n-03": ["n-01"]}, new_per_day=0)
    moving_clock.move(days=-1)
    record.answer(workspace, "n-01", Rating.EASY)
    moving_clock.move(days=1)
    record.answer(workspace, "n-03", Rating.EASY)
    before = dict(workspace.store.schedules.all())
    moving_clock.move(days=9)
    counts = due_counts(workspace)
    assert (counts.review, counts.topics, held_apart(workspace, workspace.moment())) == (1, {"n": 1}, {"n-03": "n"})
    assert ReviewSession(workspace).progress.review == 1 and sitting(workspace) == ["n-01"]
    assert due_counts(workspace).due == 0 and due_counts(workspace).topics == {}
    assert workspace.store.schedules.get("n-03") == before["n-03"]
    assert not workspace.store.log.of_kind(RowKind.BURY)
    moving_clock.move(days=1)
    assert sitting(workspace) == []
    moving_clock.move(days=1)
    assert sitting(workspace) == ["n-03"]


def test_nothing_waits_longer_than_a_week_nor_for_a_suspended_card(linked: Linked, moving_clock: Any) -> None:
    workspace = linked({"n-01": ["n-02"]}, new_per_day=0)
    for card in ("n-01", "n-02"):
        record.answer(workspace, card, Rating.EASY)
    days = round(workspace.store.schedules.get("n-01").interval_days)  # type: ignore[union-attr]
    moving_clock.move(days=days)
    assert due_counts(workspace).review == 1
    record.hold(workspace, RowKind.SUSPEND, "n-01")
    assert held_apart(workspace, workspace.moment()) == {}
    record.hold(workspace, RowKind.UNSUSPEND, "n-01")
    moving_clock.move(days=LONGEST_WAIT_DAYS)
    assert due_counts(workspace).review == 2


def test_a_card_waits_for_its_challenge_and_the_challenge_for_its_card(linked: Linked, moving_clock: Any) -> None:
    workspace = linked({}, extra="    challenge: double\n", new_per_day=0)
    record.answer(workspace, "n-01", Rating.EASY)
    due = round(workspace.store.schedules.get("n-01").interval_days)  # type: ignore[union-attr]
    moving_clock.move(days=due - 1)
    solve(workspace)
    moving_clock.move(days=1)
    assert held_apart(workspace, workspace.moment()) == {"n-01": "n"}
    moving_clock.move(days=1)
    assert sitting(workspace) == ["n-01"]
    schedule = workspace.store.schedules.get("double")
    assert schedule is not None
    ahead = max(0, schedule.due_day - workspace.moment().day)
    moving_clock.move(days=ahead)
    record.answer(workspace, "n-01", Rating.EASY)
    assert due_counts(workspace).challenges == 0 and not standings(workspace)[0].is_due
    moving_clock.move(days=2)
    assert due_counts(workspace).challenges == 1 and standings(workspace)[0].is_due


def solve(workspace: Workspace) -> None:
    """Log an accepted attempt at the challenge."""
    from attncli.practice.derive import derive_subject

    at = workspace.clock()
    with workspace.store.transaction():
        payload = {"verdict": "accepted", "reached": "solved", "rung": "solved"}
        workspace.store.log.append(RowKind.ATTEMPT, "double", at, workspace.calendar.day(at), payload)
        derive_subject(workspace, "double")
    assert workspace.store.schedules.get("double") is not None


def test_before_an_interview_unseen_siblings_fill_the_minutes(linked: Linked) -> None:
    workspace = linked({"n-01": ["n-02"]}, new_per_day=0)
    day = date.fromordinal(workspace.moment().day + 7)
    workspace.adopt(Settings(**{**NO_STEPS, "interview": day, "minutes_per_day": 60}))
    assert due_counts(workspace).new == 8


links = st.dictionaries(
    st.sampled_from([f"n-{n:02d}" for n in range(1, 9)]),
    st.lists(st.sampled_from([f"n-{n:02d}" for n in range(1, 9)]), min_size=1, max_size=3, unique=True),
    max_size=6,
)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(follow_ups=links, draw=st.randoms(use_true_random=False), absent=st.sets(st.integers(1, 20), max_size=6))
def test_on_no_day_nor_the_next_are_siblings_asked_and_schedules_are_those_of_the_log(
    linked: Linked, moving_clock: Any, follow_ups: dict[str, list[str]], draw: Any, absent: set[int]
) -> None:
    follow_ups = {card: [other for other in named if other != card] for card, named in follow_ups.items()}
    workspace = linked(follow_ups, new_per_day=3)
    pairs = [(card, other) for card, named in follow_ups.items() for other in named]
    days: dict[str, list[int]] = {f"n-{n:02d}": [-9] for n in range(1, 9)}
    for day in range(24):
        if day not in absent:
            schedules = dict(workspace.store.schedules.all())
            counted = due_counts(workspace).due
            asked = sitting(workspace, lambda: Rating(draw.choice((1, 2, 3, 3, 4))))
            assert len(asked) == counted
            for card in asked:
                late = workspace.moment().day - schedules[card].due_day if card in schedules else 0
                assert late <= LONGEST_WAIT_DAYS or absent
                near = [
                    other
                    for pair in pairs
                    if card in pair
                    for other in set(pair) - {card}
                    if day - max(days[other]) < 2 or other in asked
                ]
                assert not near or late >= LONGEST_WAIT_DAYS
            for card in asked:
                days[card].append(day)
        moving_clock.move(days=1)
    before = dict(workspace.store.schedules.all())
    workspace.derive_all()
    assert dict(workspace.store.schedules.all()) == before


def test_an_unseen_card_waits_for_a_sibling_that_is_long_overdue(linked: Linked, moving_clock: Any) -> None:
    workspace = linked({"n-01": ["n-02"]}, new_per_day=0)
    record.answer(workspace, "n-01", Rating.GOOD)
    moving_clock.move(days=30)
    workspace.adopt(workspace.settings._replace(new_per_day=8))
    assert "n-01" in (asked := sitting(workspace)) and "n-02" not in asked
