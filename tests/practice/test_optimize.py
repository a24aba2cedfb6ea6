"""Store a fit as a log row: schedules follow the newest one that is not undone, on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from attncli.domain.log_row import Rating, RowKind, Schedule
from attncli.errors import NothingFound
from attncli.memory.optimizer import History
from attncli.practice import doctor, record
from attncli.practice.optimize import histories, optimise, record_fit
from attncli.practice.record import take_back
from attncli.practice.sync import exported, import_file
from attncli.practice.workspace import Workspace
from known_memories import LONG_MEMORY, PUBLISHED, SHORT_MEMORY, reviews_of_a_learner
from moved_clock import Clock

from .conftest import Open


def schedules(workspace: Workspace) -> dict[str, Schedule]:
    return dict(workspace.store.schedules.all())


def remember(workspace: Workspace, learner: Sequence[History]) -> None:
    """Log a learner's reviews; the last day is today."""
    shift = workspace.moment().day - max(day for history in learner for day, _ in history)
    with workspace.store.transaction():
        for number, history in enumerate(learner):
            for day, rating in history:
                at = workspace.calendar.starts_at(day + shift) + timedelta(hours=3)
                workspace.store.log.append(RowKind.REVIEW, f"gone-{number}", at, day + shift, {"rating": rating})
    workspace.derive_all()


def bring(one: Workspace, other: Workspace) -> None:
    file = one.home.root / "reviews.jsonl"
    file.write_text("".join(line + "\n" for line in exported(one, [])), encoding="utf-8")
    import_file(other, file)


def answers(workspace: Workspace) -> None:
    now = workspace.clock()
    for day in (30, 20, 5):
        record.answer(workspace, "att-01", Rating.GOOD, now - timedelta(days=day))


def test_what_is_kept_is_a_row_that_all_schedules_follow_and_undo_takes_back(workspace: Workspace) -> None:
    remember(workspace, reviews_of_a_learner(LONG_MEMORY, 0))
    before = schedules(workspace)
    done = optimise(workspace)
    (row,) = workspace.store.log.of_kind(RowKind.FIT)
    assert done.kept and tuple(row.payload["parameters"]) == done.after.parameters == workspace.policy.parameters
    assert done.after.first_interval_days[Rating.GOOD] > done.before.first_interval_days[Rating.GOOD]
    after = schedules(workspace)
    assert sum(after[card].interval_days > before[card].interval_days for card in before) > len(before) / 2
    with pytest.raises(NothingFound, match="since the last fit"):
        optimise(workspace)
    assert take_back(workspace).id == row.id
    assert schedules(workspace) == before and workspace.policy.parameters == ()


def test_what_is_no_better_or_rests_on_too_little_changes_nothing(open_workspace: Open) -> None:
    few, workspace = open_workspace("few"), open_workspace()
    answers(few)
    too_few = r"^only 2 reviews came a day or more after the previous one; fitting needs 500"
    with pytest.raises(NothingFound, match=too_few):
        optimise(few)
    remember(workspace, reviews_of_a_learner(PUBLISHED, 1))
    before = schedules(workspace)
    done = optimise(workspace)
    assert not done.kept and done.gain <= done.standard_error and schedules(workspace) == before
    assert not any(one.store.log.of_kind(RowKind.FIT) for one in (few, workspace))


def test_histories_leave_out_what_was_undone_and_join_a_cards_names(open_workspace: Open, small_bank: Path) -> None:
    workspace = open_workspace()
    answers(workspace)
    first_day = workspace.moment().day - 30
    assert histories(workspace) == [("att-01", [(first_day, 3), (first_day + 10, 3), (first_day + 25, 3)])]
    take_back(workspace)
    bank = small_bank / "att.yaml"
    bank.write_text(bank.read_text(encoding="utf-8").replace("id: att-01", "id: att-1\n    formerly: [att-01]"))
    renamed = open_workspace()
    record.answer(renamed, "att-1", Rating.EASY)
    assert histories(renamed) == [("att-1", [(first_day, 3), (first_day + 10, 3), (first_day + 30, 4)])]


def test_an_open_program_follows_the_newest_fit_wherever_it_was_made(open_workspace: Open, moving_clock: Clock) -> None:
    app, command = open_workspace("app"), open_workspace("app")
    answers(app)
    shown = app.policy.parameters
    record_fit(command, LONG_MEMORY)
    answered = record.answer(app, "att-01", Rating.GOOD)
    assert shown == () and app.policy.parameters == LONG_MEMORY
    assert schedules(command)["att-01"] == answered.schedule
    one, other = open_workspace("one"), open_workspace("other")
    answers(one)
    record_fit(one, LONG_MEMORY)
    moving_clock.move(hours=1)
    record_fit(other, SHORT_MEMORY)
    bring(one, other)
    bring(other, one)
    assert one.policy.parameters == other.policy.parameters == SHORT_MEMORY
    assert schedules(one) == schedules(other)
    take_back(other)
    bring(other, one)
    assert one.policy.parameters == other.policy.parameters == LONG_MEMORY
    assert schedules(one) == schedules(other)
    doctor.rebuild(one.home, lambda: open_workspace("one"), lambda done: None)
    assert schedules(open_workspace("one")) == schedules(other)


def test_many_reviews_are_stood_for_by_whole_cards(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(workspace, reviews_of_a_learner(PUBLISHED, 2, cards=40))
    every = dict(histories(workspace))
    monkeypatch.setattr("attncli.practice.optimize.MOST_REVIEWS", 60)
    some = histories(workspace)
    assert 60 <= sum(len(history) for _, history in some) < 90 and some == histories(workspace)
    assert all(every[card] == history for card, history in some)
