"""The only place that touches sqlite3: pragmas, transactions, and errors turned into words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attncli.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull

BUSY_TIMEOUT_MS = 20_000
Values = Sequence[Any] | Mapping[str, Any]


class Connection:
    """A connection to `path` whose every failure is a StoreError that says what to do."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self.words():
            self._sqlite = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)
        try:
            self._prepare()
        except StoreError:
            self.close()
            raise

    def _prepare(self) -> None:
        self.execute("PRAGMA foreign_keys = ON")
        self.execute("PRAGMA synchronous = FULL")
        if self.value("PRAGMA journal_mode") != "wal":
            self.execute("PRAGMA journal_mode = WAL")

    def wait_at_most(self, milliseconds: int) -> None:
        """How long to wait for another process that is writing, before StoreBusy."""
        self.execute(f"PRAGMA busy_timeout = {milliseconds}")

    def execute(self, sql: str, values: Values = ()) -> int:
        """Runs one statement; the number of rows it changed."""
        with self.words():
            return self._sqlite.execute(sql, values).rowcount

    def execute_many(self, sql: str, rows: Iterable[Values]) -> None:
        with self.words():
            self._sqlite.executemany(sql, rows)

    def rows(self, sql: str, values: Values = ()) -> list[Any]:
        with self.words():
            return self._sqlite.execute(sql, values).fetchall()

    def each(self, sql: str, values: Values = ()) -> Iterator[Any]:
        """Rows one by one, for results that should not be held at once."""
        with self.words():
            cursor = self._sqlite.execute(sql, values)
            while batch := cursor.fetchmany(1000):
                yield from batch

    def row(self, sql: str, values: Values = ()) -> Any:
        """The first row, or None."""
        with self.words():
            return self._sqlite.execute(sql, values).fetchone()

    def value(self, sql: str, values: Values = ()) -> Any:
        """The first column of the first row, or None."""
        row = self.row(sql, values)
        return row[0] if row else None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, and on disk when left. Taken at once for writing, so that what is read in it still holds."""
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    @property
    def in_transaction(self) -> bool:
        return self._sqlite.in_transaction

    def backup_to(self, other: Connection) -> None:
        """Replaces `other`'s content by this one's, in one transaction there."""
        with self.words(), other.words():
            self._sqlite.backup(other._sqlite)

    def close(self) -> None:
        with self.words():
            self._sqlite.close()

    def _roll_back(self) -> None:
        if self._sqlite.in_transaction:
            with self.words():
                self._sqlite.execute("ROLLBACK")

    @contextmanager
    def words(self) -> Iterator[None]:
        """sqlite3's errors become the ones of this program."""
        try:
            yield
        except sqlite3.Error as error:
            raise error_in_words(error, self.path) from error


_REMEDIES: tuple[tuple[tuple[str, ...], type[StoreError], str], ...] = (
    (("full", "disk i/o", "too big"), StoreFull, "free some disk space and try again"),
    (
        ("readonly", "read-only", "unable to open", "permission"),
        StoreError,
        "make its folder writable, or name another with --home",
    ),
    (("locked", "busy"), StoreBusy, "another attn is writing to it; try again when that one is done"),
)
_DAMAGE = ("not a database", "malformed", "corrupt", "no such table", "no such column", "no such module")


def error_in_words(error: sqlite3.Error, path: Path) -> StoreError:
    """The StoreError for what sqlite3 said about `path`."""
    said = str(error)
    if any(sign in said.lower() for sign in _DAMAGE):
        return StoreCorrupt(
            f"the database {path} is damaged ({said}); run `attn doctor --rebuild` to save what can be read, "
            "or `attn restore FILE` with a backup"
        )
    for signs, kind, remedy in _REMEDIES:
        if any(sign in said.lower() for sign in signs):
            return kind(f"cannot use the database {path} ({said}); {remedy}")
    return StoreError(f"the database {path} failed ({said}); `attn doctor` checks it")
