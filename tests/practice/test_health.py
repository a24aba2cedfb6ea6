from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from attncli import __version__
from attncli.domain.log_row import Rating
from attncli.paths import Home
from attncli.practice import doctor, record
from attncli.practice.workspace import Workspace, newest_copy

Open = Callable[..., Workspace]


def test_a_whole_database_has_no_problems(workspace: Workspace) -> None:
    record.answer(workspace, "att-01", Rating.GOOD)
    found = doctor.database_health(workspace.home)
    assert (found.rows, found.problems) == (1, ())


def test_a_damaged_database_is_described_not_raised(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.database.write_bytes(b"garbage")
    found = doctor.database_health(home)
    assert found.rows is None and "damaged" in found.problems[0]


def test_rebuilding_keeps_every_schedule(open_workspace: Open) -> None:
    workspace = open_workspace()
    for card, rating in (("att-01", Rating.GOOD), ("kv-01", Rating.EASY), ("att-01", Rating.HARD)):
        record.answer(workspace, card, rating)
    before = dict(workspace.store.schedules.all())
    workspace.close()
    rebuilt = doctor.rebuild(workspace.home, open_workspace, lambda done: None)
    assert (rebuilt.subjects, rebuilt.rescued, rebuilt.kept) == (2, None, None)
    assert dict(open_workspace().store.schedules.all()) == before


def test_rebuilding_a_damaged_file_keeps_it_aside_and_saves_the_log(open_workspace: Open) -> None:
    workspace = open_workspace()
    for _ in range(3):
        record.answer(workspace, "att-01", Rating.GOOD)
    before = dict(workspace.store.schedules.all())
    page = workspace.store.connection.value("SELECT rootpage FROM sqlite_schema WHERE name = 'log_subject'")
    workspace.close()
    with workspace.home.database.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\x55" * 4096)
    rebuilt = doctor.rebuild(workspace.home, open_workspace, lambda done: None)
    assert rebuilt.rescued == 3 and rebuilt.kept is not None and rebuilt.kept.exists()
    assert dict(open_workspace().store.schedules.all()) == before
    assert doctor.database_health(workspace.home).problems == ()


def test_versions_name_the_program_and_what_is_missing_is_a_dash() -> None:
    found = doctor.versions()
    assert found["attncli"] == __version__ and found["fsrs"][0].isdigit()
    assert doctor._version("no-such-library-anywhere") == "-"


def test_the_bank_is_counted(workspace: Workspace) -> None:
    assert doctor.bank_health(workspace) == {"cards": 6, "topics": 2, "challenges": 1, "problems": []}


def test_the_first_review_of_a_study_day_is_followed_by_a_copy(open_workspace: Open, moving_clock: Any) -> None:
    for days, count in ((0, 1), (0, 1), (1, 2)):
        moving_clock.move(days=days)
        with open_workspace() as workspace:
            record.answer(workspace, "att-01", Rating.GOOD)
        kept = sorted(file.name for file in workspace.home.backups.iterdir())
        assert len(kept) == count and kept[-1] == f"{moving_clock():%Y-%m-%d}-daily.db"
    assert newest_copy(workspace.home) == moving_clock().date()


def test_reading_keeps_no_copy_and_a_large_database_is_left_to_those_who_have_time(
    open_workspace: Open, moving_clock: Any
) -> None:
    with open_workspace() as workspace:
        assert not workspace.home.backups.exists()
        record.answer(workspace, "att-01", Rating.GOOD)
        workspace.keep_daily_copy(largest_bytes=1000)
        assert newest_copy(workspace.home) is None
        workspace.keep_daily_copy()
        assert newest_copy(workspace.home) == moving_clock().date()


def test_a_copy_that_cannot_be_kept_stops_nothing(open_workspace: Open) -> None:
    with open_workspace() as workspace:
        workspace.home.backups.write_text("in the way")
        record.answer(workspace, "att-01", Rating.GOOD)
    assert doctor.database_health(workspace.home).rows == 1


def test_rows_in_a_damaged_file_beside_it_are_a_problem_until_they_are_merged(open_workspace: Open) -> None:
    with open_workspace() as workspace:
        record.answer(workspace, "att-01", Rating.GOOD)
    path = workspace.home.database
    path.rename(path.with_name("progress.db.damaged-1"))
    found = doctor.database_health(workspace.home)
    assert found.problems == ("rows in progress.db.damaged-1 may be missing here",)
    assert doctor.rebuild(workspace.home, open_workspace, lambda done: None).put_back == 1
    assert doctor.database_health(workspace.home).problems == ()
