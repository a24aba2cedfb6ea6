"""Record answers, undo and holds: the state derived step by step equals a replay of the log."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import fsrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from attncli import config
from attncli.domain.grade_report import GradeReport, read
from attncli.domain.log_row import EARLIEST, LATEST, LogRow, Rating, RowKind, Schedule, State
from attncli.errors import ClockWrong, NotFound, UsageError
from attncli.memory.replay import standing
from attncli.paths import Home
from attncli.practice import record, sync
from attncli.practice.derive import derive_everything
from attncli.practice.grade import record_attempt
from attncli.practice.optimize import record_fit
from attncli.practice.record import TAKEN_BACK, take_back
from attncli.practice.today import due_counts
from attncli.practice.workspace import Workspace
from known_memories import SHORT_MEMORY
from moved_clock import Clock

from .conftest import MakeCard, Open

EXAMPLES = int(os.environ.get("ATTN_EXAMPLES", "10"))
WEIGHTS = [(), tuple(fsrs.scheduler.UPPER_BOUNDS_PARAMETERS), SHORT_MEMORY]
CARDS = ["att-01", "att-02", "kv-01"]
START = datetime(2022, 11, 29, 12, 30, tzinfo=UTC)
FUTURE = datetime(2100, 1, 1, 10, tzinfo=UTC)
BEGAN = datetime(2026, 3, 27, 20, tzinfo=UTC)
OWN = ["mine-1", "mine-2"]
NAMED = ["att-01", "att-02", *OWN]
NAMED_ANYWHERE = [*NAMED, "new-1", "double"]
NAMES: list[dict[str, list[str]]] = [
    {"mine-1": [], "mine-2": []},
    {"new-1": ["mine-1"], "mine-2": []},
    {"new-1": ["mine-1", "mine-2"]},
    {"new-2": ["mine-2"], "new-1": ["mine-1", "mine-2"]},
    {"mine-1": ["mine-2", "att-02"]},
    {"double": [], "mine-2": ["double"]},
    {},
]


def schedules(workspace: Workspace) -> dict[str, Schedule]:
    return dict(workspace.store.schedules.all())


def test_the_published_vectors_hold_through_answers(fresh: Open) -> None:
    steps: dict[str, Any] = {"learning_steps": (), "relearning_steps": ()}
    for ratings, options, days in (
        ([3, 3, 4, 2, 3, 1, 3, 3, 3], {}, [0, 2, 19, 56, 164, 0, 5, 11, 23]),
        ([4] * 6, steps, [8, 66, 397, 1875, 7265, 23933]),
        ([3] * 6, {"maximum_interval_days": 100}, [0, 2, 11, 46, 100, 100]),
        ([3] * 6, {"desired_retention": 0.85}, [0, 4, 31, 174, 776, 2870]),
    ):
        workspace, at, intervals = fresh(fuzz=False, **options), START, []
        for rating in ratings:
            schedule = record.answer(workspace, "att-01", Rating(rating), at).schedule
            intervals.append(int(schedule.interval_days))
            at = schedule.due_at
        assert intervals == days, options


def test_an_answer_is_in_the_log_and_in_the_schedule(workspace: Workspace) -> None:
    answered = record.answer(workspace, "att-01", Rating.EASY, details={"elapsed_ms": 1200})
    (row,) = workspace.store.log.everything()
    assert (row.id, row.subject, row.rating, row.payload["elapsed_ms"]) == (answered.row, "att-01", Rating.EASY, 1200)
    assert row.payload["content"] == workspace.store.index.hash("att-01") != ""
    assert workspace.store.schedules.get("att-01") == answered.schedule
    assert answered.document()["at"] == "2026-06-12T09:00:00Z"


def test_undo_restores_what_was_there_to_the_last_digit(workspace: Workspace) -> None:
    record.answer(workspace, "att-01", Rating.GOOD, START)
    before, due = schedules(workspace), due_counts(workspace)
    for rating in (Rating.AGAIN, Rating.EASY):
        first = record.answer(workspace, "att-01", rating, START + timedelta(days=3))
        take_back(workspace)
        assert (schedules(workspace), due_counts(workspace)) == (before, due)
        assert record.answer(workspace, "att-01", rating, START + timedelta(days=3)).schedule == first.schedule
        take_back(workspace)
    take_back(workspace)
    assert schedules(workspace) == {}
    with pytest.raises(UsageError, match="there is nothing to undo"):
        take_back(workspace)


def test_unknown_cards_and_impossible_moments_are_refused(workspace: Workspace) -> None:
    with pytest.raises(NotFound, match="did you mean att-01"):
        record.answer(workspace, "att-O1", Rating.GOOD)
    with pytest.raises(NotFound, match="attn cards"):
        record.answer(workspace, "\udcff☃", Rating.GOOD)
    for year in (1, 1800, 2500, 9999):
        with pytest.raises(UsageError, match="between 1990 and 2200"):
            record.answer(workspace, "att-01", Rating.GOOD, datetime(year, 6, 1, tzinfo=UTC))
    assert workspace.store.log.length() == 0


def test_holds_keep_a_card_out_of_the_queue(workspace: Workspace, moving_clock: Clock) -> None:
    total = due_counts(workspace).due
    record.hold(workspace, RowKind.BURY, "att-01")
    record.hold(workspace, RowKind.SUSPEND, "att-02")
    assert due_counts(workspace).due == total - 2
    moving_clock.move(days=1)
    assert due_counts(workspace).due == total - 1
    record.hold(workspace, RowKind.UNSUSPEND, "att-02")
    assert due_counts(workspace).due == total


def test_a_due_date_depends_on_that_card_s_log_alone(open_workspace: Open) -> None:
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


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(CARDS), st.sampled_from(Rating), st.integers(0, 90)), max_size=10))
def test_the_due_count_is_what_the_schedules_say(fresh: Open, reviews: list[tuple[str, Rating, int]]) -> None:
    workspace = fresh()
    now = workspace.clock()
    for card, rating, days in sorted(reviews, key=lambda review: -review[2]):
        record.answer(workspace, card, rating, now - timedelta(days=days))
    day_end = workspace.moment().day_end
    expected = {State.REVIEW: 0, State.LEARNING: 0, State.RELEARNING: 0}
    for schedule in schedules(workspace).values():
        is_review = schedule.state is State.REVIEW
        expected[schedule.state] += schedule.due_at < day_end if is_review else schedule.due_at <= now
    counts = due_counts(workspace)
    assert counts.review == expected[State.REVIEW]
    assert counts.learning == expected[State.LEARNING] + expected[State.RELEARNING]
    introduced = sum(s.introduced_day == workspace.moment().day for s in schedules(workspace).values())
    assert counts.new == min(6 - len(schedules(workspace)), 10 - introduced)


@pytest.mark.parametrize("back", [timedelta(microseconds=1), timedelta(hours=1), timedelta(hours=23)])
def test_acts_keep_their_order_on_a_clock_set_back(workspace: Workspace, moving_clock: Clock, back: timedelta) -> None:
    now = workspace.clock()
    record.hold(workspace, RowKind.SUSPEND, "att-01")
    first = record.answer(workspace, "att-02", Rating.EASY)
    moving_clock.now = now - back
    record.hold(workspace, RowKind.UNSUSPEND, "att-01")
    assert workspace.store.schedules.hold("att-01") == (False, 0)
    suspended, unsuspended = workspace.store.log.of_subjects(["att-01"])
    assert unsuspended.at == suspended.at + timedelta(microseconds=1)
    assert unsuspended.day == workspace.calendar.day(unsuspended.at)
    second = record.answer(workspace, "att-02", Rating.AGAIN)
    assert second.at == first.at + timedelta(microseconds=1)
    assert second.schedule.repetitions == 2 and second.schedule.lapses == 1


def test_a_bury_hides_the_card_whatever_the_clock_did(fresh: Open, moving_clock: Clock) -> None:
    for back in (timedelta(hours=1), timedelta(days=60)):
        workspace = fresh()
        total = due_counts(workspace).due
        record.hold(workspace, RowKind.UNSUSPEND, "att-01")
        moving_clock.now -= back
        record.hold(workspace, RowKind.BURY, "att-01")
        assert due_counts(workspace).due == total - 1


def test_rows_from_the_future_are_set_aside_and_can_be_taken_back(workspace: Workspace, moving_clock: Clock) -> None:
    now, report = workspace.clock(), GradeReport(challenge="double", file="x.py", verdict="accepted", rung="hardened")
    moving_clock.now = FUTURE
    attempt = record_attempt(workspace, report, "one")
    stray = record.answer(workspace, "att-01", Rating.EASY)
    moving_clock.now = now
    assert take_back(workspace).id == stray.row
    assert workspace.store.schedules.get("att-01") is None and workspace.store.log.waiting() == [attempt]
    moving_clock.now = FUTURE
    stray = record.answer(workspace, "att-01", Rating.EASY)
    moving_clock.now = now
    answered = record.answer(workspace, "att-01", Rating.GOOD)
    assert answered.at == now and answered.schedule.repetitions == 1 and answered.schedule.due_at < FUTURE
    assert {row.id for row in workspace.store.log.waiting()} == {attempt.id, stray.row}
    record_attempt(workspace, report, "two")
    schedule = workspace.store.schedules.get("double")
    assert schedule is not None and schedule.reviewed_at == now
    workspace.derive_all()
    assert schedules(workspace) == {"att-01": answered.schedule, "double": schedule}


def test_a_row_from_the_future_counts_when_its_time_has_come(open_workspace: Open, moving_clock: Clock) -> None:
    now = datetime(2026, 6, 1, 12, tzinfo=UTC)
    with open_workspace() as workspace:
        moving_clock.now = now + timedelta(days=30)
        record.answer(workspace, "att-01", Rating.EASY)
        moving_clock.now = now
        record.answer(workspace, "att-01", Rating.GOOD)
    for days, repetitions in ((28, 1), (29, 2), (0, 1), (40, 2)):
        moving_clock.now = now + timedelta(days=days)
        with open_workspace() as workspace:
            found = workspace.store.schedules.get("att-01")
            assert found is not None and found.repetitions == repetitions
            workspace.derive_all()
            assert workspace.store.schedules.get("att-01") == found


def test_a_clock_that_was_far_behind_costs_nothing_in_the_end(open_workspace: Open, moving_clock: Clock) -> None:
    """The rows that seemed ahead were right: they count again once the clock is right."""
    now = datetime(2026, 6, 1, 12, tzinfo=UTC)
    schedules = []
    for name in ("wrong", "right"):
        for days, told in ((0, 0), (3, 3), (20, 20), (-2000, -2000 if name == "wrong" else 20), (80, 80)):
            moving_clock.now = now + timedelta(days=told)
            with open_workspace(name) as workspace:
                record.answer(workspace, "att-01", Rating.GOOD, None if told == days else now + timedelta(days=days))
        with open_workspace(name) as workspace:
            schedules.append(workspace.store.schedules.get("att-01"))
    assert schedules[0] == schedules[1] and schedules[0].repetitions == 5


def test_a_moment_that_is_given_is_taken_as_it_is(workspace: Workspace) -> None:
    record.answer(workspace, "att-01", Rating.GOOD, FUTURE)
    answered = record.answer(workspace, "att-01", Rating.GOOD, FUTURE - timedelta(days=9))
    assert answered.at == FUTURE - timedelta(days=9) and answered.schedule.repetitions == 2


@pytest.mark.parametrize("year", [1, 9999])
def test_a_clock_at_the_end_of_time_is_told(workspace: Workspace, moving_clock: Clock, year: int) -> None:
    moving_clock.now = datetime(year, 1 if year == 1 else 12, 1 if year == 1 else 31, 20, tzinfo=UTC)
    with pytest.raises(UsageError, match="set this machine's clock"):
        due_counts(workspace)
    with pytest.raises(ClockWrong, match="between 1990 and 2200"):
        record.hold(workspace, RowKind.SUSPEND, "att-01")
    assert record.utc(EARLIEST) == EARLIEST
    with pytest.raises(ClockWrong):
        record.utc(LATEST)


@pytest.mark.parametrize("what", ["bury", "suspend", "unsuspend", "undo", "import", "attempt"])
def test_an_open_program_derives_under_the_settings_that_hold_now(open_workspace: Open, what: str) -> None:
    opened = open_workspace()
    for days in (40, 37, 28):
        record.answer(opened, "att-01", Rating.GOOD, opened.clock() - timedelta(days=days))
    config.save(opened.home.config, "desired_retention", "0.8")
    changed = open_workspace(**config.load(opened.home.config, {})._asdict())
    if what == "undo":
        take_back(opened)
    elif what == "import":
        moment = opened.clock() - timedelta(days=5)
        row = LogRow("z-1", "z", RowKind.REVIEW, "att-01", moment, opened.calendar.day(moment), {"rating": 3})
        sync.merge(opened, [row], pytest.fail)
    elif what == "attempt":
        record_attempt(opened, GradeReport(challenge="double", file="", verdict="accepted", rung="hardened"), "x")
    else:
        record.hold(opened, RowKind(what), "att-01")
    stored = schedules(changed)
    changed.derive_all()
    assert schedules(changed) == stored


class _Enough(Exception):
    """Raised to roll back."""


def stored(workspace: Workspace) -> dict[str, list[Any]]:
    tables = {"schedule": "subject", "hold": "subject", "queue": "id"}
    return {t: workspace.store.connection.rows(f"SELECT * FROM {t} ORDER BY {key}") for t, key in tables.items()}


def replayed(workspace: Workspace) -> dict[str, list[Any]]:
    """Return the state derived from the log alone; roll it back afterwards."""
    try:
        with workspace.store.transaction():
            derive_everything(workspace)
            found = stored(workspace)
            raise _Enough
    except _Enough:
        return found


class Life(RuleBasedStateMachine):
    """Mix an open program, other processes on the same home, renames there and back, and a jumping clock.

    No fit lies over 23 hours ahead of the clock: until a later one's time comes, two processes may disagree about it.
    """

    def __init__(self, folder: Path, bank: Path, impl: Path, card: MakeCard) -> None:
        super().__init__()
        self.home, self.bank, self.impl, self.card = Home(folder), bank, impl, card
        self.now, self.fitted_at, self.edits, self.imported = BEGAN, BEGAN, 0, 0
        self.home.banks.mkdir(parents=True)
        self.name(NAMES[0])
        self.open = self.process()

    def process(self) -> Workspace:
        return Workspace.open(self.home, lambda: self.now, quizbank=self.bank, impl=self.impl)

    def name(self, names: dict[str, list[str]]) -> None:
        self.edits += 1
        head = f"# {self.edits}\ntopic: mine\nlicence: CC-BY-4.0\ntitle: {{en: Mine, zh: 我的}}\ncards:\n"
        cards = [self.card(id) + (f"    formerly: {was}\n" if was else "") for id, was in names.items()]
        text = head + "".join(cards) if cards else f"# {self.edits}\n"
        (self.home.banks / "mine.yaml").write_text(text, encoding="utf-8")

    @rule(card=st.sampled_from(NAMED), rating=st.sampled_from(Rating), days=st.sampled_from([None, 0, 1, -1, -40, 3]))
    def answer(self, card: str, rating: Rating, days: int | None) -> None:
        try:
            record.answer(self.open, card, rating, None if days is None else self.now + timedelta(days=days))
        except NotFound:
            assert card not in self.open.store.index.card_ids()

    @rule(card=st.sampled_from(NAMED), kind=st.sampled_from([RowKind.SUSPEND, RowKind.BURY, RowKind.UNSUSPEND]))
    def hold(self, card: str, kind: RowKind) -> None:
        try:
            row = record.hold(self.open, kind, card)
        except NotFound:
            return
        suspended, buried_day = self.open.store.schedules.hold(row.subject)
        is_held = {RowKind.SUSPEND: suspended, RowKind.BURY: buried_day == row.day}
        assert is_held.get(kind, not (suspended or buried_day))

    @rule()
    def undo(self) -> None:
        self.open.catch_up()
        last = self.open.store.log.last_here(TAKEN_BACK)
        try:
            assert take_back(self.open) == last
        except UsageError:
            assert last is None

    @rule(accepted=st.booleans())
    def attempt(self, accepted: bool) -> None:
        if self.open.store.index.challenge("double"):
            verdict, rung = ("accepted", "hardened") if accepted else ("rejected", "none")
            report = read(GradeReport, {"challenge": "double", "verdict": verdict, "rung": rung})
            record_attempt(self.open, report, "")

    @rule(weights=st.sampled_from(WEIGHTS))
    def fit(self, weights: tuple[float, ...]) -> None:
        self.fitted_at = max(self.fitted_at, self.now)
        record_fit(self.open, weights)

    @rule(names=st.sampled_from(NAMES))
    def rename_elsewhere(self, names: dict[str, list[str]]) -> None:
        self.name(names)
        self.process().close()

    @rule(key=st.sampled_from([("desired_retention", "0.8"), ("desired_retention", "0.9"), ("fuzz", "false")]))
    def change_settings_elsewhere(self, key: tuple[str, str]) -> None:
        config.save(self.home.config, *key)
        self.process().close()

    @rule()
    def reopen(self) -> None:
        self.open.close()
        self.open = self.process()

    @rule(hours=st.sampled_from([0.01, 1, 20, 400, 24 * 365 * 20, -0.5, -30, -2000]))
    def move_the_clock(self, hours: float) -> None:
        moved = max(self.now + timedelta(hours=hours), self.fitted_at - timedelta(hours=23), BEGAN)
        self.now = min(moved, BEGAN + timedelta(days=365 * 100))

    @precondition(lambda self: self.imported < 5)
    @rule(card=st.sampled_from(NAMED_ANYWHERE), hours=st.integers(-2000, 100), kind=st.sampled_from(RowKind))
    def import_a_row(self, card: str, hours: int, kind: RowKind) -> None:
        payloads: dict[RowKind, dict[str, Any]] = {
            RowKind.REVIEW: {"rating": 3},
            RowKind.ATTEMPT: {"verdict": "accepted"},
            RowKind.UNDO: {"row": f"{self.imported:04}-else"},
            RowKind.FIT: {"parameters": list(WEIGHTS[self.imported % 3])},
        }
        self.imported += 1
        at = self.now + timedelta(hours=min(hours, 23) if kind is RowKind.FIT else hours)
        if kind is RowKind.FIT:
            self.fitted_at = max(self.fitted_at, at)
        row = LogRow(f"{self.imported:04}-else", "else", kind, card, at, at.toordinal(), payloads.get(kind, {}))
        sync.merge(self.open, [row], pytest.fail)

    @invariant()
    def stored_is_replayed(self) -> None:
        """If the open program has old settings, compare in a new process."""
        assert self.open.policy.parameters == standing_weights(self.open)
        if self.open.store.note("scheduling") == self.open.settings.scheduling:
            assert stored(self.open) == replayed(self.open)
        else:
            with self.process() as fresh:
                assert stored(fresh) == replayed(fresh)

    @invariant()
    def counts_are_sound(self) -> None:
        counts, found = due_counts(self.open), schedules(self.open)
        assert sum(counts.topics.values()) == counts.due
        assert all(one.state is not State.NEW and one.due_at > one.reviewed_at for one in found.values())

    def teardown(self) -> None:
        self.open.close()


@pytest.fixture
def make_life(tmp_path_factory: Any, small_bank: Path, small_impl: Path, qa_card: MakeCard) -> Callable[[], Life]:
    return lambda: Life(tmp_path_factory.mktemp("life"), small_bank, small_impl, qa_card)


@pytest.mark.slow
def test_stored_is_replayed_after_any_operation(make_life: Callable[[], Life]) -> None:
    quiet = settings(deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(make_life, settings=settings(quiet, max_examples=EXAMPLES, stateful_step_count=20))


def test_an_undo_about_another_card_takes_nothing_back(make_life: Callable[[], Life]) -> None:
    life = make_life()
    life.import_a_row(card="att-01", hours=0, kind=RowKind.BURY)
    life.import_a_row(card="mine-1", hours=0, kind=RowKind.UNDO)
    assert stored(life.open) == replayed(life.open)
    life.teardown()


def test_rows_that_count_again_are_derived_by_the_settings_in_force(make_life: Callable[[], Life]) -> None:
    """Another process does not count a row three days ahead; this one does, but is behind with the settings."""
    life = make_life()
    life.change_settings_elsewhere(("desired_retention", "0.8"))
    life.answer("att-01", Rating.EASY, 3)
    life.import_a_row("att-01", 5, RowKind.REVIEW)
    life.change_settings_elsewhere(("desired_retention", "0.9"))
    life.import_a_row("att-02", -1746, RowKind.REVIEW)
    life.stored_is_replayed()
    life.teardown()


def test_a_card_that_leaves_its_bank_counts_for_what_its_rows_say(make_life: Callable[[], Life]) -> None:
    """The card's hint was imported: without the card, the rows look like a challenge's."""
    life = make_life()
    life.answer("mine-1", Rating.GOOD, None)
    life.import_a_row("mine-1", 0, RowKind.HINT)
    for names in ({}, NAMES[0]):
        life.rename_elsewhere(names)
        with life.process() as fresh:
            assert stored(fresh) == replayed(fresh)
    life.teardown()
