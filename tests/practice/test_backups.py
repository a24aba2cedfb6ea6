"""Check the automatic backups: which exist, for how long, and that they are complete."""

from __future__ import annotations

import shutil
import sqlite3
from collections import namedtuple
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from attncli.domain.log_row import LogRow, RowKind
from attncli.errors import StoreError, UsageError
from attncli.practice.backups import BEFORE_RESTORE, DAILY, copies, daily_copy, keep_copy, write_copy
from attncli.store.history import Entry, read
from attncli.store.old_database import rows_of_database

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
ROWS = [LogRow(f"{n:04}", "m", RowKind.REVIEW, "card", AT, AT.toordinal(), {"rating": 3}) for n in range(30)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "backups"


def rows_of(path: Path) -> list[LogRow]:
    return [found.row for found in read(path) if isinstance(found, Entry)]


def test_a_copy_is_named_by_day_and_reason_and_can_be_read(folder: Path) -> None:
    daily = keep_copy(ROWS, 100, folder, DAILY, AT)
    other = keep_copy(ROWS, 100, folder, BEFORE_RESTORE, AT)
    assert daily == daily_copy(folder, date(2026, 6, 1)) == folder / "2026-06-01-daily.jsonl"
    assert other.name == "2026-06-01-120000-before-restore.jsonl"
    assert copies(folder, BEFORE_RESTORE) == [other] and len(copies(folder)) == 2
    assert rows_of(daily) == rows_of(other) == ROWS


def test_seven_days_and_four_weeks_stay_and_five_before_restores(folder: Path) -> None:
    folder.mkdir()
    days = [AT - timedelta(days=number) for number in range(1, 100)]
    for day in days:
        daily_copy(folder, day.date()).touch()
        (folder / f"{day:%Y-%m-%d}-120000-{BEFORE_RESTORE}.jsonl").touch()
    (folder / "mine.jsonl").touch()
    keep_copy(ROWS, 100, folder, DAILY, AT)
    kept = [date.fromisoformat(file.name[:10]) for file in copies(folder, DAILY)]
    assert kept[:7] == [AT.date(), *(day.date() for day in days[:6])]
    assert len(kept) == 11 and len({day.isocalendar()[:2] for day in kept[7:]}) == 4
    assert len(copies(folder, BEFORE_RESTORE)) == 5
    assert (folder / "mine.jsonl").exists()


def test_no_copy_takes_the_room_that_reviews_need(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10, 9, 2 * 1000))
    with pytest.raises(StoreError, match=r"cannot keep a copy .* free some disk space"):
        keep_copy(ROWS, 1000, folder, DAILY, AT)


def test_a_folder_that_cannot_be_made_is_said(folder: Path) -> None:
    folder.write_text("in the way")
    with pytest.raises(StoreError, match="move that file out of the way"):
        keep_copy(ROWS, 100, folder, DAILY, AT)
    with pytest.raises(StoreError, match="choose another location"):
        write_copy(ROWS, folder.parent / "no" / "such" / "folder.jsonl")


def test_an_old_database_gives_its_usable_rows_and_names_the_others(tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    old = sqlite3.connect(path)
    old.execute("PRAGMA journal_mode = WAL")
    old.execute("CREATE TABLE log (seq INTEGER PRIMARY KEY, id, machine, kind, subject, at_us, day, payload)")
    for seq, (id, payload) in enumerate(
        [("good", '{"rating": 3}'), ("bad", "{"), ("odd", '{"rating": 9}'), ("raw", b"\xff\xfe")]
    ):
        values = (seq, id, "0badcafe", "review", "att-01", 1_780_000_000_000_000, 739_764, payload)
        old.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
    old.commit()
    rows, refused = rows_of_database(path)  # the rows are still in the write-ahead log
    old.close()
    assert [row.id for row in rows] == ["good"]
    assert [str(text).split(":")[0] for text in refused] == ["row bad", "row odd", "row raw"]
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 2000)
    path.with_name("progress.db-wal").unlink(missing_ok=True)
    with pytest.raises(UsageError, match="damaged or not an attn database"):
        rows_of_database(path)
