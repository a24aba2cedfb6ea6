"""The only module of the cache that calls sqlite3: transactions, and errors as messages."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from attncli.errors import HOME_REMEDY, StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreUnwritable
from attncli.i18n import Localised, _

BUSY_TIMEOUT_MS = 20_000
LARGEST_FOREIGN_VALUE = 16 * 1024 * 1024
Values = Sequence[Any] | Mapping[str, Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    """Return a moment as tables store it: microseconds since the epoch."""
    return (at - _EPOCH) // _MICROSECOND


def moment(at_us: int) -> datetime:
    return _EPOCH + at_us * _MICROSECOND


class Connection:
    """A connection to `path`; every failure is a StoreError with a remedy."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_damaged = False
        with self.words():
            self._sqlite = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)
        try:
            self.execute("PRAGMA foreign_keys = ON")
            self.execute("PRAGMA synchronous = NORMAL")  # the history is on disk; the cache may be lost
        except StoreError:
            self.close()
            raise
        self._sqlite.create_function("pow", 2, pow, deterministic=True)  # not every SQLite has mathematics

    def wait_at_most(self, milliseconds: int) -> None:
        """Set the time to wait for another process that is writing, before StoreBusy is raised."""
        self.execute(f"PRAGMA busy_timeout = {milliseconds}")

    def execute(self, sql: str, values: Values = ()) -> int:
        """Run one statement; return the number of rows that it changed."""
        with self.words():
            return self._sqlite.execute(sql, values).rowcount

    def execute_many(self, sql: str, rows: Iterable[Values]) -> None:
        with self.words():
            self._sqlite.executemany(sql, rows)

    def rows(self, sql: str, values: Values = ()) -> list[Any]:
        with self.words():
            return self._sqlite.execute(sql, values).fetchall()

    def column(self, sql: str, values: Values = ()) -> list[Any]:
        """Return the first column of all rows."""
        return [row[0] for row in self.rows(sql, values)]

    def each(self, sql: str, values: Values = ()) -> Iterator[Any]:
        """Yield rows one by one, for results too large to load at once."""
        with self.words():
            yield from self._sqlite.execute(sql, values)

    def row(self, sql: str, values: Values = ()) -> Any:
        """Return the first row, or None."""
        with self.words():
            return self._sqlite.execute(sql, values).fetchone()

    def value(self, sql: str, values: Values = ()) -> Any:
        """Return the first column of the first row, or None."""
        row = self.row(sql, values)
        return row[0] if row else None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run all changes or none. It takes the write lock at once, so that values read inside stay valid."""
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            if self._sqlite.in_transaction:
                self.execute("ROLLBACK")
            raise

    def distrust(self) -> None:
        """Restrict an untrusted file: its schema cannot call unsafe functions, and no value is larger than 16 MiB."""
        self.execute("PRAGMA trusted_schema = OFF")
        self.execute("PRAGMA cell_size_check = ON")
        self._sqlite.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_FOREIGN_VALUE)

    def close(self) -> None:
        with self.words():
            self._sqlite.close()

    @contextmanager
    def words(self) -> Iterator[None]:
        """Turn sqlite3's errors into those of this program."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite's message may contain bytes of a damaged file
            found = error_in_words(error, self.path)
            self.is_damaged = self.is_damaged or isinstance(found, StoreCorrupt)
            raise found from error


_REMEDIES: tuple[tuple[tuple[str, ...], type[StoreError], Localised], ...] = (
    (("full", "disk i/o", "too big"), StoreFull, _("free some disk space and try again")),
    (("readonly", "read-only", "unable to open", "permission"), StoreUnwritable, HOME_REMEDY),
    (("locked", "busy"), StoreBusy, _("another attn is writing to it; try again when it has finished")),
)
_DAMAGE = (
    *("not a database", "malformed", "corrupt", "no such table", "no such column", "no such module"),
    *("constraint failed", "could not decode", "can't decode", "unsupported file format"),
)


def error_in_words(error: Exception, path: Path) -> StoreError:
    """Return the StoreError for an error of sqlite3 about `path`."""
    said = str(error)
    may_write = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    if any(sign in said.lower() for sign in _DAMAGE) or ("readonly" in said and may_write):
        return damaged(path, _(said))
    for signs, kind, remedy in _REMEDIES:
        if any(sign in said.lower() for sign in signs):
            return kind(_("cannot use {path} ({said}); {remedy}", path=path, said=_(said), remedy=remedy))
    return StoreError(_("{path} failed ({said}); try again: it is rebuilt from the history", path=path, said=_(said)))


def damaged(path: Path, reason: Localised) -> StoreCorrupt:
    """Return the error of a damaged cache."""
    return StoreCorrupt(
        _("{path} is damaged ({reason}); try again: it is rebuilt from the history", path=path, reason=reason)
    )
