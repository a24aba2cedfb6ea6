"""The mirror of the history in the cache: read rows by subject and kind, and write new ones.

Rows stamped more than a day after now wait: the view `log` hides them until their time has come.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from attncli.domain.log_row import LONGEST_LOOK_SECONDS, LastReview, LogRow, ReviewDay, RowKind
from attncli.store.connection import Connection, microseconds, moment
from attncli.store.history import History, Writer

COLUMNS = "id, machine, kind, subject, at_us, day, payload"
_RATING = "json_extract(payload, '$.rating')"
_USABLE = f"kind = 'review' AND {_RATING} BETWEEN 1 AND 4"  # a review counts only with a rating
_STANDING = "NOT EXISTS (SELECT 1 FROM log u WHERE u.kind = 'undo' AND json_extract(u.payload, '$.row') = {log}.id)"
_IN_FORCE = _STANDING.format(log="log")
_INSERT = f"INSERT OR IGNORE INTO entry ({COLUMNS}, waits) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_ELAPSED = f"""CASE WHEN json_type(payload, '$.elapsed_ms') = 'integer'
    THEN max(0, min({LONGEST_LOOK_SECONDS * 1000}, json_extract(payload, '$.elapsed_ms'))) END"""


class _TakenBack(Exception):
    """Raised to roll a transaction back."""


class Log:
    """Append rows to the history, and read them from the cache. Rows of one machine are in the order they were written.

    `writing` gives the writer of the history; it is set inside a transaction, by the database. Rows stamped after
    `until_us` wait.
    """

    def __init__(self, connection: Connection, history: History, until_us: Callable[[], int]) -> None:
        self._connection = connection
        self._history = history
        self._until_us = until_us
        self.writing: Callable[[], Writer] | None = None
        self._writer: Writer | None = None
        self._written: list[Path] = []
        self.has_grown = False

    # Writing; all inside a transaction

    def append(self, kind: RowKind, subject: str, at: datetime, day: int, payload: dict[str, Any]) -> LogRow:
        """Write one row of this machine."""
        row = self._started().add(kind, subject, at, day, payload)
        self.mirror([row])
        return row

    def _started(self) -> Writer:
        """Return the writer of this transaction; the first call waits for the lock of the history."""
        assert self.writing is not None, "rows are written inside a transaction"
        if self._writer is None:
            self._writer = self.writing()
            self._written.append(self._writer.path)
        return self._writer

    def merge(self, rows: Iterable[LogRow], conflict: Callable[[LogRow], None]) -> list[LogRow]:
        """Add the rows that are not here yet as one file of the history; return them.

        A row whose content differs from the local one is passed to `conflict`; the local one stays.
        """
        new: dict[str, LogRow] = {}
        for row in rows:
            known = self._connection.row(f"SELECT {COLUMNS} FROM entry WHERE id = ?", (row.id,))
            kept = row_of(known) if known else new.setdefault(row.id, row)
            if kept != row:
                conflict(row)
        if new:
            self._started()
            self.mirror(new.values())
            self._written.append(self._history.add_import(new.values()))
        return list(new.values())

    def mirror(self, rows: Iterable[LogRow]) -> list[LogRow]:
        """Add the rows of the history that the cache lacks; return them."""
        until_us, new = self._until_us(), []
        for row in rows:
            payload = json.dumps(row.payload, ensure_ascii=False, sort_keys=True)
            at_us = microseconds(row.at)
            values = (row.id, row.machine, row.kind, row.subject, at_us, row.day, payload, at_us > until_us)
            if self._connection.execute(_INSERT, values):
                new.append(row)
        self.has_grown = self.has_grown or bool(new)
        return new

    def written(self) -> list[Path]:
        """Return the files that were written in the transaction that ends now."""
        written, self._written, self._writer = self._written, [], None
        return written

    # All rows, waiting ones too

    def everything(self) -> Iterator[LogRow]:
        """Yield the whole log in replay order."""
        return self._rows("TRUE ORDER BY at_us, id", table="entry")

    def waiting(self) -> list[LogRow]:
        """Return the rows whose time has not come and that were not undone, the latest first."""
        rest = f"waits = 1 AND kind <> 'undo' AND {_STANDING.format(log='entry')} ORDER BY at_us DESC, id DESC"
        return list(self._rows(rest, table="entry"))

    def ids(self) -> set[str]:
        """Return the ids of all rows."""
        return set(self._connection.column("SELECT id FROM entry"))

    def length(self) -> int:
        """Return the number of rows."""
        return int(self._connection.value("SELECT count(*) FROM entry"))

    def last_here(self, kinds: Collection[RowKind]) -> LogRow | None:
        """Return the row of these kinds that was written last on this machine and not undone."""
        here = f"+kind IN ({_marks(kinds)}) AND machine = ? AND {_STANDING.format(log='entry')} ORDER BY seq DESC"
        return self._first_usable(here, (*kinds, self._history.machine), table="entry")

    # Rows whose time has come

    def of_subjects(self, subjects: Sequence[str]) -> list[LogRow]:
        """Return all rows about these cards or challenges, in replay order."""
        return list(self._rows(f"subject IN ({_marks(subjects)}) ORDER BY at_us, id", subjects))

    def of_kind(self, kind: RowKind) -> list[LogRow]:
        """Return all rows of one kind, in replay order."""
        return list(self._rows("kind = ? ORDER BY at_us, id", (kind,)))

    def standing_of_kind(self, kind: RowKind) -> list[LogRow]:
        """Return the rows of one kind that were not undone, in replay order."""
        return list(self._rows(f"kind = ? AND {_IN_FORCE} ORDER BY at_us, id", (kind,)))

    def by_subject(self) -> Iterator[tuple[str, list[LogRow]]]:
        """Yield the log one subject after the other, each in replay order; loads one subject at a time."""
        for subject, rows in groupby(self._rows("TRUE ORDER BY subject, at_us, id"), key=lambda row: row.subject):
            yield subject, list(rows)

    def last_about(self, subjects: Sequence[str], kinds: Collection[RowKind]) -> LogRow | None:
        """Return the last usable row of these kinds about these subjects, in replay order, even if it was undone."""
        about = f"subject IN ({_marks(subjects)}) AND kind IN ({_marks(kinds)}) ORDER BY at_us DESC, id DESC"
        return self._first_usable(about, (*subjects, *kinds))

    def reviews_of(self, subjects: Sequence[str]) -> list[tuple[int, int]]:
        """Return (study day, rating) of the reviews of these that were not undone, in replay order."""
        about = f"subject IN ({_marks(subjects)}) AND {_USABLE} AND {_IN_FORCE}"
        return self._connection.rows(f"SELECT day, {_RATING} FROM log WHERE {about} ORDER BY at_us, id", subjects)

    def reviews_by_day(self) -> dict[int, int]:
        """Map each study day that had reviews to their number."""
        undone = "SELECT coalesce(json_extract(payload, '$.row'), '') FROM log WHERE kind = 'undo'"
        sql = f"SELECT day, count(*) FROM log WHERE {_USABLE} AND id NOT IN ({undone}) GROUP BY day"
        return dict(self._connection.rows(sql))

    def review_days(self) -> list[ReviewDay]:
        """Return every day that had a review, in order.

        Only a day's first review of a card seen on an earlier day is evidence of memory.
        """
        sql = f"""SELECT day, count(*), coalesce(sum(before < day AND rating > 1), 0),
            coalesce(sum(before < day AND rating = 1), 0) FROM (
            SELECT day, {_RATING} AS rating, lag(day) OVER (PARTITION BY subject ORDER BY at_us, id) AS before
            FROM log WHERE {_USABLE} AND {_IN_FORCE}) GROUP BY day ORDER BY day"""
        return [ReviewDay(*row) for row in self._connection.rows(sql)]

    def timed_reviews(self, first_day: int, last_day: int, limit: int = -1) -> list[tuple[int, str, int | None, bool]]:
        """Return (study day, subject, milliseconds or None, new that day) of the latest reviews of these study days."""
        sql = f"""SELECT log.day, log.subject, {_ELAPSED}, coalesce(introduced_day = log.day, 0) FROM log
            LEFT JOIN schedule ON schedule.subject = log.subject
            WHERE kind = 'review' AND log.day BETWEEN ? AND ? ORDER BY log.day DESC, log.seq DESC LIMIT ?"""
        return [(*row[:3], bool(row[3])) for row in self._connection.rows(sql, (first_day, last_day, limit))]

    def first_day(self) -> int | None:
        """Return the first study day with a row."""
        found: int | None = self._connection.value("SELECT min(day) FROM log")
        return found

    @contextmanager
    def until(self, at: datetime) -> Iterator[list[str]]:
        """Hide the rows from `at` on, in a transaction that is rolled back; yields the subjects of these rows.

        Undo and unsuspend rows are not hidden, so that they bring a card back at once.
        """
        at_us = microseconds(at)
        recent = "SELECT DISTINCT subject FROM entry WHERE waits = 0 AND at_us >= ? AND subject <> ''"
        with suppress(_TakenBack), self._connection.transaction():
            subjects = [subject for (subject,) in self._connection.rows(recent, (at_us,))]
            shown = f"at_us < {at_us} OR kind IN ('undo', 'unsuspend')"
            self._connection.execute(f"CREATE TEMP VIEW log AS SELECT * FROM main.log WHERE {shown}")
            yield subjects
            raise _TakenBack

    def _rows(self, rest: str, values: Sequence[Any] = (), table: str = "log") -> Iterator[LogRow]:
        return map(row_of, self._connection.each(f"SELECT {COLUMNS} FROM {table} WHERE {rest}", values))

    def _first_usable(self, rest: str, values: Sequence[Any], table: str = "log") -> LogRow | None:
        """Return the first usable row in this order, if it is among the first hundred."""
        rows = self._rows(f"{rest} LIMIT 100", values, table)
        return next((row for row in rows if row.is_usable), None)


def row_of(values: Sequence[Any]) -> LogRow:
    """Return the row with these values of COLUMNS."""
    id, machine, kind, subject, at_us, day, payload = values
    return LogRow(id, machine, RowKind(kind), subject, moment(at_us), day, json.loads(payload))


def last_review(rating: int, points: Any, correct: Any) -> LastReview:
    """Return a review from values that SQLite extracted: an array as its JSON text, a boolean as 1 or 0."""
    ticked = json.loads(points) if isinstance(points, str) and points.startswith("[") else None
    return LastReview(rating, ticked, bool(correct) if correct in (0, 1) else None)


def _marks(values: Collection[str]) -> str:
    return ", ".join("?" * len(values))
