"""Record answers, undo and holds: the state derived step by step equals a replay of the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import fsrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from attncli.config import Settings
from attncli.domain.log_row import LogRow, Rating, RowKind, Schedule, State
from attncli.errors import NotFound, UsageError
from attncli.memory.replay import standing
from attncli.paths import Home
from attncli.practice import record
from attncli.practice.optimize import record_fit
from attncli.practice.record import take_back
from attncli.practice.sync import exported, import_file
from attncli.practice.today import due_counts
from attncli.practice.workspace import Workspace
from known_memories import SHORT_MEMORY

WEIGHTS = [(), tuple(fsrs.scheduler.UPPER_BOUNDS_PARAMETERS), SHORT_MEMORY]
CARDS = ["att-01", "att-02", "kv-01"]
START = datetime(2022, 11, 29, 12, 30, tzinfo=UTC)


def schedules(workspace: Workspace) -> dict[str, Schedule]:
    return dict(workspace.store.schedules.all())


@pytest.mark.parametrize(
    ("ratings", "options", "days"),
    [
        ([3, 3, 3, 3, 3, 3, 1, 1, 3, 3, 3, 3, 3], {}, [0, 2, 11, 46, 163, 498, 0, 0, 2, 4, 7, 12, 21]),
        ([3, 3, 4, 2, 3, 1, 3, 3, 3], {}, [0, 2, 19, 56, 164, 0, 5, 11, 23]),
        ([2] * 6, {"learning_steps": (), "relearning_steps": ()}, [1, 3, 7, 12, 18, 25]),
        ([4] * 6, {"learning_steps": (), "relearning_steps": ()}, [8, 66, 397, 1875, 7265, 23933]),
        ([3] * 6, {"maximum_interval_days": 100}, [0, 2, 11, 46, 100, 100]),
        ([3] * 6, {"desired_retention": 0.85}, [0, 4, 31, 174, 776, 2870]),
    ],
)
def test_the_published_vectors_hold_through_answers(
    open_workspace: Callable[..., Workspace], ratings: list[int], options: dict[str, object], days: list[int]
) -> None:
    workspace, at, intervals = open_workspace(fuzz=False, **options), START, []
    for rating in ratings:
        answered = record.answer(workspace, "att-01", Rating(rating), at)
        intervals.append(int(answered.schedule.interval_days))
        at = answered.schedule.due_at
    assert intervals == days


def test_an_answer_is_in_the_log_and_in_the_schedule(workspace: Workspace) -> None:
    answered = record.answer(workspace, "att-01", Rating.EASY, details={"elapsed_ms": 1200})
    (row,) = workspace.store.log.everything()
    assert (row.id, row.subject, row.rating, row.payload["elapsed_ms"]) == (answered.row, "att-01", Rating.EASY, 1200)
    assert row.payload["content"] == workspace.store.index.hash("att-01") != ""
    assert workspace.store.schedules.get("att-01") == answered.schedule
    assert answered.document()["at"] == "2026-06-12T09:00:00Z"


def test_an_earlier_moment_is_folded_in_where_it_belongs(open_workspace: Callable[..., Workspace]) -> None:
    late_first, in_order = open_workspace("one"), open_workspace("two")
    times = [START + timedelta(days=n) for n in (0, 9, 40)]
    for index in (0, 2, 1):
        record.answer(late_first, "att-01", Rating(index + 2), times[index])
    for index in (0, 1, 2):
        record.answer(in_order, "att-01", Rating(index + 2), times[index])
    assert schedules(late_first) == schedules(in_order)


def test_undo_restores_what_was_there_to_the_last_digit(workspace: Workspace) -> None:
    record.answer(workspace, "att-01", Rating.GOOD, START)
    before, due = schedules(workspace), due_counts(workspace)
    record.answer(workspace, "att-01", Rating.AGAIN, START + timedelta(days=3))
    take_back(workspace)
    assert (schedules(workspace), due_counts(workspace)) == (before, due)
    take_back(workspace)
    assert schedules(workspace) == {}
    with pytest.raises(UsageError, match="there is nothing to undo"):
        take_back(workspace)


def test_undo_and_the_same_answer_again_give_the_same_interval(workspace: Workspace) -> None:
    record.answer(workspace, "att-01", Rating.EASY, START)
    first = record.answer(workspace, "att-01", Rating.GOOD, START + timedelta(days=10))
    take_back(workspace)
    again = record.answer(workspace, "att-01", Rating.GOOD, START + timedelta(days=10))
    assert first.schedule == again.schedule


def test_unknown_cards_and_impossible_moments_are_refused(workspace: Workspace) -> None:
    with pytest.raises(NotFound, match="did you mean att-01"):
        record.answer(workspace, "att-O1", Rating.GOOD)
    with pytest.raises(NotFound, match="attn cards"):
        record.answer(workspace, "\udcff☃", Rating.GOOD)
    for year in (1, 1800, 2500, 9999):
        with pytest.raises(UsageError, match="between 1990 and 2200"):
            record.answer(workspace, "att-01", Rating.GOOD, datetime(year, 6, 1, tzinfo=UTC))
    assert workspace.store.log.length() == 0


def test_holds_keep_a_card_out_of_the_queue(
    workspace: Workspace, open_workspace: Callable[..., Workspace], moving_clock: object
) -> None:
    total = due_counts(workspace).due
    record.hold(workspace, RowKind.BURY, "att-01")
    record.hold(workspace, RowKind.SUSPEND, "att-02")
    assert due_counts(workspace).due == total - 2
    moving_clock.move(days=1)  # type: ignore[attr-defined]
    assert due_counts(workspace).due == total - 1
    record.hold(workspace, RowKind.UNSUSPEND, "att-02")
    assert due_counts(workspace).due == total


def test_eight_lapses_are_called_a_leech(workspace: Workspace) -> None:
    at = START
    answered = record.answer(workspace, "att-01", Rating.EASY, at)
    for lapse in range(1, 9):
        assert not answered.leech
        at += timedelta(days=60)
        answered = record.answer(workspace, "att-01", Rating.AGAIN, at)
        if lapse < 8:
            record.answer(workspace, "att-01", Rating.EASY, at + timedelta(hours=1))
    assert answered.leech


def test_changed_settings_derive_all_schedules_anew(open_workspace: Callable[..., Workspace]) -> None:
    before = open_workspace(fuzz=False)
    at = START
    for _ in range(4):
        at = record.answer(before, "att-01", Rating.GOOD, at).schedule.due_at
    old = schedules(before)["att-01"]
    after = open_workspace(fuzz=False, desired_retention=0.8)
    new = schedules(after)["att-01"]
    assert new.interval_days > old.interval_days and new.stability_days == old.stability_days
    record.answer(before, "att-02", Rating.GOOD)  # still has the old settings
    again = open_workspace(fuzz=False, desired_retention=0.8)
    assert schedules(again)["att-01"] == new


def test_a_due_date_depends_on_that_card_s_log_alone(open_workspace: Callable[..., Workspace]) -> None:
    alone, among = open_workspace("alone"), open_workspace("among")
    at = START
    for number in range(6):
        record.answer(alone, "att-01", Rating(number % 4 + 1), at)
        for other in ("att-02", "att-03", "kv-01"):
            record.answer(among, other, Rating((number * 3) % 4 + 1), at - timedelta(minutes=1))
        record.answer(among, "att-01", Rating(number % 4 + 1), at)
        at += timedelta(days=number * 2)
    assert schedules(alone)["att-01"] == schedules(among)["att-01"]


def standing_weights(workspace: Workspace) -> tuple[float, ...]:
    """Return the newest fit that is not undone, read from the whole log."""
    fits = [row for row in standing(workspace.store.log.everything()) if row.kind is RowKind.FIT]
    return tuple(fits[-1].payload["parameters"]) if fits else ()


def told_of_memory(reviews: list[LogRow]) -> dict[int, tuple[int, int]]:
    """Return study day → (recalled, forgotten), over the first review a day of each card seen on an earlier day."""
    last_day: dict[str, int] = {}
    told = {row.day: (0, 0) for row in reviews}
    for row in reviews:
        recalled, forgotten = told[row.day]
        if last_day.get(row.subject, row.day) < row.day:
            known = row.rating is not Rating.AGAIN
            told[row.day] = (recalled + known, forgotten + (not known))
        last_day[row.subject] = row.day
    return told


class Sitting(RuleBasedStateMachine):
    """Mix answers, undos, holds and clock moves, and compare with a replay of the log."""

    def __init__(self, folder: Path, bank: Path, impl: Path) -> None:
        super().__init__()
        self.now = START
        self.workspace = Workspace.open(Home(folder), lambda: self.now, settings=Settings(), quizbank=bank, impl=impl)
        self.elsewhere = Workspace.open(
            Home(folder / "elsewhere"), lambda: self.now, settings=Settings(), quizbank=bank, impl=impl
        )
        self.done: list[RowKind] = []

    @property
    def reviews(self) -> int:
        return self.done.count(RowKind.REVIEW)

    @rule(hours=st.floats(0.01, 5000))
    def wait(self, hours: float) -> None:
        self.now += timedelta(hours=min(hours, (datetime(2190, 1, 1, tzinfo=UTC) - self.now).days))

    @rule(card=st.sampled_from(CARDS), rating=st.sampled_from(Rating))
    def answer(self, card: str, rating: Rating) -> None:
        record.answer(self.workspace, card, rating)
        self.done.append(RowKind.REVIEW)

    @rule(card=st.sampled_from(CARDS), rating=st.sampled_from(Rating), days=st.integers(1, 300))
    def answer_in_the_past(self, card: str, rating: Rating, days: int) -> None:
        record.answer(self.workspace, card, rating, self.now - timedelta(days=days))
        self.done.append(RowKind.REVIEW)

    @rule()
    def undo(self) -> None:
        if self.done:
            assert take_back(self.workspace).kind is self.done.pop()

    @rule(card=st.sampled_from(CARDS), kind=st.sampled_from([RowKind.SUSPEND, RowKind.BURY, RowKind.UNSUSPEND]))
    def hold(self, card: str, kind: RowKind) -> None:
        record.hold(self.workspace, kind, card)
        self.done.append(kind)

    @rule(weights=st.sampled_from(WEIGHTS))
    def fit(self, weights: tuple[float, ...]) -> None:
        record_fit(self.workspace, weights)
        self.done.append(RowKind.FIT)

    @rule(card=st.sampled_from(CARDS), rating=st.sampled_from(Rating))
    def answer_elsewhere(self, card: str, rating: Rating) -> None:
        record.answer(self.elsewhere, card, rating)

    @rule(weights=st.sampled_from(WEIGHTS))
    def fit_elsewhere(self, weights: tuple[float, ...]) -> None:
        record_fit(self.elsewhere, weights)

    @rule()
    def undo_elsewhere(self) -> None:
        with suppress(UsageError):
            take_back(self.elsewhere)

    @rule()
    def bring_in(self) -> None:
        file = self.elsewhere.home.root / "reviews.jsonl"
        file.write_text("".join(line + "\n" for line in exported(self.elsewhere, [])), encoding="utf-8")
        import_file(self.workspace, file)

    @invariant()
    def replay_gives_the_same(self) -> None:
        store = self.workspace.store
        derived, due = schedules(self.workspace), due_counts(self.workspace)
        holds = [store.schedules.hold(card) for card in CARDS]
        assert self.workspace.policy.parameters == standing_weights(self.workspace)
        self.workspace.derive_all()
        assert schedules(self.workspace) == derived
        assert due_counts(self.workspace) == due
        assert [store.schedules.hold(card) for card in CARDS] == holds

    @invariant()
    def counts_are_sound(self) -> None:
        counts = due_counts(self.workspace)
        assert sum(counts.topics.values()) == counts.due
        log = self.workspace.store.log
        here = [
            row
            for row in standing(log.everything())
            if row.machine == self.workspace.store.history.machine and row.is_usable_review
        ]
        assert len(here) == self.reviews
        counted = log.review_days()
        reviews = [row for row in standing(log.everything()) if row.is_usable_review]
        assert {day.day: day.reviews for day in counted} == Counter(row.day for row in reviews)
        assert {day.day: (day.recalled, day.forgotten) for day in counted} == told_of_memory(reviews)
        for schedule in schedules(self.workspace).values():
            assert schedule.state is not State.NEW and schedule.due_at > schedule.reviewed_at

    def teardown(self) -> None:
        self.workspace.close()
        self.elsewhere.close()


def test_any_sitting_equals_the_replay_of_its_log(
    tmp_path_factory: pytest.TempPathFactory, small_bank: Path, small_impl: Path
) -> None:
    run_state_machine_as_test(
        lambda: Sitting(tmp_path_factory.mktemp("sitting"), small_bank, small_impl),
        settings=settings(
            max_examples=15, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(CARDS), st.sampled_from(Rating), st.integers(0, 90)), max_size=10))
def test_the_due_count_is_what_the_schedules_say(
    open_workspace: Callable[..., Workspace],
    tmp_path_factory: pytest.TempPathFactory,
    reviews: list[tuple[str, Rating, int]],
) -> None:
    workspace = open_workspace(str(tmp_path_factory.mktemp("due")))
    now = workspace.clock()
    for card, rating, days in sorted(reviews, key=lambda review: -review[2]):
        record.answer(workspace, card, rating, now - timedelta(days=days))
    day_end = workspace.moment().day_end
    expected = {State.REVIEW: 0, State.LEARNING: 0, State.RELEARNING: 0}
    for schedule in schedules(workspace).values():
        expected[schedule.state] += (
            schedule.due_at < day_end if schedule.state is State.REVIEW else schedule.due_at <= now
        )
    counts = due_counts(workspace)
    assert counts.review == expected[State.REVIEW]
    assert counts.learning == expected[State.LEARNING] + expected[State.RELEARNING]
    introduced = sum(s.introduced_day == workspace.moment().day for s in schedules(workspace).values())
    assert counts.new == min(6 - len(schedules(workspace)), 10 - introduced)
