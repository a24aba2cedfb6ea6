"""The append-only log: the one table that is not derived from anything."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from attncli.domain.review import LogRow, RowKind
from attncli.errors import StoreError
from attncli.store.connection import Connection
from attncli.store.moments import microseconds, moment

COLUMNS = "id, machine, kind, subject, at_us, day, payload"
_STANDING = "NOT EXISTS (SELECT 1 FROM log u WHERE u.kind = 'undo' AND json_extract(u.payload, '$.row') = log.id)"


class Log:
    """Appends and reads rows. Rows of one machine are numbered in the order in which they were written there."""

    def __init__(self, connection: Connection, machine: str) -> None:
        self._connection = connection
        self.machine = machine

    def append(self, kind: RowKind, subject: str, at: datetime, day: int, payload: dict[str, Any]) -> LogRow:
        """Writes one row of this machine; inside a transaction."""
        row = LogRow(self._next_id(), self.machine, kind, subject, at, day, payload)
        self._insert([row])
        return row

    def merge(self, rows: Iterable[LogRow]) -> list[LogRow]:
        """Adds the rows that are not here yet, and gives them back; inside a transaction.

        Raises StoreError for a row that is here with another content: one of the two logs was tampered with.
        """
        new = []
        for row in rows:
            known = self._connection.row(f"SELECT {COLUMNS} FROM log WHERE id = ?", (row.id,))
            if known is None:
                self._insert([row])
                new.append(row)
            elif row_of(known) != row:
                raise StoreError(f"row {row.id} of the log is not the one kept here; nothing was merged")
        return new

    def of_subjects(self, subjects: Sequence[str]) -> list[LogRow]:
        """All rows about these cards or challenges, in replay order."""
        sql = f"SELECT {COLUMNS} FROM log WHERE subject IN ({_marks(subjects)}) ORDER BY at_us, id"
        return [row_of(row) for row in self._connection.rows(sql, subjects)]

    def of_kind(self, kind: RowKind) -> list[LogRow]:
        """All rows of one kind, in replay order."""
        sql = f"SELECT {COLUMNS} FROM log WHERE kind = ? ORDER BY at_us, id"
        return [row_of(row) for row in self._connection.rows(sql, (kind,))]

    def by_subject(self) -> Iterator[tuple[str, list[LogRow]]]:
        """The whole log, one subject after the other, each in replay order; holds one subject at a time."""
        subject, rows = None, list[LogRow]()
        for raw in self._connection.each(f"SELECT {COLUMNS} FROM log ORDER BY subject, at_us, id"):
            row = row_of(raw)
            if rows and row.subject != subject:
                yield rows[0].subject, rows
                rows = []
            subject = row.subject
            rows.append(row)
        if rows:
            yield rows[0].subject, rows

    def everything(self) -> Iterator[LogRow]:
        """The whole log in replay order."""
        yield from map(row_of, self._connection.each(f"SELECT {COLUMNS} FROM log ORDER BY at_us, id"))

    def last_here(self, kinds: Collection[RowKind]) -> LogRow | None:
        """The row of these kinds that was written last on this machine and not undone."""
        here = f"kind IN ({_marks(kinds)}) AND machine = ? AND {_STANDING}"
        sql = f"SELECT {COLUMNS} FROM log WHERE {here} ORDER BY seq DESC LIMIT 1"
        row = self._connection.row(sql, (*kinds, self.machine))
        return row_of(row) if row else None

    def last_review_here(self) -> LogRow | None:
        """The review written last on this machine that was not undone."""
        return self.last_here((RowKind.REVIEW,))

    def last_id(self, kind: RowKind, subjects: Sequence[str]) -> str:
        """The id of the last row of a kind about these subjects in replay order, undone or not; empty if none."""
        about = f"kind = ? AND subject IN ({_marks(subjects)})"
        sql = f"SELECT id FROM log WHERE {about} ORDER BY at_us DESC, id DESC LIMIT 1"
        return self._connection.value(sql, (kind, *subjects)) or ""

    def last_fit(self) -> str:
        """The id of the fit that holds, empty if there is none."""
        sql = "SELECT id FROM log WHERE kind = 'fit' ORDER BY at_us DESC, id DESC LIMIT 1"
        return self._connection.value(sql) or ""

    def last_moment(self, subjects: Sequence[str], kinds: Collection[RowKind], until: datetime) -> datetime | None:
        """The latest stamp of a row of these kinds about these subjects, up to `until`."""
        at_us = self._connection.value(
            f"SELECT max(at_us) FROM log WHERE subject IN ({_marks(subjects)}) AND kind IN ({_marks(kinds)})"
            " AND at_us <= ?",
            (*subjects, *kinds, microseconds(until)),
        )
        return None if at_us is None else moment(at_us)

    def ids_after(self, subjects: Sequence[str], kinds: Collection[RowKind], at: datetime) -> list[str]:
        """The rows of these kinds about these subjects that are stamped later than `at`, in replay order."""
        rows = self._connection.rows(
            f"SELECT id FROM log WHERE subject IN ({_marks(subjects)}) AND kind IN ({_marks(kinds)}) AND at_us > ?"
            " ORDER BY at_us, id",
            (*subjects, *kinds, microseconds(at)),
        )
        return [id for (id,) in rows]

    def subjects_after(self, kind: RowKind, at: datetime) -> list[str]:
        """What the rows of a kind that are stamped later than `at` are about."""
        rows = self._connection.rows(
            "SELECT DISTINCT subject FROM log WHERE kind = ? AND day >= ? AND at_us > ? ORDER BY subject",
            (kind, at.toordinal() - 2, microseconds(at)),
        )
        return [subject for (subject,) in rows]

    def length(self) -> int:
        """The number of rows."""
        return int(self._connection.value("SELECT count(*) FROM log"))

    def standing_reviews(self, first_day: int = 0) -> Iterator[tuple[str, int, int]]:
        """(subject, study day, rating) of the reviews since `first_day` that were not undone, in replay order."""
        return self._connection.each(
            "SELECT subject, day, json_extract(payload, '$.rating') FROM log"
            f" WHERE kind = 'review' AND day >= ? AND {_STANDING} ORDER BY at_us, id",
            (first_day,),
        )

    def reviews_by_day(self) -> dict[int, int]:
        """Study day → number of reviews that were not undone."""
        sql = f"SELECT day, count(*) FROM log WHERE kind = 'review' AND {_STANDING} GROUP BY day"
        return dict(self._connection.rows(sql))

    def _next_id(self) -> str:
        """Unique over machines, and growing here: rows of one moment replay in the order they were written."""
        sql = (
            "SELECT printf('%012x', coalesce(max(seq), 0) + 1) || '-' || ? || '-' || lower(hex(randomblob(4))) FROM log"
        )
        return str(self._connection.value(sql, (self.machine,)))

    def _insert(self, rows: Iterable[LogRow]) -> None:
        self._connection.execute_many(
            f"INSERT INTO log ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
            ((r.id, r.machine, r.kind, r.subject, microseconds(r.at), r.day, _json(r.payload)) for r in rows),
        )


def _marks(values: Collection[str]) -> str:
    return ", ".join("?" * len(values))


def _json(payload: dict[str, Any]) -> str:
    return json.dumps(payload, ensure_ascii=False, sort_keys=True)


def row_of(values: Any) -> LogRow:
    """The row that `COLUMNS` of the log hold. Raises ValueError if they hold none."""
    id, machine, kind, subject, at_us, day, payload = values
    return LogRow(id, machine, RowKind(kind), subject, moment(at_us), day, json.loads(payload))
