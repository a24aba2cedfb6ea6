from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attncli import __version__
from attncli.domain.log_row import Rating
from attncli.practice import doctor, record
from attncli.practice.backups import copies
from attncli.practice.workspace import Workspace

Open = Callable[..., Workspace]


def test_a_whole_history_has_no_damage(workspace: Workspace) -> None:
    record.answer(workspace, "att-01", Rating.GOOD)
    found = doctor.database_health(workspace.home)
    assert (found.rows, found.damages, found.integrity) == (1, (), "ok")


def test_a_damaged_line_is_named_with_file_and_line(open_workspace: Open) -> None:
    with open_workspace() as workspace:
        for _ in range(2):
            record.answer(workspace, "att-01", Rating.GOOD)
        (file,) = workspace.store.history.files()
    file.write_bytes(file.read_bytes().replace(b'"rating":3', b'"rating":4', 1))
    found = doctor.database_health(workspace.home)
    assert found.integrity == "damaged" and [str(damage) for damage in found.damages] == [
        f"{file}:1: the checksum does not match"
    ]


def test_a_cache_that_is_garbage_is_made_anew(open_workspace: Open) -> None:
    with open_workspace() as workspace:
        record.answer(workspace, "att-01", Rating.GOOD)
    workspace.home.database.write_bytes(b"garbage")
    found = doctor.database_health(workspace.home)
    assert (found.rows, found.damages) == (1, ())


def test_rebuilding_keeps_every_schedule(open_workspace: Open) -> None:
    workspace = open_workspace()
    for card, rating in (("att-01", Rating.GOOD), ("kv-01", Rating.EASY), ("att-01", Rating.HARD)):
        record.answer(workspace, card, rating)
    before = dict(workspace.store.schedules.all())
    workspace.close()
    assert doctor.rebuild(workspace.home, open_workspace, lambda done: None) == 2
    assert dict(open_workspace().store.schedules.all()) == before


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
        assert len(kept) == count and kept[-1] == f"{moving_clock():%Y-%m-%d}-daily.jsonl"
    assert copies(workspace.home.backups)[0].name[:10] == moving_clock().date().isoformat()


def test_reading_keeps_no_copy_and_a_large_database_is_left_to_those_who_have_time(
    open_workspace: Open, moving_clock: Any
) -> None:
    with open_workspace() as workspace:
        assert not workspace.home.backups.exists()
        record.answer(workspace, "att-01", Rating.GOOD)
        workspace.keep_daily_copy(largest_bytes=10)
        assert copies(workspace.home.backups) == []
        workspace.keep_daily_copy()
        assert copies(workspace.home.backups)[0].name[:10] == moving_clock().date().isoformat()


def test_a_copy_that_cannot_be_kept_stops_nothing(open_workspace: Open) -> None:
    with open_workspace() as workspace:
        workspace.home.backups.write_text("in the way")
        record.answer(workspace, "att-01", Rating.GOOD)
    assert doctor.database_health(workspace.home).rows == 1
