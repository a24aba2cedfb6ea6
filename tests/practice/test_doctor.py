"""The health of a home, and its automatic backups: which exist, for how long, and that they are complete."""

from __future__ import annotations

import shutil
import sqlite3
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from attncli import __version__
from attncli.domain.log_row import LogRow, Rating, RowKind
from attncli.errors import StoreError, UsageError
from attncli.practice import doctor, record
from attncli.practice.backups import BEFORE_RESTORE, DAILY, copies, daily_copy, keep_copy, write_copy
from attncli.store.history import Entry, read
from attncli.store.old_database import rows_of_database
from moved_clock import Clock

from .conftest import Open

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
ROWS = [LogRow(f"{n:04}", "m", RowKind.REVIEW, "card", AT, AT.toordinal(), {"rating": 3}) for n in range(30)]


def test_a_damaged_line_is_named_with_file_and_line(open_workspace: Open) -> None:
    with open_workspace() as workspace:
        for _ in range(2):
            record.answer(workspace, "att-01", Rating.GOOD)
        (file,) = workspace.store.history.files()
    workspace.home.database.write_bytes(b"garbage")
    found = doctor.database_health(workspace.home)
    assert (found.rows, found.damages, found.integrity) == (2, (), "ok"), "the cache is made anew"
    file.write_bytes(file.read_bytes().replace(b'"rating":3', b'"rating":4', 1))
    found = doctor.database_health(workspace.home)
    assert found.integrity == "damaged"
    assert [str(damage) for damage in found.damages] == [f"{file}:1: the checksum does not match"]


def test_rebuilding_keeps_every_schedule_and_versions_and_the_bank_are_told(open_workspace: Open) -> None:
    workspace = open_workspace()
    assert doctor.bank_health(workspace) == {"cards": 6, "topics": 2, "challenges": 1, "problems": []}
    found = doctor.versions()
    assert found["attncli"] == __version__ and found["fsrs"][0].isdigit()
    assert doctor._version("no-such-library-anywhere") == "-"
    for card, rating in (("att-01", Rating.GOOD), ("kv-01", Rating.EASY), ("att-01", Rating.HARD)):
        record.answer(workspace, card, rating)
    before = dict(workspace.store.schedules.all())
    workspace.close()
    assert doctor.rebuild(workspace.home, open_workspace, lambda done: None) == 2
    assert dict(open_workspace().store.schedules.all()) == before


def test_the_first_review_of_a_study_day_is_followed_by_a_copy_and_reading_by_none(
    open_workspace: Open, moving_clock: Clock
) -> None:
    for days, count in ((0, 1), (0, 1), (1, 2)):
        moving_clock.move(days=days)
        with open_workspace() as workspace:
            record.answer(workspace, "att-01", Rating.GOOD)
        kept = sorted(file.name for file in workspace.home.backups.iterdir())
        assert len(kept) == count and kept[-1] == f"{moving_clock():%Y-%m-%d}-daily.jsonl"
    assert copies(workspace.home.backups)[0].name[:10] == moving_clock().date().isoformat()
    workspace = open_workspace("another")
    assert not workspace.home.backups.exists()
    record.answer(workspace, "att-01", Rating.GOOD)
    workspace.keep_daily_copy(largest_bytes=10)
    assert copies(workspace.home.backups) == [], "a large database is left to those who have time"
    workspace.keep_daily_copy()
    assert copies(workspace.home.backups)[0].name[:10] == workspace.clock().date().isoformat()
    with open_workspace("full") as full:
        full.home.backups.write_text("in the way")
        record.answer(full, "att-01", Rating.GOOD)
    assert doctor.database_health(full.home).rows == 1


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


def test_no_copy_takes_the_room_of_reviews_or_of_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=10, used=9, free=2 * 1000))
        with pytest.raises(StoreError, match=r"cannot keep a copy .* free some disk space"):
            keep_copy(ROWS, 1000, folder, DAILY, AT)
    shutil.rmtree(folder, ignore_errors=True)
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
