"""Saving the log out of a damaged file: everything that can still be read goes into a new database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from attncli.domain.review import LogRow
from attncli.errors import StoreError
from attncli.store.connection import Connection
from attncli.store.database import Database, opened
from attncli.store.log import COLUMNS, row_of

T = TypeVar("T")

SMALLEST_ROW_BYTES = 60
MOST_FAILURES = 20_000


@dataclass(frozen=True, slots=True)
class Rescued:
    """How many rows were saved, and where the damaged file is kept."""

    rows: int
    kept: Path


def rescue(path: Path) -> Rescued:
    """Moves the damaged database `path` aside and fills a new one with the log rows that can be read.

    Nothing is deleted. Raises StoreError if there is no file, or no room for a new one.
    """
    kept = set_aside(path)
    rows = list(_readable_rows(kept))
    with Database.open(path) as fresh, fresh.transaction():
        fresh.log.merge(rows)
    return Rescued(len(rows), kept)


def set_aside(path: Path) -> Path:
    """Renames a damaged database with what belongs to it; its new name."""
    kept = _free(path, "damaged")
    try:
        for suffix in ("", "-wal", "-shm"):
            part = path.with_name(path.name + suffix)
            if part.exists() or not suffix:
                part.rename(kept.with_name(kept.name + suffix))
    except OSError as error:
        raise StoreError(f"cannot move {path} aside ({error.strerror}); make its folder writable") from error
    return kept


def _free(path: Path, word: str) -> Path:
    number = 1
    while (free := path.with_name(f"{path.name}.{word}-{number}")).exists():
        number += 1
    return free


def _readable_rows(path: Path) -> Iterator[LogRow]:
    """The rows that can be read; where a page is damaged, halves are tried, down to single rows."""
    try:
        with opened(path) as connection:
            ranges = [(1, _last_number(connection, path))]
            failures = 0
            while ranges and failures < MOST_FAILURES:
                first, last = ranges.pop()
                rows = _or_else(partial(_between, connection, first, last), None)
                if rows is not None:
                    yield from (row for raw in rows if (row := _or_else(partial(row_of, raw), None)))
                    continue
                failures += 1
                if first < last:
                    middle = (first + last) // 2
                    ranges += [(middle + 1, last), (first, middle)]
    except StoreError:
        return


def _last_number(connection: Connection, path: Path) -> int:
    """The number of the last row, or if that cannot be read, as many as the file has room for."""
    room = path.stat().st_size // SMALLEST_ROW_BYTES + 1
    for sql in ("SELECT max(seq) FROM log", "SELECT seq FROM sqlite_sequence WHERE name = 'log'"):
        if last := _or_else(partial(connection.value, sql), None):
            return min(int(last), room)
    return room


def _between(connection: Connection, first: int, last: int) -> list[tuple[object, ...]]:
    sql = f"SELECT {COLUMNS} FROM log NOT INDEXED WHERE seq BETWEEN ? AND ? ORDER BY seq"
    return connection.rows(sql, (first, last))


def _or_else(read: Callable[[], T], otherwise: T) -> T:
    try:
        return read()
    except (StoreError, ValueError, KeyError):
        return otherwise
