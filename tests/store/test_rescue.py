"""What a rescue saves, keeps and says; where the rows come from when the file itself has lost them."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from attncli.domain.log_row import LogRow, RowKind
from attncli.errors import StoreCorrupt, StoreUnwritable
from attncli.store.backups import BEFORE_RESTORE, DAILY, keep_copy
from attncli.store.database import Database
from attncli.store.repair import repair_in_place
from attncli.store.rescue import _Remains, rescue

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
PAGE = 4096


def append(path: Path, count: int) -> list[LogRow]:
    with Database.open(path) as database, database.transaction():
        first = database.log.length()
        return [
            database.log.append(
                RowKind.REVIEW, f"card-{number % 9}", AT + timedelta(minutes=number), AT.toordinal(), {"rating": 3}
            )
            for number in range(first, first + count)
        ]


def rows_of(path: Path) -> list[LogRow]:
    with Database.open(path) as database:
        assert database.problems() == []
        return list(database.log.everything())


def garble_root(path: Path, name: str) -> None:
    raw = sqlite3.connect(path)
    root = raw.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchone()[0]
    raw.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * PAGE)
        file.write(b"\xff" * 64)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "progress.db"


@pytest.fixture
def backups(path: Path) -> Path:
    return path.parent / "backups"


def test_the_machine_stays_the_same_so_that_undo_finds_its_reviews(path: Path) -> None:
    rows = append(path, 300)
    with Database.open(path) as database:
        machine = database.log.machine
    for damage in (b"\x00" * PAGE, b"\xff" * 100):
        with path.open("r+b") as file:
            file.write(damage)
        rescue(path)
        with Database.open(path) as database:
            assert database.log.machine == machine and database.log.last_here([RowKind.REVIEW]) == rows[-1]


def test_a_database_that_forgot_its_machine_remembers_it_by_its_last_row(path: Path, backups: Path) -> None:
    rows = append(path, 30)
    raw = sqlite3.connect(path)
    raw.execute("DELETE FROM meta WHERE key = 'machine'")
    raw.commit()
    raw.close()
    with Database.open(path) as database, pytest.raises(StoreCorrupt, match="which machine it belongs to"):
        repair_in_place(database, backups)
    rescue(path)
    with Database.open(path) as database:
        assert database.log.last_here([RowKind.REVIEW]) == rows[-1]


def test_a_file_without_its_header_gives_all_rows_back(path: Path) -> None:
    rows = append(path, 500)
    with path.open("r+b") as file:
        file.write(bytes(100))
    found = rescue(path)
    assert (found.rows, found.lost) == (500, 0) and rows_of(path) == rows


@pytest.mark.parametrize("offset", range(100))
def test_no_byte_of_the_header_costs_a_row(path: Path, backups: Path, offset: int) -> None:
    rows = append(path, 60)
    content = bytearray(path.read_bytes())
    content[offset] ^= 0xFF
    path.write_bytes(content)
    try:
        with Database.open(path) as database:
            repair_in_place(database, backups)
    except StoreCorrupt:
        rescue(path, backups)
    assert rows_of(path) == rows


def test_a_file_that_is_cut_short_gives_the_rows_that_are_left_and_says_so(path: Path) -> None:
    rows = append(path, 2000)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])
    found = rescue(path)
    assert found.is_cut_short and 200 < found.rows < 2000
    assert {row.id for row in rows_of(path)} < {row.id for row in rows}
    assert found.lost == 0 or found.lost + found.rows <= 2000


def test_a_header_that_was_overwritten_is_not_said_to_be_of_a_file_that_is_cut_short(path: Path) -> None:
    rows = append(path, 400)
    path.write_bytes(b"\xff" * 100 + path.read_bytes()[100:])
    found = rescue(path)
    assert not found.is_cut_short and rows_of(path) == rows


def test_lost_rows_are_counted_once(path: Path) -> None:
    append(path, 400)
    raw = sqlite3.connect(path)
    page = raw.execute(
        "SELECT pageno FROM dbstat WHERE name = 'log' AND pagetype = 'leaf' LIMIT 1 OFFSET 2"
    ).fetchone()[0]
    raw.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(bytes(PAGE))
    first = rescue(path)
    assert first.lost > 0 and first.rows + first.lost == 400
    garble_root(path, "log_subject")
    again = rescue(path)
    assert (again.rows, again.lost) == (first.rows, 0) and again.kept.name == "progress.db.damaged-2"


def test_a_damaged_row_is_set_aside_in_the_new_file_too(path: Path) -> None:
    rows = append(path, 50)
    content = path.read_bytes()
    at = content.index(f"{rows[7].id}{rows[7].machine}review".encode())
    path.write_bytes(content[:at] + b"X" + content[at + 1 :])
    rescue(path)
    with Database.open(path) as database:
        assert database.log.set_aside_count() == 1 and database.problems() == []
        assert list(database.log.everything()) == rows[:7] + rows[8:]


def test_what_the_file_has_lost_comes_from_the_daily_copy(path: Path, backups: Path) -> None:
    rows = append(path, 300)
    with Database.open(path) as database:
        keep_copy(database, backups, DAILY, AT)
    rows += append(path, 5)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    found = rescue(path, backups)
    assert 300 <= found.rows <= 305 and {row.id for row in rows[:300]} <= {row.id for row in rows_of(path)}


def test_rows_given_up_by_a_restore_do_not_come_back(path: Path, backups: Path) -> None:
    append(path, 30)
    with Database.open(path) as database:
        keep_copy(database, backups, DAILY, AT - timedelta(days=1))
        keep_copy(database, backups, BEFORE_RESTORE, AT)
    path.unlink()
    kept = append(path, 3)
    garble_root(path, "log_subject")
    rescue(path, backups)
    assert rows_of(path) == kept


def test_rows_in_a_damaged_file_beside_it_are_named_until_they_are_merged(path: Path, backups: Path) -> None:
    rows = append(path, 20)
    path.rename(path.with_name("progress.db.damaged-1"))
    further = append(path, 2)
    with Database.open(path) as database:
        assert [file.name for file in database.unmerged()] == ["progress.db.damaged-1"]
        assert repair_in_place(database, backups).put_back == 20 and database.unmerged() == []
        assert repair_in_place(database, backups).put_back == 0
    assert {row.id for row in rows_of(path)} == {row.id for row in rows + further}


def test_a_rescue_that_was_killed_after_it_gave_the_damaged_file_its_name_is_finished(path: Path) -> None:
    rows = append(path, 40)
    garble_root(path, "log_kind_day")
    os.link(path, path.with_name("progress.db.damaged-1"))
    path.with_name("progress.db.rescuing").write_bytes(b"half")
    assert rescue(path).kept.name == "progress.db.damaged-1"
    assert rows_of(path) == rows
    assert sorted(file.name for file in path.parent.iterdir()) == ["progress.db", "progress.db.damaged-1"]


def test_where_files_cannot_be_linked_the_damaged_one_is_copied(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    rows = append(path, 40)
    garble_root(path, "log_kind_day")
    before = path.read_bytes()
    assert rescue(path).kept.read_bytes() == before and rows_of(path) == rows


def test_a_write_ahead_log_that_sqlite_cannot_use_is_read_and_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = append(path, 10)
    with Database.open(path) as database:
        with database.transaction():
            row = database.log.append(RowKind.REVIEW, "card", AT, AT.toordinal(), {"rating": 4})
        hurt = path.with_name("other.db")
        shutil.copy(path, hurt)
        shutil.copy(path.with_name("progress.db-wal"), path.with_name("other.db-wal"))
    monkeypatch.setattr("attncli.store.rescue._remains", lambda path: _Remains())
    found = rescue(hurt)
    assert {kept.id for kept in rows_of(hurt)} == {kept.id for kept in [*before, row]}
    assert found.kept.with_name("other.db.damaged-1-wal").exists()


def test_a_link_stays_a_link(path: Path) -> None:
    rows = append(path, 40)
    real = path.parent / "real"
    real.mkdir()
    path.rename(real / "p.db")
    path.symlink_to("real/p.db")
    garble_root(path, "log_kind_day")
    assert rescue(path).kept == real / "p.db.damaged-1"
    assert path.is_symlink() and rows_of(path) == rows


def test_a_new_file_whose_content_is_not_all_in_it_is_not_taken(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk the last step of writing, from the write-ahead log into the file, fails without a word."""
    append(path, 40)
    garble_root(path, "log_kind_day")
    before, readers, fill = path.read_bytes(), list[sqlite3.Connection](), Database.fill

    def fill_and_stay(self: Database, *values: object) -> None:
        reader = sqlite3.connect(self.path)
        reader.execute("PRAGMA user_version").fetchone()
        readers.append(reader)
        fill(self, *values)  # type: ignore[arg-type]

    monkeypatch.setattr(Database, "fill", fill_and_stay)
    with pytest.raises(StoreUnwritable, match=r"there is no room .* free some disk space"):
        rescue(path)
    assert path.read_bytes() == before and not list(path.parent.glob("*.damaged-*"))
    for reader in readers:
        reader.close()


@pytest.fixture
def locked_folder(path: Path) -> Iterator[Path]:
    append(path, 40)
    garble_root(path, "log_kind_day")
    path.chmod(0o400)
    yield path
    path.chmod(0o600)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_file_that_cannot_be_written_is_said(locked_folder: Path) -> None:
    with pytest.raises(StoreUnwritable, match="make it and its folder writable"):
        rescue(locked_folder)
