"""Where nothing can be written a database is still read, with what a killed process left in its write-ahead log."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from attncli.domain.log_row import RowKind
from attncli.errors import StoreError, StoreUnwritable
from attncli.store.connection import Connection
from attncli.store.database import Database
from attncli.store.repair import repair_in_place

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
FULL = "cannot use the database p.db (database or disk is full); free some disk space and try again"


def append(database: Database, count: int) -> None:
    with database.transaction():
        for _ in range(count):
            database.log.append(RowKind.REVIEW, "card", AT, AT.toordinal(), {"rating": 3})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "home" / "progress.db"
    with Database.open(path) as database:
        append(database, 7)
    return path


@pytest.fixture
def hot(path: Path) -> Path:
    """A folder as a killed process leaves it: the last rows are in the write-ahead log alone."""
    with Database.open(path) as database:
        append(database, 5)
        folder = shutil.copytree(path.parent, path.parent.with_name("hot"))
    return Path(folder) / "progress.db"


@pytest.fixture
def nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        if path.name == "progress.db":
            raise StoreUnwritable(FULL)

    monkeypatch.setattr("attncli.store.connection._require_room", refuse)


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}


@pytest.mark.parametrize(("name", "rows"), [("path", 7), ("hot", 12)])
def test_it_is_read_and_copied_and_a_write_says_why_not(
    request: pytest.FixtureRequest, tmp_path: Path, name: str, rows: int
) -> None:
    path: Path = request.getfixturevalue(name)
    request.getfixturevalue("nothing_can_be_written")
    before = content(path.parent)
    with Database.open(path) as database:
        assert database.unwritable == FULL and database.log.length() == rows and database.problems() == []
        with pytest.raises(StoreUnwritable, match="free some disk space"):
            append(database, 1)
        with pytest.raises(StoreUnwritable, match="free some disk space"):
            repair_in_place(database, tmp_path)
        assert database.copy_to(tmp_path / "copy.db") == []
    assert content(path.parent) == before
    assert Connection(tmp_path / "copy.db").value("SELECT count(*) FROM log") == rows


@pytest.mark.parametrize("made", [Path.unlink, lambda path: path.write_bytes(b"")], ids=["missing", "empty"])
def test_what_is_not_there_cannot_be_read_either(
    path: Path, request: pytest.FixtureRequest, made: Callable[[Path], object]
) -> None:
    made(path)
    request.getfixturevalue("nothing_can_be_written")
    with pytest.raises(StoreUnwritable, match="free some disk space"):
        Database.open(path)


def test_a_nearly_full_disk_with_small_blocks_is_not_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There SQLite's shared memory has holes, and writing into one ends the process without a word."""
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_frsize=1024, f_bavail=100), raising=False)
    with Database.open(path) as database:
        assert "disk is full" in database.unwritable and database.log.length() == 7
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_frsize=1024, f_bavail=10_000), raising=False)
    with Database.open(path) as database:
        assert database.unwritable == ""


def test_a_copy_that_cannot_be_written_is_said(path: Path, tmp_path: Path) -> None:
    with (
        Database.open(path) as database,
        pytest.raises(StoreError, match="make its folder writable"),
    ):
        database.copy_to(tmp_path / "nowhere" / "copy.db")
