"""The copies that are kept without being asked for: which, how long, and that they are whole."""

from __future__ import annotations

import shutil
import sqlite3
from collections import namedtuple
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from attncli.domain.log_row import RowKind
from attncli.errors import StoreCorrupt, StoreError
from attncli.store.backups import BEFORE_MIGRATION, BEFORE_RESTORE, DAILY, copies, daily_copy, keep_copy, prune
from attncli.store.database import Database

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "progress.db"
    with Database.open(path) as database, database.transaction():
        for _ in range(30):
            database.log.append(RowKind.REVIEW, "card", AT, AT.toordinal(), {"rating": 3})
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "backups"


def test_a_copy_is_named_by_day_and_reason_and_can_be_opened(path: Path, folder: Path) -> None:
    with Database.open(path) as database:
        daily = keep_copy(database, folder, DAILY, AT)
        other = keep_copy(database, folder, BEFORE_RESTORE, AT)
        third = keep_copy(database, folder, BEFORE_RESTORE, AT)
    assert daily == daily_copy(folder, date(2026, 6, 1)) == folder / "2026-06-01-daily.db"
    assert (other.name, third.name) == ("2026-06-01-120000-before-restore.db", "2026-06-01-120000-2-before-restore.db")
    assert copies(folder, BEFORE_RESTORE) == [third, other] and len(copies(folder)) == 3
    with Database.open(daily) as copy:
        assert copy.log.length() == 30 and copy.problems() == []


def test_seven_days_and_four_weeks_stay_and_five_of_each_other_reason(folder: Path) -> None:
    folder.mkdir()
    days = [AT - timedelta(days=number) for number in range(100)]
    for day in days:
        daily_copy(folder, day.date()).touch()
        (folder / f"{day:%Y-%m-%d}-120000-{BEFORE_MIGRATION}.db").touch()
    (folder / "mine.db").touch()
    (folder / "2026-06-01-daily.db.part").touch()
    prune(folder)
    kept = [date.fromisoformat(file.name[:10]) for file in copies(folder, DAILY)]
    assert kept[:7] == [day.date() for day in days[:7]]
    assert len(kept) == 11 and len({day.isocalendar()[:2] for day in kept[7:]}) == 4
    assert len(copies(folder, BEFORE_MIGRATION)) == 5
    assert (folder / "mine.db").exists() and not (folder / "2026-06-01-daily.db.part").exists()


def test_a_damaged_database_does_not_push_whole_copies_out(path: Path, folder: Path) -> None:
    with Database.open(path) as database:
        keep_copy(database, folder, DAILY, AT)
    raw = sqlite3.connect(path)
    root = raw.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'card'").fetchone()[0]
    raw.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 64)
    with Database.open(path) as database, pytest.raises(StoreCorrupt, match="attn doctor --rebuild"):
        keep_copy(database, folder, DAILY, AT + timedelta(days=1))
    assert [file.name for file in folder.iterdir()] == ["2026-06-01-daily.db"]


def test_no_copy_takes_the_room_that_reviews_need(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10, 9, 2 * path.stat().st_size))
    with Database.open(path) as database, pytest.raises(StoreError, match=r"no copy was kept .* free some disk space"):
        keep_copy(database, folder, DAILY, AT)


def test_a_folder_that_cannot_be_made_is_said(path: Path, folder: Path) -> None:
    folder.write_text("in the way")
    with Database.open(path) as database, pytest.raises(StoreError, match="move that file away"):
        keep_copy(database, folder, DAILY, AT)
