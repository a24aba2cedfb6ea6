"""Keep the cache in step with the history: grown, damaged, cut, moved. It is rebuilt if it does not match."""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from attncli.domain.log_row import LogRow, RowKind
from attncli.errors import StoreUnwritable
from attncli.store.database import Database
from attncli.store.history import History

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)


def review(database: Database, subject: str, minute: int) -> LogRow:
    at = AT + timedelta(minutes=minute)
    with database.transaction():
        return database.log.append(RowKind.REVIEW, subject, at, at.toordinal(), {"rating": 3})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache.db"


@pytest.fixture
def rows(path: Path) -> list[LogRow]:
    with Database.open(path) as database:
        return [review(database, f"kv-0{n % 3}", n) for n in range(9)]


def test_a_transaction_that_fails_leaves_nothing(path: Path, rows: list[LogRow]) -> None:
    with Database.open(path) as database:
        with pytest.raises(KeyError), database.transaction():
            database.log.append(RowKind.REVIEW, "kv-09", AT, AT.toordinal(), {"rating": 1})
            raise KeyError
        assert list(database.log.everything()) == rows
        assert review(database, "kv-04", 99).id not in {row.id for row in rows}, "and it goes on"
    with Database.open(path) as database:
        assert database.log.length() == len(rows) + 1 and database.damages() == []


def test_outside_a_transaction_nothing_is_written(path: Path, rows: list[LogRow]) -> None:
    with Database.open(path) as database, pytest.raises(AssertionError, match="inside a transaction"):
        database.log.append(RowKind.REVIEW, "kv-09", AT, AT.toordinal(), {"rating": 1})


@pytest.mark.parametrize("what", ["deleted", "random", "empty", "another version", "another program", "beside"])
def test_a_cache_that_does_not_fit_is_made_anew(path: Path, rows: list[LogRow], what: str) -> None:
    if what == "deleted":
        path.unlink()
    elif what == "random":
        path.write_bytes(Random(3).randbytes(20_000))
    elif what == "empty":
        path.write_bytes(b"")
    elif what == "beside":
        path.with_name("cache.db-wal").write_bytes(Random(4).randbytes(9_000))
    else:
        with sqlite3.connect(path) as cache:
            cache.execute(f"PRAGMA {'user_version' if what == 'another version' else 'application_id'} = 77")
        cache.close()
    with Database.open(path) as database:
        assert list(database.log.everything()) == rows and database.damages() == []


def test_rows_that_were_written_but_not_mirrored_are_read_and_their_subjects_are_stale(
    path: Path, rows: list[LogRow]
) -> None:
    """As after a kill between writing and mirroring, or if another machine's file appeared by itself."""
    with History(path.parent).writing() as writer:
        late = writer.add(RowKind.REVIEW, "kv-07", AT, AT.toordinal(), {"rating": 2})
    with Database.open(path) as database:
        assert late in list(database.log.everything()) and database.stale_subjects() == ["kv-07"]
        assert review(database, "kv-08", 50) in list(database.log.everything())
        with database.connection.transaction():
            database.none_is_stale()
    with Database.open(path) as database:
        assert database.stale_subjects() == [] and database.log.length() == len(rows) + 2


def test_two_open_databases_see_each_others_rows_and_number_theirs_in_turn(path: Path) -> None:
    with Database.open(path) as one, Database.open(path) as other:
        written = [review(one if n % 2 else other, "kv-01", n) for n in range(8)]
        assert list(one.log.everything()) == list(other.log.everything()) == written
    with Database.open(path) as database:
        assert database.damages() == []


def test_a_cache_that_was_deleted_while_open_loses_nothing(path: Path, rows: list[LogRow]) -> None:
    with Database.open(path) as database:
        path.unlink()
        late = review(database, "kv-01", 60)
        with Database.open(path) as other:
            assert list(other.log.everything()) == [*rows, late]
            review(other, "kv-02", 61)
        review(database, "kv-02", 62)
    with Database.open(path) as again:
        assert again.log.length() == len(rows) + 3 and again.damages() == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_where_nothing_can_be_written_everything_can_be_read(path: Path, rows: list[LogRow]) -> None:
    path.parent.chmod(0o500)
    try:
        with Database.open(path) as database:
            assert list(database.log.everything()) == rows and "make" in database.unwritable
            with pytest.raises(StoreUnwritable):
                review(database, "kv-01", 99)
    finally:
        path.parent.chmod(0o700)


def test_the_history_is_replaced_as_a_whole_under_a_new_id(path: Path, rows: list[LogRow]) -> None:
    with Database.open(path) as database:
        before = database.history.machine
        database.replace_history(rows[:4], lambda: None)
        assert list(database.log.everything()) == rows[:4]
        new = review(database, "kv-01", 80)
        assert new.machine != before
    with Database.open(path) as database:
        assert list(database.log.everything()) == [*rows[:4], new] and database.damages() == []
