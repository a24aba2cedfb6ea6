"""Answers, ticks, skips, time, quits, crashes, undo in any order: nothing is lost, and the score stays as given."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from attncli.config import Settings
from attncli.domain.vocabulary import LEVELS, Level
from attncli.errors import UsageError
from attncli.paths import Home
from attncli.practice import mock_log
from attncli.practice.mock import MockInterview, MockOptions
from attncli.practice.mock_report import report_of
from attncli.practice.record import take_back
from attncli.practice.workspace import Workspace

from ..support.interviews import write_bank, write_impl

Results = dict[int, float]


def is_asked(machine: Interviews) -> bool:
    return machine.interview.asked is not None


def is_code(machine: Interviews) -> bool:
    return machine.interview.item is not None and machine.interview.item.is_code


def is_open(machine: Interviews) -> bool:
    return not machine.interview.state.is_over


class Interviews(RuleBasedStateMachine):
    """`given` is each item's score as the learner saw it; `before` the scores before each step."""

    open_home: Callable[[Home, Callable[[], datetime]], Workspace]
    root: Path

    def __init__(self) -> None:
        super().__init__()
        self.home = Home(Path(mkdtemp(dir=self.root)))
        self.now = datetime(2026, 6, 12, 9, tzinfo=UTC)
        self.workspace = type(self).open_home(self.home, lambda: self.now)
        self.given: Results = {}
        self.before: list[tuple[Results, int | None]] = []

    @initialize(minutes=st.sampled_from([10, 15, 30, 60]), level=st.sampled_from(LEVELS), seed=st.integers(0, 99))
    def begin(self, minutes: int, level: Level, seed: int) -> None:
        self.interview = MockInterview.begin(self.workspace, MockOptions(minutes, level, seed))

    def step(self, act: Callable[[], None], came_to: float | None = None) -> None:
        place = self.interview.state.place
        before = dict(self.given)
        act()
        self.before.append((before, place))
        if came_to is not None and place is not None:
            self.given[place] = came_to

    @precondition(is_asked)
    @rule(ticks=st.sets(st.integers(0, 2)), credit=st.integers(0, 2), right=st.booleans(), seconds=st.integers(0, 90))
    def answer(self, ticks: set[int], credit: int, right: bool, seconds: int) -> None:
        asked = self.interview.asked
        assert asked is not None
        if asked.card.drawn:
            asked.choose([asked.card.drawn.index(0 if right else 2)])
        self.now += timedelta(seconds=seconds)
        self.interview.reveal()
        asked.ticked = ticks
        marked = float(right)
        spoken = len(ticks) / 3 if asked.card.points else credit / 2
        self.step(lambda: self.interview.answer(credit), marked if asked.card.kind == "choice" else spoken)

    @precondition(is_open)
    @rule()
    def skip(self) -> None:
        place = self.interview.state.place
        assert place is not None
        self.step(self.interview.skip, self.given.get(place, 0.0))

    @precondition(is_code)
    @rule(got=st.integers(0, 3), minutes=st.integers(0, 8))
    def grade(self, got: int, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)
        place = self.interview.state.place
        assert place is not None
        best = max(got / 3, self.given.get(place, 0.0))
        self.step(lambda: self.interview.tick_code(got, 3), best)

    @precondition(is_open)
    @rule()
    def leave_the_part(self) -> None:
        place = self.interview.state.place
        assert place is not None
        self.step(self.interview.leave_part, self.given.get(place, 0.0))

    @precondition(lambda self: is_open(self) and len(self.before) > 12)
    @rule()
    def end(self) -> None:
        place = self.interview.state.place
        assert place is not None
        self.step(self.interview.end, self.given.get(place, 0.0))

    @rule(seconds=st.integers(1, 200))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @precondition(lambda self: self.before)
    @rule(outside=st.booleans())
    def undo(self, outside: bool) -> None:
        if outside:
            take_back(self.workspace)
            state = mock_log.state_of(self.workspace, self.interview.state.id)
            assert state is not None
            self.interview = MockInterview(self.workspace, state)
        else:
            self.interview.undo()
        self.given, place = self.before.pop()
        assert self.interview.state.place == place

    @precondition(is_open)
    @rule(hours=st.integers(0, 30))
    def quit_and_come_back(self, hours: int) -> None:
        place, spent = self.interview.state.place, self.interview.time.spent_ms
        self.interview.pause()
        self.reopen(hours)
        assert (self.interview.state.place, self.interview.time.spent_ms) == (place, spent)

    @precondition(is_open)
    @rule(hours=st.integers(0, 30))
    def crash_and_come_back(self, hours: int) -> None:
        place, spent = self.interview.state.place, self.interview.time.spent_ms
        self.reopen(hours)
        assert self.interview.state.place == place and self.interview.time.spent_ms <= spent

    def reopen(self, hours: int) -> None:
        self.workspace.close()
        self.now += timedelta(hours=hours)
        self.workspace = type(self).open_home(self.home, lambda: self.now)
        found = MockInterview.resume(self.workspace)
        assert found is not None
        self.interview = found

    @invariant()
    def the_log_says_what_was_given(self) -> None:
        if not hasattr(self, "interview"):
            return
        state = mock_log.state_of(self.workspace, self.interview.state.id)
        assert state is not None and state.place == self.interview.state.place
        assert {place: result.credit for place, result in state.results.items()} == pytest.approx(self.given)
        report = report_of(self.workspace, state)
        assert sum(part.asked for part in report.parts) == len(self.given) and 0 <= report.share <= 1
        assert sum(part.credit for part in report.parts) == pytest.approx(sum(self.given.values()))
        assert report.is_open == (state.place is not None)
        assert sum(part.asked + part.not_asked for part in report.parts) == len(state.plan.items)

    @invariant()
    def what_is_over_asks_nothing(self) -> None:
        if hasattr(self, "interview") and self.interview.state.is_over:
            assert self.interview.asked is None and self.interview.item is None
            with pytest.raises(UsageError):
                self.interview.skip()

    def teardown(self) -> None:
        assert list(self.workspace.store.schedules.all()) == []
        self.workspace.close()


def test_nothing_is_lost_and_the_score_is_what_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bank, impl = write_bank(tmp_path / "bank"), write_impl(tmp_path / "impl")

    def open_home(home: Home, clock: Callable[[], datetime]) -> Workspace:
        return Workspace.open(home, clock, settings=Settings(), quizbank=bank, impl=impl)

    monkeypatch.setattr(Interviews, "open_home", staticmethod(open_home), raising=False)
    monkeypatch.setattr(Interviews, "root", tmp_path, raising=False)
    run_state_machine_as_test(
        Interviews,
        settings=settings(
            max_examples=25, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
